/** Rules of a request that may be retried. */

import type { Json } from "../../kernel/json.ts";
import { answerStream } from "../../kernel/stream.ts";
import type { Draft } from "../../kernel/transaction.ts";
import type { AnswerState, BegunRequest } from "./stream.ts";

const DAY_MS = 86_400_000;

/** `again`: the lost attempt that this one takes over. */
export type BeginCommand = BegunRequest & { readonly id: string; readonly again: string | null };

export type BeginAnswerResult =
  | { readonly kind: "begun" }
  | { readonly kind: "given"; readonly status: number; readonly body: Json }
  | { readonly kind: "conflict"; readonly route: string }
  | { readonly kind: "under_way"; readonly epoch: string; readonly attempt: string };

const isFree = (state: AnswerState, now: number): boolean =>
  state.status === "none" || now - state.at >= DAY_MS;

/** An attempt that is retried after an unknown commit finds its own entry. */
export function beginAnswer(draft: Draft, { id, again, ...begun }: BeginCommand): BeginAnswerResult {
  const ref = answerStream(id);
  const state = draft.state(ref);
  const start = (): BeginAnswerResult => {
    draft.append(ref, [{ type: "answer.begun", tv: 1, body: { ...begun } }]);
    return { kind: "begun" };
  };
  if (state.status === "none" || isFree(state, draft.now)) return start();
  if (state.route !== begun.route || state.digest !== begun.digest)
    return { kind: "conflict", route: state.route };
  if (state.status === "given") return { kind: "given", ...state.answer };
  const { epoch, attempt } = state;
  if (attempt === begun.attempt) return { kind: "begun" };
  return attempt === again ? start() : { kind: "under_way", epoch, attempt };
}

type EndCommand = {
  readonly id: string;
  readonly attempt: string;
  /** null: nothing was done, and the key is free again. */
  readonly answer: { readonly status: number; readonly body: Json } | null;
};

/** Only the attempt in progress ends it. */
export function endAnswer(draft: Draft, { id, attempt, answer }: EndCommand): void {
  const ref = answerStream(id);
  const state = draft.state(ref);
  if (state.status !== "begun" || state.attempt !== attempt) return;
  if (answer === null) draft.append(ref, [{ type: "answer.dropped", tv: 1, body: {} }]);
  else {
    const body = { status: answer.status, body: draft.keep(answer.body) };
    draft.append(ref, [{ type: "answer.given", tv: 1, body }]);
  }
}
