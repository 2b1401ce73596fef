/**
 * The port to what proposes: a language model, or a script in its place. It is asked for text and can do nothing itself;
 * its output is validated, reviewed and performed elsewhere.
 */
import type { FailureKind, Tokens } from "../rules/turn.ts";

export type ModelRequest = {
  readonly system: string;
  /** JSON text. */
  readonly prompt: string;
  /** One JSON object is wanted; otherwise plain text. */
  readonly format: "json" | "text";
  readonly maxOutputTokens?: number;
  /** Aborts when the time is up, the run is cancelled or sent back, or the instance closes. */
  readonly signal: AbortSignal;
};

export type ModelAnswer = {
  readonly text: string;
  readonly tokens?: Tokens;
  /** Which model it was, as its provider says. */
  readonly model?: string;
  /** Why it stopped speaking, in its provider's words. */
  readonly finish?: string;
};

/**
 * Why there is no text: `overloaded` and `unreachable` are tried again, after `retryAfterMs` where the provider asks for
 * that; a `timeout`, a request that was `refused` and an `empty` answer are not.
 */
export type ModelFailure = {
  readonly failure: FailureKind;
  readonly message: string;
  readonly retryAfterMs?: number;
};

export type Model = {
  /** As the journal names it, for example `openai/gpt-4.1-mini`. */
  readonly id: string;
  /** How long one answer may take; a minute unless set. */
  readonly timeoutMs?: number;
  propose(request: ModelRequest): Promise<ModelAnswer | ModelFailure>;
};

export function isModel(value: unknown): value is Model {
  const model = value as Partial<Model> | null | undefined;
  return typeof model === "object" && model !== null && typeof model.propose === "function";
}
