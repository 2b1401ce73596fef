/** How far the notifier has read: where the next process goes on. */
import { eventBody, type Fold, type NewEvent } from "../../kernel/stream.ts";

/** Null before anything was kept. */
export type NotifierState = { readonly position: number | null };

export const notifierFold: Fold<NotifierState> = {
  version: 1,
  initial: { position: null },
  evolve: (_state, event) => ({
    position: Number(eventBody("The notifier", event, ["notifier.moved"])["position"]),
  }),
};

/** Of several processes, the one that has read furthest keeps its place. */
export function keepNotifier(state: NotifierState, position: number): NewEvent[] {
  if (state.position !== null && state.position >= position) return [];
  return [{ type: "notifier.moved", tv: 1, body: { position } }];
}
