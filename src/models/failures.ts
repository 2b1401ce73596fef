/** What an error of a provider, or of the line to it, means. */
import { errorText } from "../kernel/text.ts";
import type { ModelFailure } from "./model.ts";

type Seen = {
  readonly name?: unknown;
  readonly statusCode?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly responseHeaders?: Readonly<Record<string, string | undefined>>;
  readonly isRetryable?: unknown;
};

const MOST_CAUSES = 8;
const LONGEST_MS = 3_600_000;

/** An error and what led to it. */
function chain(error: unknown): readonly Seen[] {
  const seen: Seen[] = [];
  for (
    let at = error;
    seen.length < MOST_CAUSES && typeof at === "object" && at !== null;
    at = (at as Seen).cause
  )
    seen.push(at as Seen);
  return seen;
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function retryAfterMs(
  headers: Seen["responseHeaders"] = {},
  now: number = Date.now(),
): number | undefined {
  const exact = Number(headers["retry-after-ms"]);
  if (headers["retry-after-ms"] !== undefined && exact >= 0) return Math.min(exact, LONGEST_MS);
  const said = headers["retry-after"];
  if (said === undefined || said.trim() === "") return undefined;
  const seconds = Number(said);
  const wait = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(said) - now;
  return Number.isFinite(wait) ? Math.min(Math.max(wait, 0), LONGEST_MS) : undefined;
}

/** Keys do not belong into a journal, however a provider writes them. */
function clean(text: string, hidden: readonly string[]): string {
  const without = hidden.reduce(
    (left, part) => (part === "" ? left : left.replaceAll(part, "[hidden]")),
    text,
  );
  return without.replaceAll(/\b(?:sk|pk|key)-[\w*.-]{4,}/g, "[hidden]");
}

const NETWORK = /^(?:ECONN|EPIPE|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_)/;

function kindOf(errors: readonly Seen[]): ModelFailure["failure"] {
  const named = (...names: readonly string[]) => errors.some(({ name }) => names.includes(String(name)));
  const status = errors.map(({ statusCode }) => Number(statusCode)).find((one) => one > 0);
  if (named("AbortError", "TimeoutError", "ResponseAborted")) return "timeout";
  if (status === 408 || status === 504) return "timeout";
  if (status !== undefined && (status === 429 || status >= 500)) return "overloaded";
  if (errors.some(({ code }) => NETWORK.test(String(code)))) return "unreachable";
  if (named("AI_InvalidResponseDataError")) return "unreachable";
  if (named("AI_NoOutputGeneratedError", "AI_EmptyResponseBodyError", "AI_NoContentGeneratedError"))
    return "empty";
  if (status === undefined && errors.some(({ isRetryable }) => isRetryable === true)) return "unreachable";
  return "refused";
}

export function failureOf(error: unknown, hidden: readonly string[]): ModelFailure {
  const errors = chain(error);
  const message = errorText(error, (text) => clean(text, hidden));
  const headers = errors.find(({ responseHeaders }) => responseHeaders !== undefined)?.responseHeaders;
  const wait = retryAfterMs(headers);
  return { failure: kindOf(errors), message, ...(wait === undefined ? {} : { retryAfterMs: wait }) };
}
