/**
 * The settled calls of a workflow, as a policy sees them. Final calls are cached and the stream is read on from the
 * last position. Calls in doubt are read again each time.
 */

import {
  isCall,
  noteSettled,
  type PastCalls,
  pastCall,
  type SettledCalls,
  startSettledCalls,
} from "../effects/rules/review.ts";
import type { LiveAction } from "../effects/state.ts";
import { isArtifactRef } from "../kernel/stored-value.ts";
import { actionStream } from "../kernel/stream.ts";
import { loadValue } from "../runtime/store-access.ts";
import type { Store, TenantStore } from "../stores/store.ts";
import { entriesOf } from "../workflows/entries.ts";
import type { Fork } from "../workflows/events.ts";
import type { WorkflowEntry } from "../workflows/rules/operations.ts";
import type { PastCall } from "./rules/verdict.ts";

type WorkflowCalls = SettledCalls & {
  readSeq: number;
  /** null: not a call of the agent, but a compensation declared by a tool. */
  readonly resting: Map<string, PastCall | null>;
};

const KEPT_WORKFLOWS = 200;
const AT_ONCE = 100;
const kept = new WeakMap<Store, Map<string, WorkflowCalls>>();

function knownOf({ store, tenant }: TenantStore, workflow: string): WorkflowCalls {
  const all = kept.get(store) ?? new Map<string, WorkflowCalls>();
  kept.set(store, all);
  const name = `${tenant}/${workflow}`;
  const known = all.get(name) ?? { ...startSettledCalls(), readSeq: 0, resting: new Map() };
  all.delete(name);
  all.set(name, known);
  const oldest = all.keys().next();
  if (all.size > KEPT_WORKFLOWS && oldest.done !== true) all.delete(oldest.value);
  return known;
}

const MADE: ReadonlySet<string> = new Set(["call.made", "compensation.made"]);

/** A fork starts with the calls that its origin had made by then. Later calls belong to the origin only. */
export async function noteOriginCalls(
  place: TenantStore,
  known: SettledCalls,
  { workflow, seq, upTo = seq }: Fork,
): Promise<void> {
  const made = new Set<unknown>();
  for await (const entry of entriesOf(place, workflow)) {
    if (entry.seq > upTo) return;
    if (entry.type === "workflow.created") await noteFork(place, known, entry);
    if (MADE.has(entry.type) && entry.seq <= seq) made.add(entry.body["action"]);
    noteSettled(known, entry, !entry.type.endsWith(".settled") || made.has(entry.body["action"]));
  }
}

async function noteFork(place: TenantStore, known: SettledCalls, { body }: WorkflowEntry): Promise<void> {
  const fork = body["fork"] as unknown as Fork | null;
  if (fork === null) return;
  await noteOriginCalls(place, known, fork);
  known.settledSeq = 0;
}

async function readOn(place: TenantStore, workflow: string, known: WorkflowCalls): Promise<void> {
  for await (const entry of entriesOf(place, workflow, known.readSeq + 1)) {
    if (entry.type === "workflow.created") await noteFork(place, known, entry);
    noteSettled(known, entry);
    known.readSeq = entry.seq;
  }
}

function statesOf({ store, tenant }: TenantStore, ids: readonly string[]): Promise<readonly LiveAction[]> {
  const read = ids.map(actionStream);
  return store.transact(tenant, { read }, (sight) => ({
    kind: "commit",
    append: [],
    result: read.map((ref) => sight.state(ref) as LiveAction),
  }));
}

async function readSettledCalls(
  place: TenantStore,
  known: WorkflowCalls,
): Promise<ReadonlyMap<string, PastCall>> {
  const restless = new Map<string, PastCall>();
  const missing = known.settled.filter((id) => !known.resting.has(id));
  for (let at = 0; at < missing.length; at += AT_ONCE) {
    const ids = missing.slice(at, at + AT_ONCE);
    const states = await statesOf(place, ids);
    for (const [index, state] of states.entries()) {
      const id = ids[index] ?? "";
      const call = isCall(state) ? pastCall(id, state, false) : null;
      if (call?.status === "in_doubt") restless.set(id, call);
      else known.resting.set(id, call);
    }
  }
  return restless;
}

/** Large values are not cached but always loaded: a rule cannot see inside a reference. */
async function loadFullCall(place: TenantStore, call: PastCall): Promise<PastCall> {
  if (!isArtifactRef(call.args) && !isArtifactRef(call.result)) return call;
  return { ...call, args: await loadValue(place, call.args), result: await loadValue(place, call.result) };
}

const queues = new WeakMap<WorkflowCalls, Promise<unknown>>();

/** One reader at a time: two would read on from the same entry. */
function inTurn<Value>(known: WorkflowCalls, work: () => Promise<Value>): Promise<Value> {
  const turn = (queues.get(known) ?? Promise.resolve()).then(work, work);
  queues.set(known, turn);
  return turn;
}

export function readPastCalls(place: TenantStore, workflow: string): Promise<PastCalls> {
  const known = knownOf(place, workflow);
  return inTurn(known, async () => {
    await readOn(place, workflow, known);
    const restless = await readSettledCalls(place, known);
    const calls: PastCall[] = [];
    for (const id of known.settled) {
      const call = known.resting.get(id) ?? restless.get(id);
      if (call === undefined || call === null) continue;
      calls.push({ ...(await loadFullCall(place, call)), undone: known.undone.has(id) });
    }
    return { settledSeq: known.settledSeq, calls };
  });
}
