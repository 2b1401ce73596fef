/** One question to the model, within its time, as the turn that the journal keeps. */

import {
  type Catalogue,
  LARGEST_OUTPUT_BYTES,
  type Validated,
  validateProposal,
} from "../../core/supervise/proposal.ts";
import { isFailureKind, type Spoken, type Turn } from "../../core/supervise/turn.ts";
import { sleepFor, stopwatch } from "../../kernel/clock.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { errorText } from "../../kernel/text.ts";
import type { Model, ModelAnswer, ModelFailure, ModelRequest } from "../../models/model.ts";

import type { Runtime } from "../../runtime/runtime.ts";

const MINUTE_MS = 60_000;

type Said = ModelAnswer | ModelFailure;
export type Question = Omit<ModelRequest, "signal">;

/** `signal` aborts when the run is cancelled or sent back. */
type Asked = { readonly runtime: Runtime; readonly model: Model; readonly signal: AbortSignal };

const isFailure = (said: Said): said is ModelFailure => "failure" in said;

/** A model that throws has not spoken. */
async function heard(model: Model, request: ModelRequest): Promise<Said> {
  try {
    const said = await model.propose(request);
    if (isFailure(said)) return isFailureKind(said.failure) ? said : { ...said, failure: "refused" };
    if (typeof said?.text === "string") return said;
    return { failure: "refused", message: "the model answered something that is not text" };
  } catch (error) {
    return { failure: "refused", message: errorText(error) };
  }
}

/** What comes after the time is up is not listened to. */
async function withinTime({ runtime, model, signal: given }: Asked, question: Question): Promise<Said> {
  const { timeoutMs = MINUTE_MS } = model;
  const over = new AbortController();
  const timer = new AbortController();
  const signal = AbortSignal.any([over.signal, given, runtime.closing]);
  const late = sleepFor(runtime.clock, timeoutMs, timer.signal).then((): Said => {
    over.abort();
    return { failure: "timeout", message: `no answer within ${timeoutMs} ms` };
  });
  return Promise.race([heard(model, { ...question, signal }), late]).finally(() => timer.abort());
}

const count = (value: unknown): number =>
  Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0;

function spoken(model: Model, said: ModelAnswer, ms: number): Spoken {
  const { input, output, cached } = said.tokens ?? { input: 0, output: 0 };
  const text = said.text.length > LARGEST_OUTPUT_BYTES ? said.text.slice(0, LARGEST_OUTPUT_BYTES) : said.text;
  return {
    text: text.toWellFormed(),
    tokens: {
      input: count(input),
      output: count(output),
      ...(cached === undefined ? {} : { cached: count(cached) }),
    },
    model: String(said.model ?? model.id),
    finish: String(said.finish ?? ""),
    ms,
  };
}

function turnOf(of: Spoken, valid: Validated): Turn {
  return valid.ok
    ? { kind: "proposed", ...of, proposal: valid.proposal }
    : { kind: "invalid", ...of, stop_reason: valid.stop_reason, raw: valid.raw };
}

/** Plain text is a final answer as it stands. */
function read(question: Question, text: string, catalogue: Catalogue): Validated {
  return question.format === "json"
    ? validateProposal(text, catalogue)
    : validateProposal(JSON.stringify({ kind: "final", answer: text.toWellFormed() }), catalogue);
}

export async function askModel(asked: Asked, question: Question, catalogue: Catalogue): Promise<Turn> {
  const { runtime, model } = asked;
  const passed = stopwatch(runtime.clock);
  const said = await withinTime(asked, question);
  const ms = Math.round(passed());
  if (isFailure(said)) {
    if (runtime.closing.aborted)
      throw new HoldpointError("closed", "The instance was closed while the model was asked.");
    const { failure, message, retryAfterMs = null } = said;
    return { kind: "failed", failure, message: errorText(message), retryAfterMs, ms };
  }
  if (said.text.trim() === "")
    return { kind: "failed", failure: "empty", message: "the model said nothing", retryAfterMs: null, ms };
  return turnOf(spoken(model, said, ms), read(question, said.text, catalogue));
}
