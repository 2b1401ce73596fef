/**
 * `ctx.step`: work of the definition's own, whose result is recorded once.
 * A plain step may run again after a crash, until its result is recorded. A step with an approval, an undo, an effect
 * class or `args` is a gated action, and runs like one.
 */

import { loadAnswer } from "../../effects/answer.ts";
import { plainJson } from "../../effects/arguments.ts";
import { captureContext, effectFrame, insideFunction, type StepFrame } from "../../effects/call-context.ts";
import { defineTool } from "../../effects/define-tool.ts";
import { resultJson } from "../../effects/run-tool.ts";
import type { Tool, ToolContext } from "../../effects/tool.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import { sleepFor } from "../../kernel/clock.ts";
import { checkFields, isPlainObject, rejectInput } from "../../kernel/fields.ts";
import type { Json } from "../../kernel/json.ts";
import type { RefusalCode } from "../../kernel/refusals.ts";
import { displayValue } from "../../kernel/text.ts";
import { loadValue } from "../../runtime/store-access.ts";
import type { Retries, StepContext, StepOptions } from "../definition.ts";
import type { RecordedOp, Settlement } from "../rules/operations.ts";
import { underWorkflowPolicy } from "../workflow-policy.ts";
import { checkFlags, inCaller, placeAndRun, settledCallAnswer } from "./call.ts";
import { askOperation, type Branch, checkName } from "./operation.ts";
import {
  askedOperation,
  errorWithoutSecrets,
  noteSecrets,
  recordFact,
  type WorkflowRun,
  withoutSecrets,
} from "./run.ts";
import { HELD_RECHECK_MS, stoppedBy } from "./runnable.ts";

/** Thrown into the definition when a step has failed for good. */
export class StepFailed extends Error {
  override readonly name = "StepFailed";
  readonly code = "step_failed";
  readonly attempts: number;

  constructor(message: string, attempts: number) {
    super(message);
    this.attempts = attempts;
  }
}

/** Thrown into the definition when a gated step was not run. */
export class StepRefused extends Error {
  override readonly name = "StepRefused";
  readonly code = "step_refused";
  /** Code of the refusal: `blocked`, `rejected`, `not_applied` and so on. */
  readonly refusal: RefusalCode;

  constructor(message: string, refusal: RefusalCode) {
    super(message);
    this.refusal = refusal;
  }
}

type StepCall = {
  readonly name: string;
  readonly options: StepOptions<unknown>;
  readonly run: (context: StepContext) => unknown;
};

const FIELDS = ["retries", "timeoutMs", "approvalRequired", "rollbackEnabled", "undo", "args", "effect"];
const RETRIES = ["attempts", "backOffMs", "longestBackOffMs", "jitter"];
const FUTURE_FIELDS = ["sandbox", "trace", "budget"];

const isWhole = (value: number, least: number) => Number.isSafeInteger(value) && value >= least;

function areRetries(retries: Retries): boolean {
  if (!isPlainObject(retries)) return false;
  const { attempts = 1, backOffMs = 0, longestBackOffMs = 0, jitter = 0 } = retries;
  const isShare = typeof jitter === "number" && jitter >= 0 && jitter <= 1;
  return isWhole(attempts, 1) && isWhole(backOffMs, 0) && isWhole(longestBackOffMs, 0) && isShare;
}

function checkStep({ name, options, run }: StepCall): void {
  checkName("step", name);
  if (typeof run !== "function") rejectInput(`The step "${name}" has no function to run.`);
  const later = FUTURE_FIELDS.find((field) => Object.hasOwn(options, field));
  if (later !== undefined) rejectInput(`The step "${name}" asks for "${later}", which is not there yet.`);
  checkFields(`The step "${name}"`, options, FIELDS);
  checkFlags(`The step "${name}"`, options, ["approvalRequired", "rollbackEnabled"]);
  const { retries, timeoutMs, undo } = options;
  if (isPlainObject(retries)) checkFields(`The step "${name}", "retries"`, retries, RETRIES);
  if (retries !== undefined && !areRetries(retries))
    rejectInput(
      `The step "${name}" has retries that are not { attempts ≥ 1, backOffMs ≥ 0, longestBackOffMs, jitter 0…1 }.`,
    );
  if (timeoutMs !== undefined && !isWhole(timeoutMs, 1))
    rejectInput(`The step "${name}" has timeoutMs that is not a whole number of at least 1.`);
  if (undo !== undefined && typeof undo !== "function")
    rejectInput(`The step "${name}" has an undo that is not a function.`);
}

