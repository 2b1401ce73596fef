/**
 * The answer to one request that may be sent again: the fold of its stream, named by who asks and by their key.
 *
 * Q1. Under one key one request is worked on at a time, and its answer is given once.
 * Q2. A day after it was begun the key is free again.
 */
import type { Json } from "../../kernel/json.ts";
import { eventBody, type Fold } from "../../kernel/stream.ts";

export type BegunRequest = {
  /** Method and path. */
  readonly route: string;
  /** Of everything that was sent. */
  readonly digest: string;
  readonly by: string;
  /** The epoch of the process that works on it. */
  readonly epoch: string;
  readonly attempt: string;
};

export type AnswerState =
  | { readonly status: "none" }
  | (BegunRequest & { readonly status: "begun"; readonly at: number })
  | (BegunRequest & {
      readonly status: "given";
      readonly at: number;
      readonly answer: { readonly status: number; readonly body: Json };
    });

const EVENTS = ["answer.begun", "answer.given", "answer.dropped"];

export const answerFold: Fold<AnswerState> = {
  version: 1,
  initial: { status: "none" },
  evolve(state, event) {
    const body = eventBody("An answer", event, EVENTS);
    switch (event.type) {
      case "answer.begun":
        return { ...(body as unknown as BegunRequest), status: "begun", at: event.at };
      case "answer.given": {
        if (state.status === "none") return state;
        const answer = { status: Number(body["status"]), body: body["body"] ?? null };
        return { ...state, status: "given", answer };
      }
      default:
        return { status: "none" };
    }
  },
};
