/** The captured state of a checkpoint, layer by layer: what the approver was shown, the task, and how it came there. */

import { HoldpointError, isHoldpointError } from "../kernel/errors.ts";
import { isJsonObject, type JsonObject } from "../kernel/json.ts";
import { visible } from "../kernel/text.ts";
import { LAYERS } from "../workflows/rules/snapshot.ts";
import { type Context, EXIT } from "./command.ts";
import { readable } from "./readable.ts";
import { sectionsOn } from "./sections.ts";
import { quotedName } from "./workflow-words.ts";

const HEADINGS: { readonly [layer in (typeof LAYERS)[number]]: string } = {
  approval_interface: "What the approver is shown",
  task_state: "Where the task stands",
  execution_state: "How it came there",
};

const FIELDS = [
  ["snapshot_id", "snapshot"],
  ["workflow_id", "workflow"],
  ["timestamp", "captured"],
  ["agent", "agent"],
  ["artifact_uri", "kept as"],
] as const;

async function unknown({ hp }: Context, id: string, name: string, cause: unknown): Promise<HoldpointError> {
  const state = await hp.workflows.get(id);
  const known = [...state.passed, ...(state.pending === null ? [] : [state.pending])];
  const names = [...new Set(known.map((one) => quotedName(one.name)))].join(", ");
  return new HoldpointError(
    "unknown_id",
    `The workflow ${id} has no captured state of a checkpoint "${name}".`,
    {
      cause,
      next: names === "" ? "It has reached no checkpoint yet." : `There are: ${names}.`,
    },
  );
}

async function load(context: Context, id: string, name: string): Promise<JsonObject> {
  try {
    return (await context.hp.workflows.snapshot(id, name)) as JsonObject;
  } catch (error) {
    throw isHoldpointError(error, "unknown_id") ? await unknown(context, id, name, error) : error;
  }
}

export async function printSnapshot(context: Context, id: string, name: string): Promise<number> {
  const { terminal, full } = context;
  const snapshot = await load(context, id, name);
  if (context.json) {
    terminal.json(snapshot);
    return EXIT.ok;
  }
  const sections = sectionsOn(terminal, full);
  terminal.line(terminal.paint("bold", `Checkpoint ${quotedName(String(snapshot["checkpoint_name"]))}`));
  for (const [field, label] of FIELDS) {
    const value = snapshot[field];
    if (value !== undefined) sections.field(label, String(value));
  }
  terminal.line(
    terminal.paint("dim", "  Everything below is what the program captured; nobody has checked it."),
  );
  for (const layer of LAYERS) {
    sections.heading(`${HEADINGS[layer]} (${layer})`);
    const part = snapshot[layer];
    if (isJsonObject(part)) sections.block(readable(part, full));
    else terminal.line(`  ${visible("nothing was captured")}`);
  }
  return EXIT.ok;
}
