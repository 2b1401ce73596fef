/**
 * The definition behind `hp.supervise`: the model proposes, the workflow performs.
 *
 * L1. Whatever depends on more than recorded answers (the prompt, the time that is left, the model) is inside a step, so a
 *     replay asks for the same operations.
 * L2. Nothing runs that did not go through a gated call; the final answer is one.
 */

import { FINAL_PROMPT, finalPrompt, WORKER_PROMPT, workerPrompt } from "../../core/supervise/prompt.ts";
import type { Proposal } from "../../core/supervise/proposal.ts";
import { stopOf } from "../../core/supervise/refusal-stop.ts";
import type { RunEnd } from "../../core/supervise/result.ts";
import { isUnkept } from "../../core/supervise/rows.ts";
import type { Phase, Stop, StopReason } from "../../core/supervise/stop-reason.ts";
import {
  FINAL_TOOL,
  FINALIZE,
  failureStop,
  isWorthAnotherTry,
  PROPOSE,
  type Turn,
} from "../../core/supervise/turn.ts";
import type { Answer } from "../../effects/execute.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import { isJsonObject } from "../../kernel/json.ts";
import type { Model } from "../../models/model.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { WorkflowContext } from "../../workflows/definition.ts";
import { stoppedBy } from "../../workflows/run/runnable.ts";

import { askModel, type Question } from "./ask-model.ts";
import type { SuperviseInput } from "./options.ts";
import { readRun } from "./read-run.ts";
import type { AnyGated, Tools } from "./tools.ts";

export type Worker = {
  readonly runtime: Runtime;
  readonly model: Model;
  readonly tools: Tools;
  readonly system: string | undefined;
  readonly finalSystem: string | undefined;
  readonly maxOutputTokens: number | undefined;
  readonly agent: string | undefined;
};

export type Run = { readonly worker: Worker; readonly ctx: WorkflowContext; readonly input: SuperviseInput };
type Asked = typeof PROPOSE | typeof FINALIZE;

const ATTEMPTS = 4;
const BACK_OFF_MS = 1_000;
const LONGEST_WAIT_MS = 3_600_000;
const JITTER = 0.25;

const stopped = (stop_reason: StopReason, phase: Phase): RunEnd => ({
  status: "stopped",
  stop_reason,
  phase,
});
const stoppedAt = ({ stop_reason, phase }: Stop): RunEnd => stopped(stop_reason, phase);

