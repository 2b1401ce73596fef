/**
 * Tools as recorded in the journal: names, effect classes, the input schemas stored with approval requests, and
 * validators made from those schemas. A tool without a stored schema accepts any arguments.
 */

import { issueText } from "../effects/arguments.ts";
import type { LiveAction } from "../effects/state.ts";

import { type Json, type JsonObject, parseJson } from "../kernel/json.ts";
import { actionStream } from "../kernel/stream.ts";
import { cacheRecent } from "../runtime/expensive-answers.ts";
import { eachRow } from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readState } from "../runtime/store-access.ts";
import type { TenantStore, ViewRow } from "../stores/store.ts";
import type { RecordedTool } from "./contract.ts";
import type { Validation } from "./rules/tool-rules.ts";

export type Validate = (args: Json) => Validation;
const acceptAnything: Validate = (value) => ({ ok: true, value });

/** The JSON Schema with a digest; undefined if the journal has none: it stores schemas with approval requests. */
async function loadKeptSchema(
  { store, tenant }: TenantStore,
  digest: string,
): Promise<JsonObject | undefined> {
  const bytes = await store.artifact(tenant, digest);
  if (bytes === undefined) return undefined;
  return parseJson(Buffer.from(bytes).toString("utf8")) as JsonObject;
}

/** Validates arguments as the tool would. Without a known schema, any arguments are valid. */
export async function validatorFor(schema: JsonObject | null): Promise<Validate> {
  if (schema === null) return acceptAnything;
  // Takes longer to load than everything else together, and is rarely needed.
  const { z } = await import("zod");
  try {
    const parsed = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    return (args) => {
      const answer = parsed.safeParse(args);
      if (answer.success) return { ok: true, value: answer.data as Json };
      return { ok: false, issues: answer.error.issues.map(issueText).join("; ") };
    };
  } catch {
    // A schema that cannot be read here is left to the tool.
    return acceptAnything;
  }
}

/** Caches each schema. */
export type Validators = (schema: string) => Validate | Promise<Validate>;

export function validatorsOf(place: TenantStore): Validators {
  const known = new Map<string, Validate>();
  return (schema) => {
    const found = known.get(schema);
    if (found !== undefined) return found;
    return loadKeptSchema(place, schema).then(async (kept) => {
      const made = await validatorFor(kept ?? null);
      known.set(schema, made);
      return made;
    });
  };
}

/** Number of newest actions read per phase. */
const LOOKED_AT = 2_000;
/** Phases with approval requests come first: their schemas are stored. */
const PHASES: readonly LiveAction["phase"][] = [
  "waiting",
  "applied",
  "refused",
  "not_applied",
  "in_doubt",
  "running",
  "open",
];

async function newest(place: TenantStore, phase: string): Promise<readonly ViewRow[]> {
  const rows: ViewRow[] = [];
  for await (const row of eachRow(place, { view: "actions", bucket: phase, order: "newest" }))
    if (rows.push(row) === LOOKED_AT) break;
  return rows;
}

async function toolOf(place: TenantStore, action: string): Promise<RecordedTool | undefined> {
  const state = await readState(place, actionStream(action));
  if (state.phase === "none") return undefined;
  const schema = (await loadKeptSchema(place, state.schema)) ?? null;
  return { name: state.tool, effectClass: state.effectClass, schema };
}

export async function listRecordedTools(place: TenantStore): Promise<readonly RecordedTool[]> {
  const first = new Map<string, string>();
  for (const phase of PHASES)
    for (const { stream, data } of await newest(place, phase)) {
      const name = String(data["tool"]);
      if (!first.has(name)) first.set(name, stream.id);
    }
  const tools = await Promise.all([...first.values()].map((action) => toolOf(place, action)));
  return tools.flatMap((tool) => tool ?? []).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** A page checks a text while a person types. */
const KEPT_MS = 10_000;
const recent = cacheRecent<readonly RecordedTool[]>(KEPT_MS);
export const listRecentTools = (runtime: Runtime): Promise<readonly RecordedTool[]> =>
  recent(runtime, "tools", { make: () => listRecordedTools(runtime) });