/** `(name, run)` or `(name, options, run)`. The options are read once, here. */
export function readStep(name: string, first: unknown, second: unknown): StepCall {
  const [given, run] = second === undefined ? [{}, first] : [first ?? {}, second];
  if (!isPlainObject(given)) rejectInput(`The options of the step "${displayValue(name)}" are an object.`);
  return { name, options: { ...given }, run: run as StepCall["run"] };
}

async function attemptStep(run: WorkflowRun, op: string, step: StepCall, attempt: number): Promise<unknown> {
  const over = new AbortController();
  const stop = () => over.abort();
  run.over.signal.addEventListener("abort", stop, { once: true });
  try {
    return await withinTime(run, op, step, { attempt, over });
  } finally {
    run.over.signal.removeEventListener("abort", stop);
  }
}

type StepAttempt = { readonly attempt: number; readonly over: AbortController };

async function withinTime(
  run: WorkflowRun,
  op: string,
  step: StepCall,
  { attempt, over }: StepAttempt,
): Promise<unknown> {
  const context = { attempt, signal: over.signal, idempotencyKey: op, args: {} };
  const { timeoutMs } = step.options;
  const frame: StepFrame = {
    kind: "step",
    instance: run.runtime.tools,
    workflow: run.id,
    step: step.name,
    attempt,
    idempotencyKey: op,
    isOver: false,
  };
  const ran = () => insideFunction(frame, async () => step.run(context));
  if (timeoutMs === undefined) return ran();
  const late = sleepFor(run.runtime.clock, timeoutMs, over.signal).then(() => {
    if (over.signal.aborted) return undefined;
    throw new Error(`no answer within ${timeoutMs} ms`);
  });
  return Promise.race([ran(), late]).finally(() => over.abort());
}

/** Back-off after this many attempts. `chance` is 0 to 1. */
function pauseAfter(retries: Retries, attempt: number, chance: number): number {
  const { backOffMs = 1_000, longestBackOffMs = 60_000, jitter = 0.2 } = retries;
  const full = Math.min(backOffMs * 2 ** Math.min(attempt - 1, 30), longestBackOffMs);
  return Math.round(full * (1 - jitter * chance));
}

/** A wait up to this length is waited out here; a longer one releases the workflow. */
const SHORT_WAIT_MS = 1_000;

async function failed(
  run: WorkflowRun,
  op: string,
  step: StepCall,
  { attempt, error }: { attempt: number; error: string },
): Promise<void> {
  const { retries = {} } = step.options;
  if (attempt >= (retries.attempts ?? 1)) {
    await recordFact(run, "step.failed", { op, error, attempts: attempt });
    return;
  }
  const waitMs = pauseAfter(retries, attempt, (run.runtime.random(1)[0] ?? 0) / 255);
  await recordFact(run, "step.retried", ({ now }) => ({ op, attempt, error, retryAt: now + waitMs }));
  if (!run.turned) await runStep(run, op, step);
}

async function runStep(run: WorkflowRun, op: string, step: StepCall): Promise<void> {
  const record = askedOperation(run, op);
  const known = record === undefined ? undefined : run.table.ops.get(record.key);
  const attempt = (known?.retries ?? 0) + 1;
  const left = (known?.retryAt ?? 0) - run.runtime.clock.now();
  if (left > SHORT_WAIT_MS && record !== undefined) {
    run.waits.set(record.key, { op, kind: "retry", on: step.name, until: known?.retryAt ?? null });
    return;
  }
  if (left > 0) await run.runtime.clock.sleep(left, run.runtime.closing);
  const held = await stoppedBy(run.runtime, run.definition.agent, run.id);
  if (run.turned || run.runtime.closing.aborted) return;
  if (held !== undefined && record !== undefined && run.definition.givesUpHeld !== true) {
    const until = run.runtime.clock.now() + HELD_RECHECK_MS;
    run.waits.set(record.key, { op, kind: "held", on: held, until });
    return;
  }
  let result: Json;
  try {
    result = await withoutSecrets(run, resultJson(await attemptStep(run, op, step, attempt)));
  } catch (error) {
    // Interrupted by closing, it has not failed: the next process runs it again.
    if (run.runtime.closing.aborted) return;
    return failed(run, op, step, { attempt, error: await errorWithoutSecrets(run, error) });
  }
  await recordFact(run, "step.completed", (draft) => ({ op, result: draft.keep(result), attempts: attempt }));
}

