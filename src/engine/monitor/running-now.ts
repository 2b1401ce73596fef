/** Workflows that run when a monitor begins, as if each had just been taken: the one that was heard of least recently first. */
import type { Sighting } from "../../core/monitor/rules.ts";
import { MOST_SUBJECTS } from "../../core/monitor/subjects.ts";
import { streamName, workflowStream } from "../../kernel/stream.ts";
import { skipUnreadable } from "../../runtime/lists.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState } from "../../runtime/store-access.ts";

const RUNS = "runs";
const PAGE = 200;

type Place = Pick<Runtime, "store" | "tenant">;

async function sightingOf(place: Place, id: string, position: number): Promise<readonly Sighting[]> {
  const state = await skipUnreadable(readState(place, workflowStream(id)));
  if (state?.status !== "executing" || state.runner === null) return [];
  const { name, agent, createdAt, changedAt: at } = state;
  const workflow = { id, name, createdAt };
  const entry = { type: "workflow.resumed", stream: `workflow/${id}`, body: { epoch: state.runner } };
  return [{ position, at, ...entry, tool: null, agent, workflow, result: null, snapshot: null }];
}

export async function runningNow(place: Place, position: number): Promise<readonly Sighting[]> {
  const { store, tenant } = place;
  const found: Sighting[] = [];
  let after: { at: number; stream: string } | undefined;
  do {
    const query = { view: RUNS, bucket: "running", order: "oldest", limit: PAGE } as const;
    const rows = await store.query(tenant, after === undefined ? query : { ...query, after });
    for (const { stream } of rows) found.push(...(await sightingOf(place, stream.id, position)));
    const last = rows.length < PAGE ? undefined : rows.at(-1);
    after = last === undefined ? undefined : { at: last.at, stream: streamName(last.stream) };
  } while (after !== undefined && found.length < MOST_SUBJECTS);
  return found.sort((one, other) => one.at - other.at);
}