async function questionOf({ worker, ctx, input }: Run, asked: Asked): Promise<Question | Turn> {
  const by = await stoppedBy(worker.runtime, worker.agent, ctx.workflow);
  if (by !== undefined) return { kind: "stopped", by };
  const { spentMs, history } = await readRun(worker.runtime, ctx.workflow);
  const { maxOutputTokens } = worker;
  const most = maxOutputTokens === undefined ? {} : { maxOutputTokens };
  if (asked === FINALIZE)
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

function ask(run: Run, asked: Asked): Promise<Turn> {
  const { runtime, model, tools } = run.worker;
  // What the model does not do comes back as a turn; only a store in trouble throws.
  return run.ctx.step(asked, { retries: { attempts: 5 } }, async ({ signal }) => {
    const question = await questionOf(run, asked);
    if ("kind" in question) return question;
    return askModel({ runtime, model, signal }, question, tools.catalogue);
  });
}

/** Before another try: doubled each time, some of it left to chance, and never earlier than the provider asks for. */
function waitBefore({ ctx }: Run, attempt: number, retryAfterMs: number | null): number {
  const full = BACK_OFF_MS * 2 ** (attempt - 1);
  const own = full * (1 + JITTER * ctx.random());
  return Math.round(Math.min(Math.max(own, retryAfterMs ?? 0), LONGEST_WAIT_MS));
}

/** A turn of the model, however often it has to be asked. */
async function turnOf(run: Run, asked: Asked): Promise<Turn> {
  for (let attempt = 1; ; attempt++) {
    const turn = await ask(run, asked);
    if (turn.kind !== "failed" || !isWorthAnotherTry(turn.failure) || attempt >= ATTEMPTS) return turn;
    await run.ctx.sleep(waitBefore(run, attempt, turn.retryAfterMs));
  }
}

function proposalOf(turn: Turn, phase: Phase): Proposal | RunEnd {
  switch (turn.kind) {
    case "proposed":
      return turn.proposal;
    case "invalid":
      return stopped(turn.stop_reason, phase);
    case "failed":
      return stopped(failureStop(turn.failure), phase);
    case "out_of_time":
      return { status: "stopped", stop_reason: "max_seconds" };
    case "stopped":
      return stopped("stopped", phase);
  }
}

/** What is wrong with the arguments; a policy that cannot be used, or a store in trouble, is not the model's fault. */
const UNFIT: ReadonlySet<string> = new Set([
  "invalid_args",
  "invalid_json",
  "invalid_input",
  "payload_too_large",
  "reserved_key",
  "secret_missing",
  "secret_transformed",
]);

async function call(
  { ctx, input, worker }: Run,
  tool: AnyGated,
  args: unknown,
): Promise<Answer<unknown> | Stop> {
  const { agent } = worker;
  const options = {
    continueInDoubt: input.onDoubt === "stop",
    ...(agent === undefined ? {} : { agent }),
  };
  try {
    return await ctx.call(tool, args, options);
  } catch (error) {
    if (!isHoldpointError(error) || !UNFIT.has(error.code)) throw error;
    return { stop_reason: `tool_bad_args:${tool.toolName}`, phase: "execution" };
  }
}

const isStop = (answer: Answer<unknown> | Stop): answer is Stop => "stop_reason" in answer;

/** What a call that did not do what it should means; undefined when it did. */
function stopOfAnswer(answer: Answer<unknown> | Stop, tool: string): Stop | undefined {
  if (isStop(answer)) return answer;
  if (answer.executed === "in_doubt") return { stop_reason: `in_doubt:${tool}`, phase: "execution" };
  if (answer.executed === false) return stopOf(answer, tool);
  const { result } = answer;
  return typeof result === "string" && isUnkept(result)
    ? { stop_reason: `tool_bad_result:${tool}`, phase: "execution" }
    : undefined;
}

/** These would say the same to every other proposal. */
function endsTheRun({ stop_reason }: Stop): boolean {
  return stop_reason === "stopped" || /^(?:in_doubt|tool_bad_result|tool_missing):/.test(stop_reason);
}

type Performed = { readonly stop: Stop | undefined; readonly answer: string };

async function perform(run: Run, proposal: Proposal): Promise<Performed> {
  const { gated, final } = run.worker.tools;
  if (proposal.kind === "final") {
    const answer = await call(run, final, { answer: proposal.answer });
    const result = isStop(answer) || answer.executed !== true ? null : answer.result;
    const said = isJsonObject(result) ? String(result["answer"]) : "";
    return { stop: stopOfAnswer(answer, FINAL_TOOL), answer: said };
  }
  const tool = gated.get(proposal.name);
  // Proposed where it was known, and taken up by a process that does not have it.
  if (tool === undefined)
    return { stop: { stop_reason: `tool_missing:${proposal.name}`, phase: "execution" }, answer: "" };
  return { stop: stopOfAnswer(await call(run, tool, proposal.args), proposal.name), answer: "" };
}

/** One step; its end if it was the last. */
async function step(run: Run): Promise<RunEnd | undefined> {
  const isPatient = run.input.onRefusal === "continue";
  const turn = await turnOf(run, PROPOSE);
  const proposal = proposalOf(turn, "worker");
  if ("status" in proposal) return isPatient && turn.kind === "invalid" ? undefined : proposal;
  const { stop, answer } = await perform(run, proposal);
  if (stop !== undefined) return isPatient && !endsTheRun(stop) ? undefined : stoppedAt(stop);
  return proposal.kind === "final" ? { status: "ok", stop_reason: "success", answer } : undefined;
}

/** The steps are used up: an answer is asked for all the same, and reviewed. */
async function finalize(run: Run): Promise<RunEnd> {
  const proposal = proposalOf(await turnOf(run, FINALIZE), "finalize");
  if ("status" in proposal) return proposal;
  const { stop, answer } = await perform(run, proposal);
  if (stop !== undefined) return stoppedAt(stop);
  return { status: "ok", stop_reason: "max_steps", answer };
}

export async function superviseLoop(run: Run): Promise<RunEnd> {
  for (let done = 0; done < run.input.limits.steps; done++) {
    const end = await step(run);
    if (end !== undefined) return end;
  }
  return finalize(run);
}
