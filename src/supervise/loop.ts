/**
 * The workflow behind `hp.supervise`: the model proposes, the workflow executes. Each call of the model, within its
 * timeout, becomes a turn in the journal.
 * - All input that is not a recorded answer (prompt, time left, model) is read inside a step, so a replay requests the
 *   same operations.
 * - Nothing runs outside a gated call. The final answer is one too.
 */

import type { Answer } from "../effects/answer.ts";
import { sleepFor, stopwatch } from "../kernel/clock.ts";
import { HoldpointError, isHoldpointError } from "../kernel/errors.ts";
import { isJsonObject } from "../kernel/json.ts";
import { errorText } from "../kernel/text.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { WorkflowContext } from "../workflows/definition.ts";
import { stoppedBy } from "../workflows/run/runnable.ts";
import type { Model, ModelAnswer, ModelFailure, ModelRequest } from "./models/model.ts";
import type { SuperviseInput } from "./options.ts";
import { readRun } from "./read-run.ts";
import {
  LARGEST_OUTPUT_BYTES,
  type ModelProposal,
  type ToolCatalogue,
  type ValidatedProposal,
  validateProposal,
} from "./rules/proposal.ts";
import { type RunStop, type StopReason, type SupervisePhase, stopOfRefusal } from "./rules/stop-reason.ts";
import { isUnstorableResult } from "./rules/trace.ts";
import {
  FINAL_PROMPT,
  FINAL_TOOL,
  FINALIZE_STEP,
  finalPrompt,
  isFailureKind,
  isRetryable,
  type ModelOutput,
  PROPOSE_STEP,
  type RunEnd,
  stopOfFailure,
  type Turn,
  WORKER_PROMPT,
  workerPrompt,
} from "./rules/turn.ts";
import type { AnyGated, RunTools } from "./tools.ts";

const MINUTE_MS = 60_000;

type ModelReply = ModelAnswer | ModelFailure;
type ModelQuestion = Omit<ModelRequest, "signal">;

/** `signal` aborts when the run is cancelled or sent back. */
type ModelCall = { readonly runtime: Runtime; readonly model: Model; readonly signal: AbortSignal };

const isFailure = (said: ModelReply): said is ModelFailure => "failure" in said;

/** A model that throws counts as `refused`. */
async function callModel(model: Model, request: ModelRequest): Promise<ModelReply> {
  try {
    const said = await model.propose(request);
    if (isFailure(said)) return isFailureKind(said.failure) ? said : { ...said, failure: "refused" };
    if (typeof said?.text === "string") return said;
    return { failure: "refused", message: "the model answered something that is not text" };
  } catch (error) {
    return { failure: "refused", message: errorText(error) };
  }
}

/** Ignores an answer that arrives after the timeout. */
async function callModelWithTimeout(
  { runtime, model, signal: given }: ModelCall,
  question: ModelQuestion,
): Promise<ModelReply> {
  const { timeoutMs = MINUTE_MS } = model;
  const over = new AbortController();
  const timer = new AbortController();
  const signal = AbortSignal.any([over.signal, given, runtime.closing]);
  const late = sleepFor(runtime.clock, timeoutMs, timer.signal).then((): ModelReply => {
    over.abort();
    return { failure: "timeout", message: `no answer within ${timeoutMs} ms` };
  });
  return Promise.race([callModel(model, { ...question, signal }), late]).finally(() => timer.abort());
}

const tokenCount = (value: unknown): number =>
  Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0;

function modelOutput(model: Model, said: ModelAnswer, ms: number): ModelOutput {
  const { input, output, cached } = said.tokens ?? { input: 0, output: 0 };
  const text = said.text.length > LARGEST_OUTPUT_BYTES ? said.text.slice(0, LARGEST_OUTPUT_BYTES) : said.text;
  return {
    text: text.toWellFormed(),
    tokens: {
      input: tokenCount(input),
      output: tokenCount(output),
      ...(cached === undefined ? {} : { cached: tokenCount(cached) }),
    },
    model: String(said.model ?? model.id),
    finish: String(said.finish ?? ""),
    ms,
  };
}

function turnFromOutput(of: ModelOutput, valid: ValidatedProposal): Turn {
  return valid.ok
    ? { kind: "proposed", ...of, proposal: valid.proposal }
    : { kind: "invalid", ...of, stop_reason: valid.stop_reason, raw: valid.raw };
}

/** Plain text is a final answer, taken verbatim. */
function readOutput(question: ModelQuestion, text: string, catalogue: ToolCatalogue): ValidatedProposal {
  return question.format === "json"
    ? validateProposal(text, catalogue)
    : validateProposal(JSON.stringify({ kind: "final", answer: text.toWellFormed() }), catalogue);
}