async function stepValue(run: WorkflowRun, name: string, settlement: Settlement): Promise<unknown> {
  if (settlement.kind === "value") return structuredClone(await loadValue(run.runtime, settlement.value));
  if (settlement.kind === "failed")
    throw new StepFailed(
      `The step "${name}" failed after ${settlement.attempts} attempts: ${settlement.error}`,
      settlement.attempts,
    );
  throw new TypeError("a step settled as something else");
}

function stepContext(args: Json, { attempt, signal, idempotencyKey }: ToolContext): StepContext {
  return { attempt, signal, idempotencyKey, args };
}

/** The tool that represents a gated step: for this run only, since its function closes over the run's own values. */
function stepTool(run: WorkflowRun, { name, options, run: work }: StepCall): Tool {
  const plain = `${run.definition.name}.${name}`.replaceAll(/[^A-Za-z0-9_.:-]/g, "_").slice(0, 120);
  const { undo, timeoutMs, retries } = options;
  const tool = defineTool<Json, unknown>({
    name: /^[A-Za-z]/.test(plain) ? plain : `step.${plain}`.slice(0, 120),
    effect: options.effect ?? "once",
    policy: options.approvalRequired === true ? "escalate" : "approve",
    attempts: retries?.attempts ?? 1,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(undo === undefined
      ? {}
      : {
          undo: (args: Json, result: unknown, context: ToolContext) =>
            undo(result, stepContext(args, context)),
        }),
    run: (args, context) =>
      insideFunction({ ...effectFrame(run.runtime.tools, context, run.id), step: name }, async () =>
        work(stepContext(args, context)),
      ),
  });
  const paced =
    retries === undefined
      ? tool
      : { ...tool, pauseMs: (tries: number, chance: number) => pauseAfter(retries, tries, chance) };
  return underWorkflowPolicy(paced, run.definition.options.policy);
}

const isGated = ({ approvalRequired, undo, effect, args }: StepOptions<unknown>): boolean =>
  approvalRequired === true || undo !== undefined || effect !== undefined || args !== undefined;

function gatedStep(run: WorkflowRun, branch: Branch, step: StepCall): Promise<unknown> {
  const { name, options } = step;
  const tool = inCaller(stepTool(run, step));
  const args = plainJson(options.args ?? {});
  const digest = digestOf(args);
  noteSecrets(run, args);
  const { rollbackEnabled } = options;
  const call = { tool, args, options: rollbackEnabled === undefined ? {} : { rollbackEnabled } };
  return askOperation(run, branch, {
    kind: "call",
    name,
    differs: (record) =>
      record.body["argsDigest"] === digest
        ? undefined
        : `the arguments of "${record.key}" are not the recorded ones`,
    asked: (op) => void run.undos.set(op, tool),
    start: (op, record) => placeAndRun(run, op, call, record),
    read: async (settlement) => {
      const answer = await loadAnswer(run.runtime, settledCallAnswer(settlement));
      if (answer.status === "done") return answer.result;
      if (answer.status === "in_doubt") throw new TypeError("a step in doubt settled as something else");
      throw new StepRefused(`The step "${name}" was not run: ${answer.reason}`, answer.code);
    },
  });
}

export function runAsStep(run: WorkflowRun, branch: Branch, step: StepCall): Promise<unknown> {
  checkStep(step);
  if (isGated(step.options)) return gatedStep(run, branch, step);
  const inContext = captureContext();
  const placed = { ...step, run: (context: StepContext) => inContext(() => step.run(context)) };
  return askOperation(run, branch, {
    kind: "step",
    name: step.name,
    start: (op: string, _record: RecordedOp | null) => runStep(run, op, placed),
    read: (settlement) => stepValue(run, step.name, settlement),
  });
}
