/** A file whose default export takes an instance and gives it a workflow: `export default (hp) => hp.workflow(…)`. */
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Holdpoint } from "../index.ts";
import { isHoldpointError } from "../kernel/errors.ts";
import { errorText } from "../kernel/text.ts";
import type { Workflow } from "../workflows/definition.ts";
import { CommandError } from "./failure.ts";

const SHAPE =
  "Its default export is a function: export default (hp) => hp.workflow(name, async (ctx, input) => …)";

export type Loaded = {
  readonly workflow: Workflow<unknown, unknown>;
  /** Tools that have an effect and declare no cost: no budget counts them. */
  readonly uncounted: readonly string[];
};

function broken(file: string, what: string, error: unknown): CommandError {
  const next = "Run it again with DEBUG=1 to see where.";
  return new CommandError("usage", `The file ${file} ${what}: ${errorText(error)}`, next, error);
}

async function importDefault(file: string): Promise<unknown> {
  if (!existsSync(file)) throw new CommandError("usage", `There is no file ${file}.`, "Check the path.");
  try {
    return ((await import(pathToFileURL(file).href)) as { default?: unknown }).default;
  } catch (error) {
    throw broken(file, "cannot be loaded", error);
  }
}

function isWorkflow(value: unknown): value is Workflow<unknown, unknown> {
  const { workflowName, start } = (value ?? {}) as { workflowName?: unknown; start?: unknown };
  return typeof workflowName === "string" && typeof start === "function";
}

export async function loadWorkflow(hp: Holdpoint, file: string): Promise<Loaded> {
  const define = await importDefault(file);
  if (typeof define !== "function")
    throw new CommandError("usage", `The file ${file} exports no workflow.`, SHAPE);
  const uncounted: string[] = [];
  const gate: Holdpoint["gate"] = (definition) => {
    const tool = hp.gate(definition);
    if (definition.cost === undefined && definition.effect !== "read") uncounted.push(definition.name);
    return tool;
  };
  let workflow: unknown;
  try {
    workflow = await (define as (hp: Holdpoint) => unknown)({ ...hp, gate });
  } catch (error) {
    if (isHoldpointError(error)) throw error;
    throw broken(file, "failed", error);
  }
  if (isWorkflow(workflow)) return { workflow, uncounted };
  throw new CommandError("usage", `What the file ${file} exports answers no workflow.`, SHAPE);
}
