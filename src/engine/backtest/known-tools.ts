/** The tools that a journal knows: who was called, of which class, and the schemas that were kept when people were asked. */
import type { LiveAction } from "../../core/action/state.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { actionStream } from "../../kernel/stream.ts";
import { eachRow } from "../../runtime/lists.ts";
import { readState } from "../../runtime/store-access.ts";
import type { Store, ViewRow } from "../../stores/store.ts";

import { keptSchema } from "./candidate.ts";

type Place = { readonly store: Store; readonly tenant: string };

export type RecordedTool = {
  readonly name: string;
  readonly effectClass: string;
  /** JSON Schema of its arguments; null where the journal has none: it keeps them when people are asked. */
  readonly schema: JsonObject | null;
};

/** The newest actions of each phase are looked at. */
const LOOKED_AT = 2_000;
/** Those that people were asked about come first: their schemas were kept. */
const PHASES: readonly LiveAction["phase"][] = [
  "waiting",
  "applied",
  "refused",
  "not_applied",
  "in_doubt",
  "running",
  "open",
];

async function newest(place: Place, phase: string): Promise<readonly ViewRow[]> {
  const rows: ViewRow[] = [];
  for await (const row of eachRow(place, { view: "actions", bucket: phase, order: "newest" }))
    if (rows.push(row) === LOOKED_AT) break;
  return rows;
}

async function toolOf(place: Place, action: string): Promise<RecordedTool | undefined> {
  const state = await readState(place, actionStream(action));
  if (state.phase === "none") return undefined;
  const schema = (await keptSchema(place, state.schema)) ?? null;
  return { name: state.tool, effectClass: state.effectClass, schema };
}

export async function knownTools(place: Place): Promise<readonly RecordedTool[]> {
  const first = new Map<string, string>();
  for (const phase of PHASES)
    for (const { stream, data } of await newest(place, phase)) {
      const name = String(data["tool"]);
      if (!first.has(name)) first.set(name, stream.id);
    }
  const tools = await Promise.all([...first.values()].map((action) => toolOf(place, action)));
  return tools.flatMap((tool) => tool ?? []).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