async function askModel(asked: ModelCall, question: ModelQuestion, catalogue: ToolCatalogue): Promise<Turn> {
  const { runtime, model } = asked;
  const passed = stopwatch(runtime.clock);
  const said = await callModelWithTimeout(asked, question);
  const ms = Math.round(passed());
  if (isFailure(said)) {
    if (runtime.closing.aborted)
      throw new HoldpointError("closed", "The instance was closed while the model was asked.");
    const { failure, message, retryAfterMs = null } = said;
    return { kind: "failed", failure, message: errorText(message), retryAfterMs, ms };
  }
  if (said.text.trim() === "")
    return { kind: "failed", failure: "empty", message: "the model said nothing", retryAfterMs: null, ms };
  return turnFromOutput(modelOutput(model, said, ms), readOutput(question, said.text, catalogue));
}

export type SuperviseWorker = {
  readonly runtime: Runtime;
  readonly model: Model;
  readonly tools: RunTools;
  readonly system: string | undefined;
  readonly finalSystem: string | undefined;
  readonly maxOutputTokens: number | undefined;
  readonly agent: string | undefined;
};

export type SuperviseRun = {
  readonly worker: SuperviseWorker;
  readonly ctx: WorkflowContext;
  readonly input: SuperviseInput;
};
type ModelStep = typeof PROPOSE_STEP | typeof FINALIZE_STEP;

const ATTEMPTS = 4;
const BACK_OFF_MS = 1_000;
const LONGEST_WAIT_MS = 3_600_000;
const JITTER = 0.25;

const stopped = (stop_reason: StopReason, phase: SupervisePhase): RunEnd => ({
  status: "stopped",
  stop_reason,
  phase,
});
const stoppedBecause = ({ stop_reason, phase }: RunStop): RunEnd => stopped(stop_reason, phase);

async function questionOf(
  { worker, ctx, input }: SuperviseRun,
  asked: ModelStep,
): Promise<ModelQuestion | Turn> {
  const by = await stoppedBy(worker.runtime, worker.agent, ctx.workflow);
  if (by !== undefined) return { kind: "stopped", by };
  const { spentMs, history } = await readRun(worker.runtime, ctx.workflow);
  const { maxOutputTokens } = worker;
  const most = maxOutputTokens === undefined ? {} : { maxOutputTokens };
  if (asked === FINALIZE_STEP)
    return {
      system: worker.finalSystem ?? FINAL_PROMPT,
      prompt: finalPrompt(input.goal, history),
      format: "text",
      ...most,
    };
  if (spentMs > input.limits.seconds * 1_000) return { kind: "out_of_time", spentMs };
  const prompt = workerPrompt(input.goal, history, worker.tools.listed);
  return { system: worker.system ?? WORKER_PROMPT, prompt, format: "json", ...most };
}

function askOnce(run: SuperviseRun, asked: ModelStep): Promise<Turn> {
  const { runtime, model, tools } = run.worker;
  // A model failure is returned as a turn. Only a store failure throws and is retried.
  return run.ctx.step(asked, { retries: { attempts: 5 } }, async ({ signal }) => {
    const question = await questionOf(run, asked);
    if ("kind" in question) return question;
    return askModel({ runtime, model, signal }, question, tools.catalogue);
  });
}

/** Exponential back-off with jitter, never shorter than the provider's `retryAfterMs`. */
function waitBefore({ ctx }: SuperviseRun, attempt: number, retryAfterMs: number | null): number {
  const full = BACK_OFF_MS * 2 ** (attempt - 1);
  const own = full * (1 + JITTER * ctx.random());
  return Math.round(Math.min(Math.max(own, retryAfterMs ?? 0), LONGEST_WAIT_MS));
}

/** Calls the model until it returns a turn, with at most `ATTEMPTS` attempts. */
async function askUntilTurn(run: SuperviseRun, asked: ModelStep): Promise<Turn> {
  for (let attempt = 1; ; attempt++) {
    const turn = await askOnce(run, asked);
    if (turn.kind !== "failed" || !isRetryable(turn.failure) || attempt >= ATTEMPTS) return turn;
    await run.ctx.sleep(waitBefore(run, attempt, turn.retryAfterMs));
  }
}

