/** Ids by their beginning, for people who type them. */
import { workflowName } from "../core/workflow/create.ts";
import { eachRow } from "./row-pages.ts";
import type { Runtime } from "./runtime.ts";

type Place = Pick<Runtime, "store" | "tenant">;

/** Enough to show that it was not unique, and which ones were meant. */
const MOST = 10;

/** Ids of a view's streams that begin with a text, oldest first. */
export async function findIds(
  place: Place,
  view:
    | "actions"
    | "alerts"
    | "approvals"
    | "endpoints"
    | "grants"
    | "intents"
    | "keys"
    | "messages"
    | "workflows",
  beginning: string,
): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { stream } of eachRow(place, { view }))
    if (stream.id.startsWith(beginning) && found.push(stream.id) === MOST) break;
  return found;
}

async function workflowNamed({ store, tenant }: Place, requestId: string): Promise<readonly string[]> {
  const name = workflowName(requestId);
  const found = await store.transact(tenant, { names: [name] }, (sight) => ({
    kind: "commit",
    append: [],
    result: sight.name(name),
  }));
  return found === undefined ? [] : [found.id];
}

/** By the beginning of their id; anything else is taken for a request id. */
export function findWorkflows(place: Place, text: string): Promise<readonly string[]> {
  return text.startsWith("wf_") ? findIds(place, "workflows", text) : workflowNamed(place, text);
}
