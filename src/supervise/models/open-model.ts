/** Opens the model that a program names in its `model` option. Reads a key only when that model needs it. */
import type { LanguageModel } from "ai";
import { HoldpointError } from "../../kernel/errors.ts";
import { fieldFault, rejectInput } from "../../kernel/fields.ts";
import { displayValue } from "../../kernel/text.ts";
import { aiSdkModel, loadPackage } from "./ai-sdk.ts";
import { isModel, type Model } from "./model.ts";

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
