/**
 * Port to the proposer: a language model, or a script in its place. It only returns text; the loop validates that text,
 * and gated calls review and execute it.
 */
import type { FailureKind, Tokens } from "../rules/turn.ts";

export type ModelRequest = {
  readonly system: string;
  /** JSON text. */
  readonly prompt: string;
  /** `json`: the answer must be one JSON object. */
  readonly format: "json" | "text";
  readonly maxOutputTokens?: number;
  /** Aborts on timeout, when the run is cancelled or sent back, and when the instance closes. */
  readonly signal: AbortSignal;
};

export type ModelAnswer = {
  readonly text: string;
  readonly tokens?: Tokens;
  /** The model that answered, as reported by the provider. */
  readonly model?: string;
  /** The provider's finish reason. */
  readonly finish?: string;
};

/**
 * Why there is no text. `overloaded` and `unreachable` are retried, no earlier than `retryAfterMs` if the provider sets
 * it. `timeout`, `refused` and `empty` are not retried.
 */
export type ModelFailure = {
  readonly failure: FailureKind;
  readonly message: string;
  readonly retryAfterMs?: number;
};

export type Model = {
  /** Name in the journal, for example `openai/gpt-4.1-mini`. */
  readonly id: string;
  /** Timeout of one answer. Default: one minute. */
  readonly timeoutMs?: number;
  propose(request: ModelRequest): Promise<ModelAnswer | ModelFailure>;
};

export function isModel(value: unknown): value is Model {
  const model = value as Partial<Model> | null | undefined;
  return typeof model === "object" && model !== null && typeof model.propose === "function";
}
