/** What a step that asked the model recorded: one turn of a supervised run, or an attempt at one. */
import type { Json } from "../../kernel/json.ts";
import type { Proposal } from "./proposal.ts";
import type { InvalidAction, StopReason } from "./stop-reason.ts";

export type Tokens = { readonly input: number; readonly output: number; readonly cached?: number };

/** What the model did, beside what it said. */
export type Spoken = {
  readonly text: string;
  readonly tokens: Tokens;
  readonly model: string;
  readonly finish: string;
  /** Milliseconds in the model. */
  readonly ms: number;
};

export type FailureKind = "overloaded" | "unreachable" | "timeout" | "refused" | "empty";

export type Turn =
  | (Spoken & { readonly kind: "proposed"; readonly proposal: Proposal })
  | (Spoken & { readonly kind: "invalid"; readonly stop_reason: InvalidAction; readonly raw: Json })
  | {
      readonly kind: "failed";
      readonly failure: FailureKind;
      readonly message: string;
      readonly retryAfterMs: number | null;
      readonly ms: number;
    }
  | { readonly kind: "out_of_time"; readonly spentMs: number }
  /** The kill switch is on: the model was not asked. */
  | { readonly kind: "stopped"; readonly by: string };

const FAILURES = {
  overloaded: "llm_overloaded",
  unreachable: "llm_timeout",
  timeout: "llm_timeout",
  refused: "llm_error",
  empty: "llm_empty",
} as const satisfies Record<FailureKind, StopReason>;

export const isFailureKind = (failure: unknown): failure is FailureKind =>
  typeof failure === "string" && Object.hasOwn(FAILURES, failure);

/** A model that is overloaded or out of reach may be better in a moment; the others would say the same again. */
export const isWorthAnotherTry = (failure: FailureKind): boolean =>
  failure === "overloaded" || failure === "unreachable";

export const failureStop = (failure: FailureKind): StopReason => FAILURES[failure];

/** The names of the steps in the journal. */
export const PROPOSE = "propose";
export const FINALIZE = "finalize";
/** The tool that a final answer goes through, so that policy reviews it as everything else. */
export const FINAL_TOOL = "final";
