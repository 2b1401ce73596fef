/**
 * Models of the Vercel AI SDK behind the port. The SDK tries nothing again by itself: whoever asks does, and records it.
 */
import type { LanguageModel } from "ai";
import { failureOf } from "./failures.ts";
import type { Model, ModelAnswer, ModelFailure, ModelRequest } from "./model.ts";
import { loadPackage } from "./packages.ts";

type Sdk = typeof import("ai");
type Usage = {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly inputTokenDetails?: { readonly cacheReadTokens?: number | undefined };
};

export type Spoken = {
  readonly model: LanguageModel;
  readonly id: string;
  readonly timeoutMs: number;
  readonly isStreamed: boolean;
  /** Texts that never reach the journal, such as a key that a provider repeats in its error. */
  readonly hidden: readonly string[];
};

/** Asks the provider for JSON where it knows how; the text is read by us, whatever it is. */
function jsonOutput(sdk: Sdk): ReturnType<Sdk["Output"]["text"]> {
  return { ...sdk.Output.text(), responseFormat: Promise.resolve({ type: "json" }) };
}

/** Anthropic's API has no such switch without a schema, and says so in a warning each time. */
const canJson = (id: string): boolean => !id.startsWith("anthropic");

function settingsOf(sdk: Sdk, { model, id }: Spoken, request: ModelRequest) {
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

async function whole(sdk: Sdk, spoken: Spoken, request: ModelRequest): Promise<ModelAnswer> {
  const said = await sdk.generateText(settingsOf(sdk, spoken, request));
  const { text, usage, finishReason, response } = said;
  return { text, tokens: tokensOf(usage), finish: finishReason, model: response.modelId };
}

/** How a stream ends that was not told to its end. */
const BROKEN_OFF: readonly string[] = ["interrupted", "error"];

async function streamed(
  sdk: Sdk,
  spoken: Spoken,
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
  // A stream that is broken off ends like one that was told to its end.
  request.signal.throwIfAborted();
  const [usage, finish, response] = await Promise.all([said.usage, said.finishReason, said.response]);
  const isBrokenOff =
    BROKEN_OFF.includes(finish) || (finish === "other" && (await said.rawFinishReason) === undefined);
  if (isBrokenOff) return { failure: "unreachable", message: "the answer broke off before its end" };
  return { text, tokens: tokensOf(usage), finish, model: response.modelId };
}

export async function aiSdkModel(spoken: Spoken): Promise<Model> {
  const sdk = await loadPackage<Sdk>("ai", () => import("ai"));
  const say = spoken.isStreamed ? streamed : whole;
  return {
    id: spoken.id,
    timeoutMs: spoken.timeoutMs,
    async propose(request): Promise<ModelAnswer | ModelFailure> {
      try {
        return await say(sdk, spoken, request);
      } catch (error) {
        return failureOf(error, spoken.hidden);
      }
    },
  };
}
