/**
 * Performs a started effect: runs the tool with the stored arguments and writes down what became of it.
 *
 * F1. Nothing is sent unless this process's epoch may still run at that moment, nor again once its key may be forgotten.
 * F2. What came back is recorded however often the store has to be asked; it is never dropped.
 * F3. An error proves nothing unless the tool says so: by class it is sent again, probed, or in doubt.
 */
import { type OutcomeAnswer, type Report, recordOutcome } from "../core/action/outcome.ts";
import { isForgotten, isSentAgain, type RetryAnswer, retryOwn } from "../core/action/recover.ts";
import { effectOf } from "../core/action/start.ts";
import type { ActionIn, LiveAction } from "../core/action/state.ts";
import { isHoldpointError } from "../core/errors.ts";
import { actionStream } from "../core/stream.ts";
import { attempt, type Call } from "./attempt.ts";
import { stopwatch } from "./clock.ts";
import { loadValue, readState, readStateAt } from "./read-state.ts";
import { runCommand } from "./run-command.ts";
import type { Epoch, Runtime } from "./runtime.ts";
import type { Tool } from "./tool.ts";

const BACK_OFF_MS = 100;
const LONGEST_BACK_OFF_MS = 5_000;

const backOff = (runtime: Runtime, tries: number): Promise<void> => {
  const jitter = (runtime.random(1)[0] ?? 0) / 255;
  const ms = Math.min(BACK_OFF_MS * 2 ** Math.min(tries, 10), LONGEST_BACK_OFF_MS);
  return runtime.clock.sleep(ms * (0.5 + jitter / 2), runtime.closing);
};

/** Asks until the store has answered; gives up only when this instance closes. */
async function persist<Answer>(
  runtime: Runtime,
  action: string,
  write: () => Promise<Answer>,
): Promise<Answer> {
  for (let tries = 0; ; tries++) {
    try {
      return await write();
    } catch (error) {
      if (!(isHoldpointError(error) && error.retryable) || runtime.closing.aborted) throw error;
      runtime.notify({ kind: "outcome_unrecorded", effect: effectOf(action), error });
      await backOff(runtime, tries);
    }
  }
}

async function record(
  runtime: Runtime,
  action: string,
  state: ActionIn<"running">,
  report: Report,
): Promise<OutcomeAnswer> {
  await runtime.reach("before_outcome");
  const command = { action, epoch: state.effect.epoch, attempt: state.effect.attempt, report };
  const answer = await persist(runtime, action, () =>
    runCommand(runtime, { write: [actionStream(action)] }, (draft) => recordOutcome(draft, command)),
  );
  await runtime.reach("after_outcome");
  return answer;
}

type Failure = { readonly state: ActionIn<"running">; readonly tries: number; readonly reason: string };

function tryAgain(
  runtime: Runtime,
  tool: Tool,
  action: string,
  { state, reason }: Failure,
): Promise<RetryAnswer> {
  const { epoch, attempt: number } = state.effect;
  const known = { keyRetentionMs: tool.rules.keyRetentionMs };
  const command = { action, epoch, attempt: number, reason, tool: known };
  return persist(runtime, action, () =>
    runCommand(runtime, { write: [actionStream(action)] }, (draft) => retryOwn(draft, command)),
  );
}

/** After an attempt that failed without proof. */
async function afterFailure(
  runtime: Runtime,
  tool: Tool,
  action: string,
  failed: Failure,
): Promise<OutcomeAnswer> {
  const { state, tries, reason } = failed;
  if (tries >= tool.attempts || runtime.closing.aborted) {
    const status = state.effectClass === "read" ? "not_applied" : "in_doubt";
    return record(runtime, action, state, { status, reason });
  }
  if (isSentAgain(state.effectClass)) await backOff(runtime, tries);
  const answer = await tryAgain(runtime, tool, action, failed);
  if (answer.kind === "left") return { kind: "late", state: await currentState(runtime, action) };
  return { kind: "recorded", state: answer.state };
}

async function currentState(runtime: Runtime, action: string): Promise<LiveAction> {
  return (await readState(runtime, actionStream(action))) as LiveAction;
}

/** Sends it, and writes down what became of it. */
async function sendOnce(runtime: Runtime, tool: Tool, call: Call, tries: number): Promise<OutcomeAnswer> {
  const { action, state } = call;
  const name = attemptName(call);
  runtime.sent.add(name);
  const report = await attempt(runtime, tool, call);
  await runtime.reach("after_send");
  const written: OutcomeAnswer =
    report.status === "failed"
      ? await afterFailure(runtime, tool, action, { state, tries, reason: report.reason })
      : await record(runtime, action, state, report);
  // Too late to say so: it was sent all the same, and is for others to take over.
  if (written.kind === "recorded") runtime.sent.delete(name);
  return written;
}

const attemptName = ({ action, state }: Pick<Call, "action" | "state">): string =>
  `${action}#${state.effect.attempt}`;

async function attempts(runtime: Runtime, tool: Tool, action: string, epoch: Epoch): Promise<LiveAction> {
  for (let tries = 1; ; tries++) {
    const age = stopwatch(runtime.clock);
    const { state, now } = await readStateAt(runtime, actionStream(action));
    if (state.phase === "none") throw new TypeError(`the action ${action} does not exist`);
    if (state.phase !== "running" || state.effect.epoch !== epoch.id) return state;
    const args = await loadValue(runtime, state.args);
    await runtime.reach("before_send");
    if (!epoch.mayRun() || runtime.sent.has(attemptName({ action, state }))) return state;
    if (state.effect.attempt > 1 && isForgotten(state, now + age(), tool.rules.keyRetentionMs)) {
      const reason = "the receiver may have forgotten the key before it could be sent again";
      return (await record(runtime, action, state, { status: "in_doubt", reason })).state;
    }
    const written = await sendOnce(runtime, tool, { action, state, args }, tries);
    if (written.kind === "late" || written.state.phase !== "running") return written.state;
  }
}

/**
 * Performs an effect that this process has started or taken over; answers the action as it then stands. An attempt that
 * may have been sent is not sent again: if its outcome could not be written down, the next life finds it in doubt.
 */
export async function perform(runtime: Runtime, tool: Tool, action: string): Promise<LiveAction> {
  if (runtime.performing.has(action)) return currentState(runtime, action);
  runtime.performing.add(action);
  try {
    const state = await attempts(runtime, tool, action, await runtime.epoch());
    if (state.phase === "in_doubt") {
      runtime.notify({
        kind: "in_doubt",
        action,
        effect: state.effect.id,
        tool: state.tool,
        reason: state.outcome.reason,
      });
    }
    return state;
  } finally {
    runtime.performing.delete(action);
  }
}