function proposalOf(turn: Turn, phase: SupervisePhase): ModelProposal | RunEnd {
  switch (turn.kind) {
    case "proposed":
      return turn.proposal;
    case "invalid":
      return stopped(turn.stop_reason, phase);
    case "failed":
      return stopped(stopOfFailure(turn.failure), phase);
    case "out_of_time":
      return { status: "stopped", stop_reason: "max_seconds" };
    case "stopped":
      return stopped("stopped", phase);
  }
}

/** Errors caused by the model's arguments. An unusable policy or a store failure is not the model's fault. */
const MISUSE_CODES: ReadonlySet<string> = new Set([
  "invalid_args",
  "invalid_json",
  "invalid_input",
  "payload_too_large",
  "reserved_key",
  "secret_missing",
  "secret_transformed",
]);

async function callProposed(
  { ctx, input, worker }: SuperviseRun,
  tool: AnyGated,
  args: unknown,
): Promise<Answer<unknown> | RunStop> {
  const { agent } = worker;
  const options = {
    continueInDoubt: input.onDoubt === "stop",
    ...(agent === undefined ? {} : { agent }),
  };
  try {
    return await ctx.call(tool, args, options);
  } catch (error) {
    if (!isHoldpointError(error) || !MISUSE_CODES.has(error.code)) throw error;
    return { stop_reason: `tool_bad_args:${tool.toolName}`, phase: "execution" };
  }
}

const isStop = (answer: Answer<unknown> | RunStop): answer is RunStop => "stop_reason" in answer;

/** The stop that an unsuccessful call leads to; undefined if the call succeeded. */
function stopOfAnswer(answer: Answer<unknown> | RunStop, tool: string): RunStop | undefined {
  if (isStop(answer)) return answer;
  if (answer.status === "in_doubt") return { stop_reason: `in_doubt:${tool}`, phase: "execution" };
  if (answer.status !== "done") return stopOfRefusal(answer, tool);
  const { result } = answer;
  return typeof result === "string" && isUnstorableResult(result)
    ? { stop_reason: `tool_bad_result:${tool}`, phase: "execution" }
    : undefined;
}

/** Stops that would recur for every other proposal, so they end the run even with `onRefusal: "continue"`. */
function endsTheRun({ stop_reason }: RunStop): boolean {
  return stop_reason === "stopped" || /^(?:in_doubt|tool_bad_result|tool_missing):/.test(stop_reason);
}

type Performed = { readonly stop: RunStop | undefined; readonly answer: string };

async function performProposal(run: SuperviseRun, proposal: ModelProposal): Promise<Performed> {
  const { gated, final } = run.worker.tools;
  if (proposal.kind === "final") {
    const answer = await callProposed(run, final, { answer: proposal.answer });
    const result = isStop(answer) || answer.status !== "done" ? null : answer.result;
    const said = isJsonObject(result) ? String(result["answer"]) : "";
    return { stop: stopOfAnswer(answer, FINAL_TOOL), answer: said };
  }
  const tool = gated.get(proposal.name);
  // The process that proposed the call had this tool; the process that took over does not.
  if (tool === undefined)
    return { stop: { stop_reason: `tool_missing:${proposal.name}`, phase: "execution" }, answer: "" };
  return { stop: stopOfAnswer(await callProposed(run, tool, proposal.args), proposal.name), answer: "" };
}

/** Runs one step. Returns the run's end if this was the last step. */
async function runStep(run: SuperviseRun): Promise<RunEnd | undefined> {
  const isPatient = run.input.onRefusal === "continue";
  const turn = await askUntilTurn(run, PROPOSE_STEP);
  const proposal = proposalOf(turn, "worker");
  if ("status" in proposal) return isPatient && turn.kind === "invalid" ? undefined : proposal;
  const { stop, answer } = await performProposal(run, proposal);
  if (stop !== undefined) return isPatient && !endsTheRun(stop) ? undefined : stoppedBecause(stop);
  return proposal.kind === "final" ? { status: "ok", stop_reason: "success", answer } : undefined;
}

/** The step limit is reached: request a final answer anyway and have it reviewed. */
async function finalize(run: SuperviseRun): Promise<RunEnd> {
  const proposal = proposalOf(await askUntilTurn(run, FINALIZE_STEP), "finalize");
  if ("status" in proposal) return proposal;
  const { stop, answer } = await performProposal(run, proposal);
  if (stop !== undefined) return stoppedBecause(stop);
  return { status: "ok", stop_reason: "max_steps", answer };
}

export async function superviseLoop(run: SuperviseRun): Promise<RunEnd> {
  for (let done = 0; done < run.input.limits.steps; done++) {
    const end = await runStep(run);
    if (end !== undefined) return end;
  }
  return finalize(run);
}
