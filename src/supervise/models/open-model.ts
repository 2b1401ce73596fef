/**
 * Opens the model that a program names in its `model` option, and reads a key only when that model needs it. Models of the Vercel
 * AI SDK have an adapter, with provider errors mapped to failures. The SDK's own retries are off: the loop retries and records it.
 * The packages are optional and loaded only when such a model is named.
 */
import type { LanguageModel } from "ai";
import { HoldpointError } from "../../kernel/errors.ts";
import { fieldFault, rejectInput } from "../../kernel/fields.ts";
import { displayValue, errorText } from "../../kernel/text.ts";
import { isModel, type Model, type ModelAnswer, type ModelFailure, type ModelRequest } from "./model.ts";

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

async function aiSdkModel(spoken: AiSdkModelOptions): Promise<Model> {
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

type Environment = (name: string) => string | undefined;

const DEFAULT_OPENAI = "gpt-4.1-mini";
const DEFAULT_SECONDS = 60;

function keyOf(environment: Environment, name: string): string {
  const key = environment(name)?.trim() ?? "";
  if (key !== "") return key;
  throw new HoldpointError("secret_missing", `The environment variable ${name} is not set.`, {
    next: `Set ${name}, or name a model that needs no key.`,
  });
}

function timeoutOf(environment: Environment): number {
  const said = environment("OPENAI_TIMEOUT_SECONDS");
  const seconds = said === undefined || said.trim() === "" ? DEFAULT_SECONDS : Number(said);
  if (!(Number.isFinite(seconds) && seconds > 0))
    rejectInput(`OPENAI_TIMEOUT_SECONDS is a number of seconds over 0, not "${displayValue(said)}".`);
  return Math.max(Math.round(seconds * 1_000), 1);
}

/** Call options that apply to every kind of model. */
type ModelCallOptions = { readonly stream?: boolean; readonly timeoutMs?: number };
type ModelContext = { readonly environment: Environment; readonly manner: ModelCallOptions };

function callOptions({ environment, manner }: ModelContext) {
  const { stream = false, timeoutMs = timeoutOf(environment) } = manner;
  if (typeof stream !== "boolean") rejectInput("A model's stream is true or false.");
  if (!(Number.isSafeInteger(timeoutMs) && timeoutMs >= 1))
    rejectInput("A model's timeoutMs is a whole number of at least 1.");
  return { isStreamed: stream, timeoutMs };
}

async function openaiModel(name: string, place: ModelContext): Promise<Model> {
  const { environment } = place;
  const apiKey = keyOf(environment, "OPENAI_API_KEY");
  const load = () => import("@ai-sdk/openai");
  const { createOpenAI } = await loadPackage<typeof import("@ai-sdk/openai")>("@ai-sdk/openai", load);
  const baseURL = environment("OPENAI_BASE_URL");
  const provider = createOpenAI({ apiKey, ...(baseURL === undefined ? {} : { baseURL }) });
  return aiSdkModel({ model: provider(name), id: `openai/${name}`, hidden: [apiKey], ...callOptions(place) });
}

async function anthropicModel(name: string, place: ModelContext): Promise<Model> {
  const { environment } = place;
  const apiKey = keyOf(environment, "ANTHROPIC_API_KEY");
  const load = () => import("@ai-sdk/anthropic");
  const { createAnthropic } = await loadPackage<typeof import("@ai-sdk/anthropic")>(
    "@ai-sdk/anthropic",
    load,
  );
  const baseURL = environment("ANTHROPIC_BASE_URL");
  const provider = createAnthropic({ apiKey, ...(baseURL === undefined ? {} : { baseURL }) });
  return aiSdkModel({
    model: provider(name),
    id: `anthropic/${name}`,
    hidden: [apiKey],
    ...callOptions(place),
  });
}

type Address = ModelCallOptions & {
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey?: string;
};

function checkAddress({ baseUrl, model, apiKey }: Address): void {
  const isUrl = typeof baseUrl === "string" && /^https?:\/\//.test(baseUrl) && URL.canParse(baseUrl);
  if (!isUrl) rejectInput("A model's baseUrl is an address that begins with http:// or https://.");
  if (typeof model !== "string" || model === "") rejectInput("A model's address names a model.");
  if (apiKey !== undefined && typeof apiKey !== "string") rejectInput("A model's apiKey is a text.");
}

async function addressedModel(given: Address, place: ModelContext): Promise<Model> {
  checkAddress(given);
  const { baseUrl, model, apiKey } = given;
  const load = () => import("@ai-sdk/openai-compatible");
  const { createOpenAICompatible } = await loadPackage<typeof import("@ai-sdk/openai-compatible")>(
    "@ai-sdk/openai-compatible",
    load,
  );
  const name = new URL(baseUrl).host;
  const provider = createOpenAICompatible({
    name,
    baseURL: baseUrl.replace(/\/+$/, ""),
    includeUsage: true,
    ...(apiKey === undefined ? {} : { apiKey }),
  });
  const hidden = apiKey === undefined ? [] : [apiKey];
  return aiSdkModel({ model: provider(model), id: `${name}/${model}`, hidden, ...callOptions(place) });
}

function namedModel(given: string, place: ModelContext): Promise<Model> {
  const slash = given.indexOf("/");
  const provider = slash === -1 ? given : given.slice(0, slash);
  const name = slash === -1 ? "" : given.slice(slash + 1);
  if (provider === "openai")
    return openaiModel(name === "" ? (place.environment("OPENAI_MODEL") ?? DEFAULT_OPENAI) : name, place);
  if (provider === "anthropic" && name !== "") return anthropicModel(name, place);
  return rejectInput(
    `"${displayValue(given)}" is no model: name one as openai/<model> or anthropic/<model>, or give an address.`,
  );
}

type SdkModel = {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
};

const isSdkModel = (given: object): given is SdkModel =>
  "doGenerate" in given && "specificationVersion" in given && "modelId" in given && "provider" in given;

function sdkModel(given: SdkModel, place: ModelContext): Promise<Model> {
  const model = given as unknown as LanguageModel;
  return aiSdkModel({ model, id: `${given.provider}/${given.modelId}`, hidden: [], ...callOptions(place) });
}

const FIELDS = ["baseUrl", "model", "apiKey", "timeoutMs", "stream"];

/** `{ model, … }`: an endpoint, or a named or AI SDK model with call options. */
function describedModel(given: Address, environment: Environment): Promise<Model> {
  const fault = fieldFault("A model", given, FIELDS);
  if (fault !== undefined) rejectInput(`${fault}.`);
  const place = { environment, manner: given };
  const model: unknown = given.model;
  if (Object.hasOwn(given, "baseUrl")) return addressedModel(given, place);
  if (Object.hasOwn(given, "apiKey"))
    rejectInput("A model's apiKey goes with its baseUrl; the providers' keys are read from the environment.");
  if (typeof model === "string") return namedModel(model, place);
  if (typeof model === "object" && model !== null && isSdkModel(model)) return sdkModel(model, place);
  return rejectInput("A model is named, or one of the AI SDK.");
}

/** Async, so that a fault in the option is a rejection and never a synchronous throw. */
export async function openModel(given: unknown, environment: Environment): Promise<Model> {
  if (typeof given === "string") return namedModel(given, { environment, manner: {} });
  if (isModel(given)) return given;
  if (typeof given !== "object" || given === null)
    return rejectInput("A model is a name, { baseUrl, model }, a model of the AI SDK, or { id, propose }.");
  return isSdkModel(given)
    ? sdkModel(given, { environment, manner: {} })
    : describedModel(given as Address, environment);
}
