/**
 * The answer to one request that may be retried: the fold of its stream, named after the caller and the key.
 *
 * - Under one key one request is processed at a time, and answered once.
 * - The key is free again a day after the request began.
 */
import type { Json } from "../../kernel/json.ts";
import { eventBody, type Fold } from "../../kernel/stream.ts";

export type BegunRequest = {
  /** Method and path. */
  readonly route: string;
  /** Digest of everything that was sent. */
  readonly digest: string;
  readonly by: string;
  /** Epoch of the process that handles it. */
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
