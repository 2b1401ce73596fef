/**
 * Adapter for Vercel AI SDK models, and the mapping of provider errors to failures. The SDK's own retries are off: the
 * loop retries and records it. The packages are optional and loaded only when such a model is named.
 */
import type { LanguageModel } from "ai";
import { HoldpointError } from "../../kernel/errors.ts";
import { errorText } from "../../kernel/text.ts";
import type { Model, ModelAnswer, ModelFailure, ModelRequest } from "./model.ts";

export async function loadPackage<Module>(name: string, load: () => Promise<unknown>): Promise<Module> {
  try {
    return (await load()) as Module;
  } catch (error) {
    throw missing(name, error);
  }
}

function missing(name: string, cause: unknown): HoldpointError {
  const wanted = name === "ai" ? "ai" : `ai ${name}`;
  const next = `Run \`npm install ${wanted}\` beside holdpoint.`;
  return new HoldpointError("package_missing", `The package "${name}" is not installed.`, { cause, next });
}

type ProviderError = {
  readonly name?: unknown;
  readonly statusCode?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly responseHeaders?: Readonly<Record<string, string | undefined>>;
  readonly isRetryable?: unknown;
};

const MOST_CAUSES = 8;
const LONGEST_MS = 3_600_000;

/** The error and its causes. */
function errorChain(error: unknown): readonly ProviderError[] {
  const seen: ProviderError[] = [];
  for (
    let at = error;
    seen.length < MOST_CAUSES && typeof at === "object" && at !== null;
    at = (at as ProviderError).cause
  )
    seen.push(at as ProviderError);
  return seen;
}

/** Reads `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function retryAfterMs(
  headers: ProviderError["responseHeaders"] = {},
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

/** Hides API keys in an error text, which goes into the journal. */
function withoutKeys(text: string, hidden: readonly string[]): string {
  const without = hidden.reduce(
    (left, part) => (part === "" ? left : left.replaceAll(part, "[hidden]")),
    text,
  );
  return without.replaceAll(/\b(?:sk|pk|key)-[\w*.-]{4,}/g, "[hidden]");
}

const NETWORK = /^(?:ECONN|EPIPE|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_)/;

function failureKind(errors: readonly ProviderError[]): ModelFailure["failure"] {
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

function modelFailure(error: unknown, hidden: readonly string[]): ModelFailure {
  const errors = errorChain(error);
  const message = errorText(error, (text) => withoutKeys(text, hidden));
  const headers = errors.find(({ responseHeaders }) => responseHeaders !== undefined)?.responseHeaders;
  const wait = retryAfterMs(headers);
  return { failure: failureKind(errors), message, ...(wait === undefined ? {} : { retryAfterMs: wait }) };
}

type Sdk = typeof import("ai");
type Usage = {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly inputTokenDetails?: { readonly cacheReadTokens?: number | undefined };
};

type AiSdkModelOptions = {
  readonly model: LanguageModel;
  readonly id: string;
  readonly timeoutMs: number;
  readonly isStreamed: boolean;
  /** Texts that must never reach the journal, such as a key that a provider repeats in its error. */
  readonly hidden: readonly string[];
};

/** Requests JSON from providers that support it. Our own validation still reads the text. */
function jsonOutput(sdk: Sdk): ReturnType<Sdk["Output"]["text"]> {
  return { ...sdk.Output.text(), responseFormat: Promise.resolve({ type: "json" }) };
}

/** Anthropic's API has no JSON mode without a schema, and warns on each request. */
const canJson = (id: string): boolean => !id.startsWith("anthropic");

function settingsOf(sdk: Sdk, { model, id }: AiSdkModelOptions, request: ModelRequest) {
  const { system, prompt, maxOutputTokens, signal, format } = request;
  return {
    model,
    instructions: system,
    prompt,
    maxRetries: 0,
    abortSignal: signal,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(format === "json" && canJson(id) ? { output: jsonOutput(sdk) } : {}),
  };
}

function tokensOf({ inputTokens = 0, outputTokens = 0, inputTokenDetails }: Usage) {
  const cached = inputTokenDetails?.cacheReadTokens;
  return { input: inputTokens, output: outputTokens, ...(cached === undefined ? {} : { cached }) };
}

async function generateWhole(
  sdk: Sdk,
  spoken: AiSdkModelOptions,
  request: ModelRequest,
): Promise<ModelAnswer> {
  const said = await sdk.generateText(settingsOf(sdk, spoken, request));
  const { text, usage, finishReason, response } = said;
  return { text, tokens: tokensOf(usage), finish: finishReason, model: response.modelId };
}

/** Finish reasons of an incomplete stream. */
const STREAM_BROKEN_OFF: readonly string[] = ["interrupted", "error"];

async function generateStreamed(
  sdk: Sdk,
  spoken: AiSdkModelOptions,
  request: ModelRequest,
): Promise<ModelAnswer | ModelFailure> {
  let failure: unknown;
  const onError = ({ error }: { readonly error: unknown }) => {
    failure ??= error;
  };
  const said = sdk.streamText({ ...settingsOf(sdk, spoken, request), onError });
  let text = "";
  for await (const part of said.textStream) text += part;
  if (failure !== undefined) throw failure;
  // The text stream of an aborted request ends like a complete one.
  request.signal.throwIfAborted();
  const [usage, finish, response] = await Promise.all([said.usage, said.finishReason, said.response]);
  const isBrokenOff =
    STREAM_BROKEN_OFF.includes(finish) || (finish === "other" && (await said.rawFinishReason) === undefined);
  if (isBrokenOff) return { failure: "unreachable", message: "the answer broke off before its end" };
  return { text, tokens: tokensOf(usage), finish, model: response.modelId };
}

export async function aiSdkModel(spoken: AiSdkModelOptions): Promise<Model> {
  const sdk = await loadPackage<Sdk>("ai", () => import("ai"));
  const say = spoken.isStreamed ? generateStreamed : generateWhole;
  return {
    id: spoken.id,
    timeoutMs: spoken.timeoutMs,
    async propose(request): Promise<ModelAnswer | ModelFailure> {
      try {
        return await say(sdk, spoken, request);
      } catch (error) {
        return modelFailure(error, spoken.hidden);
      }
    },
  };
}
