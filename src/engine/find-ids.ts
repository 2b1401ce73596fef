/** Ids by their beginning, for people who type them. */
import { workflowName } from "../core/workflow/create.ts";
import type { Runtime } from "./runtime.ts";

type Place = Pick<Runtime, "store" | "tenant">;

const PAGE = 1_000;
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
  let after: { at: number; stream: string } | undefined;
  for (;;) {
    const cursor = after === undefined ? {} : { after };
    const rows = await place.store.query(place.tenant, { view, limit: PAGE, ...cursor });
    found.push(...rows.map((row) => row.stream.id).filter((id) => id.startsWith(beginning)));
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE || found.length >= MOST) return found.slice(0, MOST);
    after = { at: last.at, stream: `${last.stream.kind}/${last.stream.id}` };
  }
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
