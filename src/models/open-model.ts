/** From what a program names as its model to something that can be asked. Keys are read only when they are used. */
import type { LanguageModel } from "ai";
import { shown } from "../core/error-text.ts";
import { HoldpointError } from "../core/errors.ts";
import { aiSdkModel } from "./ai-sdk.ts";
import { isModel, type Model } from "./model.ts";
import { loadPackage } from "./packages.ts";

type Environment = (name: string) => string | undefined;

const DEFAULT_OPENAI = "gpt-4.1-mini";
const DEFAULT_SECONDS = 60;

function wrong(what: string): never {
  throw new HoldpointError("invalid_input", what);
}

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
    wrong(`OPENAI_TIMEOUT_SECONDS is a number of seconds over 0, not "${shown(said)}".`);
  return Math.max(Math.round(seconds * 1_000), 1);
}

async function openaiModel(name: string, environment: Environment): Promise<Model> {
  const apiKey = keyOf(environment, "OPENAI_API_KEY");
  const load = () => import("@ai-sdk/openai");
  const { createOpenAI } = await loadPackage<typeof import("@ai-sdk/openai")>("@ai-sdk/openai", load);
  const baseURL = environment("OPENAI_BASE_URL");
  const provider = createOpenAI({ apiKey, ...(baseURL === undefined ? {} : { baseURL }) });
  const spoken = { model: provider(name), id: `openai/${name}`, isStreamed: false, hidden: [apiKey] };
  return aiSdkModel({ ...spoken, timeoutMs: timeoutOf(environment) });
}

async function anthropicModel(name: string, environment: Environment): Promise<Model> {
  const apiKey = keyOf(environment, "ANTHROPIC_API_KEY");
  const load = () => import("@ai-sdk/anthropic");
  const { createAnthropic } = await loadPackage<typeof import("@ai-sdk/anthropic")>(
    "@ai-sdk/anthropic",
    load,
  );
  const baseURL = environment("ANTHROPIC_BASE_URL");
  const provider = createAnthropic({ apiKey, ...(baseURL === undefined ? {} : { baseURL }) });
  const spoken = { model: provider(name), id: `anthropic/${name}`, isStreamed: false, hidden: [apiKey] };
  return aiSdkModel({ ...spoken, timeoutMs: timeoutOf(environment) });
}

export type Address = {
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey?: string;
  readonly timeoutMs?: number;
  readonly stream?: boolean;
};

const ADDRESS = ["baseUrl", "model", "apiKey", "timeoutMs", "stream"];

function checkAddress(given: Address): void {
  const extra = Object.keys(given).find((field) => !ADDRESS.includes(field));
  if (extra !== undefined) wrong(`A model's address has no "${extra}"; it has ${ADDRESS.join(", ")}.`);
  const isUrl =
    typeof given.baseUrl === "string" && /^https?:\/\//.test(given.baseUrl) && URL.canParse(given.baseUrl);
  if (!isUrl) wrong("A model's baseUrl is an address that begins with http:// or https://.");
  if (typeof given.model !== "string" || given.model === "") wrong("A model's address names a model.");
  if (given.apiKey !== undefined && typeof given.apiKey !== "string") wrong("A model's apiKey is a text.");
  const { timeoutMs = 1 } = given;
  if (!(Number.isSafeInteger(timeoutMs) && timeoutMs >= 1))
    wrong("A model's timeoutMs is a whole number of at least 1.");
}

async function addressedModel(given: Address, environment: Environment): Promise<Model> {
  checkAddress(given);
  const { baseUrl, model, apiKey, stream = false, timeoutMs = timeoutOf(environment) } = given;
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
  return aiSdkModel({
    model: provider(model),
    id: `${name}/${model}`,
    timeoutMs,
    isStreamed: stream,
    hidden,
  });
}

function namedModel(given: string, environment: Environment): Promise<Model> {
  const slash = given.indexOf("/");
  const provider = slash === -1 ? given : given.slice(0, slash);
  const name = slash === -1 ? "" : given.slice(slash + 1);
  if (provider === "openai")
    return openaiModel(name === "" ? (environment("OPENAI_MODEL") ?? DEFAULT_OPENAI) : name, environment);
  if (provider === "anthropic" && name !== "") return anthropicModel(name, environment);
  return wrong(
    `"${shown(given)}" is no model: name one as openai/<model> or anthropic/<model>, or give an address.`,
  );
}

type SdkModel = {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
};

const isSdkModel = (given: object): given is SdkModel =>
  "doGenerate" in given && "specificationVersion" in given && "modelId" in given && "provider" in given;

export async function openModel(given: unknown, environment: Environment): Promise<Model> {
  if (typeof given === "string") return namedModel(given, environment);
  if (isModel(given)) return given;
  if (typeof given === "object" && given !== null) {
    if (isSdkModel(given)) {
      const model = given as unknown as LanguageModel;
      const id = `${given.provider}/${given.modelId}`;
      return aiSdkModel({ model, id, timeoutMs: timeoutOf(environment), isStreamed: false, hidden: [] });
    }
    if ("baseUrl" in given) return addressedModel(given as Address, environment);
  }
  return wrong("A model is a name, { baseUrl, model }, a model of the AI SDK, or { id, propose }.");
}
