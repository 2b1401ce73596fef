/** What a forked workflow begins with: the calls that its origin had settled by then, as they stood then. */
import { isCall, pastCall } from "../../core/action/review.ts";
import { type ActionState, actionFold } from "../../core/action/state.ts";
import type { PastCall } from "../../core/verdict.ts";
import type { Fork } from "../../core/workflow/events.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { actionStream } from "../../kernel/stream.ts";
import type { Store } from "../../stores/store.ts";
import { noteOrigin } from "../past-calls.ts";

type Place = { readonly store: Store; readonly tenant: string };
async function stateBefore({ store, tenant }: Place, id: string, position: number): Promise<ActionState> {
  let state: ActionState = actionFold.initial;
  for (const entry of await store.read(tenant, actionStream(id))) {
    if (entry.position >= position) break;
    const { type, tv, at, seq } = JSON.parse(entry.header) as {
      readonly type: string;
      readonly tv: number;
      readonly at: number;
      readonly seq: number;
    };
    const body = entry.body === null ? null : (JSON.parse(entry.body) as JsonObject);
    state = actionFold.evolve(state, { type, tv, at, seq, body });
  }
  return state;
}

/** null where a body that is needed was erased. */
export async function pastOfFork(
  place: Place,
  fork: Fork,
  position: number,
): Promise<readonly PastCall[] | null> {
  const origin = { settled: [] as string[], undone: new Set<string>(), settledSeq: 0 };
  try {
    await noteOrigin(place, origin, fork);
    const calls: PastCall[] = [];
    for (const id of origin.settled) {
      const state = await stateBefore(place, id, position);
      if (isCall(state)) calls.push(pastCall(id, state, origin.undone.has(id)));
    }
    return calls;
  } catch (error) {
    if (isHoldpointError(error, "body_erased")) return null;
    throw error;
  }
}
