/** What a workflow's state keeps of what it has begun and what has ended of that. */
import type { WorkflowEvent } from "./events.ts";

export type KeepsBegun = {
  /** Actions, questions, intents and children that it has begun and that have not ended. */
  readonly open: readonly string[];
  /** It has failed, and what it had begun is still to be withdrawn. */
  readonly closing: boolean;
};

const opened = <State extends KeepsBegun>(state: State, id: string): State => ({
  ...state,
  open: [...state.open, id],
});

/** What it has begun and what has ended of it. */
export function withBegun<State extends KeepsBegun>(state: State, event: WorkflowEvent): State {
  switch (event.type) {
    case "call.made":
    case "compensation.made":
      return opened(state, event.body.action);
    case "child.spawned":
      return opened(state, event.body.child);
    case "question.asked":
      return opened(state, event.body.approval);
    case "send.made":
      return opened(state, event.body.intent);
    case "call.settled":
    case "compensation.settled":
      return ended(state, event.body.action);
    case "child.ended":
      return ended(state, event.body.child);
    case "question.answered":
      return ended(state, event.body.approval);
    case "send.ended":
      return ended(state, event.body.intent);
    default:
      return state;
  }
}

function ended<State extends KeepsBegun>(state: State, id: string): State {
  if (!state.open.includes(id)) return state;
  const open = state.open.filter((one) => one !== id);
  return { ...state, open, closing: state.closing && open.length > 0 };
}
