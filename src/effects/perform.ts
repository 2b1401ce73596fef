/**
 * Performs a started effect: runs the tool with the stored arguments and records the outcome.
 *
 * - Before each send, check: epoch still valid, no kill switch, before `execute_by`, and on a retry: key not expired.
 *   The start checked the switches; they are checked again unless the send follows at once. Secrets and large values
 *   are loaded before that check.
 * - The tool's answer is never dropped: recording it is retried until the store accepts it.
 * - An error proves nothing unless the tool says so. By class, the effect is sent again, probed, or in doubt.
 */

import { stopwatch } from "../kernel/clock.ts";
import { HoldpointError, isHoldpointError } from "../kernel/errors.ts";
import { isArtifactRef } from "../kernel/stored-value.ts";
import { actionStream, epochStream } from "../kernel/stream.ts";
import { errorText } from "../kernel/text.ts";
import { readOwnTenant } from "../people/tenants/stream.ts";
import type { Epoch, Runtime } from "../runtime/runtime.ts";
import { hasStoredSecrets, resolveLocalSecrets, resolveSecrets } from "../runtime/secrets.ts";
import { loadArgs, readState, runCommand } from "../runtime/store-access.ts";
import { type EffectReport, type OutcomeAnswer, recordOutcome, settledStreams } from "./rules/outcome.ts";
import {
  admitSend,
  isForgotten,
  isSentAgain,
  type RetryAnswer,
  retryOwn,
  type SendAnswer,
  type SendCommand,
} from "./rules/recover.ts";
import { effectIdOf, isTooLate, TOO_LATE } from "./rules/start.ts";
import { type AttemptCall, type AttemptFailed, attempt } from "./run-tool.ts";
import type { ActionIn, LiveAction } from "./state.ts";
import type { Tool } from "./tool.ts";

const BACK_OFF_MS = 100;
const LONGEST_BACK_OFF_MS = 5_000;

function pauseMs(tries: number, chance: number): number {
  const ms = Math.min(BACK_OFF_MS * 2 ** Math.min(tries, 10), LONGEST_BACK_OFF_MS);
  return ms * (0.5 + chance / 2);
}

const backOff = (runtime: Runtime, tries: number, pause = pauseMs): Promise<void> => {
  const chance = (runtime.random(1)[0] ?? 0) / 255;
  return runtime.clock.sleep(pause(tries, chance), runtime.closing);
};

/** Retries until the store has answered. Gives up only when this instance closes. */
async function persist<Answer>(
  runtime: Runtime,
  tell: (error: unknown) => void,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  for (let tries = 0; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (!(isHoldpointError(error) && error.retryable) || runtime.closing.aborted) throw error;
      tell(error);
      await backOff(runtime, tries);
    }
  }
}

const unrecorded = (runtime: Runtime, action: string) => (error: unknown) =>
  runtime.notify({ kind: "outcome_unrecorded", effect: effectIdOf(action), error });

type Sent = Pick<AttemptCall, "action" | "state">;

/** Locks what the rules will need: the started effect names its budgets and its grant. */
function recording(
  runtime: Runtime,
  { action, state: { effect } }: Sent,
  report: EffectReport,
): Promise<OutcomeAnswer> {
  const { epoch, attempt: number } = effect;
  const needs = { write: [actionStream(action), ...settledStreams(effect)], read: [epochStream(epoch)] };
  return runCommand(runtime, needs, (draft) =>
    recordOutcome(draft, { action, epoch, attempt: number, report }),
  );
}

async function record(
  runtime: Runtime,
  action: string,
  state: ActionIn<"running">,
  report: EffectReport,
): Promise<OutcomeAnswer> {
  await runtime.reach("before_outcome");
  const answer = await persist(runtime, unrecorded(runtime, action), () =>
    recording(runtime, { action, state }, report),
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
  return persist(runtime, unrecorded(runtime, action), () =>
    runCommand(runtime, { write: [actionStream(action)] }, (draft) => retryOwn(draft, command)),
  );
}

/** No process starts anything in a closed tenant. If the store does not answer, the tenant counts as open. */
async function hasSuccessors(runtime: Runtime): Promise<boolean> {
  const standing = await readState(runtime, readOwnTenant(runtime)).catch(() => null);
  return standing?.status !== "closed";
}

/** After an attempt that failed without proof. */
async function afterFailure(
  runtime: Runtime,
  tool: Tool,
  action: string,
  failed: Failure,
): Promise<OutcomeAnswer> {
  const { state, tries, reason } = failed;
  const isRepeated = isSentAgain(state.effectClass) && tries < tool.attempts;
  if (isRepeated) await backOff(runtime, tries, tool.pauseMs);
  // That this process stops says nothing about the effect: the process that takes over sends it again.
  if (isRepeated && runtime.closing.aborted && (await hasSuccessors(runtime))) return { kind: "late", state };
  if (tries >= tool.attempts || runtime.closing.aborted) {
    const status = state.effectClass === "read" ? "not_applied" : "in_doubt";
    return record(runtime, action, state, { status, reason });
  }
  const answer = await tryAgain(runtime, tool, action, failed);
  if (answer.kind === "left") return { kind: "late", state: await currentState(runtime, action) };
  return { kind: "recorded", state: answer.state };
}

async function currentState(runtime: Runtime, action: string): Promise<LiveAction> {
  return (await readState(runtime, actionStream(action))) as LiveAction;
}

const attemptName = ({ action, state }: Sent): string => `${action}#${state.effect.attempt}`;

/** Waits for a run that has timed out and records its outcome, as testimony if need be. */
async function hearOut(
  runtime: Runtime,
  tool: Tool,
  call: AttemptCall,
  late: Promise<EffectReport | AttemptFailed>,
): Promise<void> {
  const { action } = call;
  const name = attemptName(call);
  runtime.overdue.set(name, null);
  const report = await late;
  const isInDoubt = (await currentState(runtime, action)).phase === "in_doubt";
  if (tool.verify === null || !isInDoubt) runtime.overdue.delete(name);
  else runtime.overdue.set(name, stopwatch(runtime.clock));
  if (report.status === "failed") return;
  const written = await persist(runtime, unrecorded(runtime, action), () => recording(runtime, call, report));
  if (written.kind === "recorded") runtime.sent.delete(name);
}

/** Adds what was committed to a store error, which only says what was not. */
function saying(error: unknown, data: string): unknown {
  if (!isHoldpointError(error)) return error;
  const next = "Call again with the same request id: what is there is found, not repeated.";
  return new HoldpointError(error.code, error.what, { data, next, details: error.details, cause: error });
}

/** The outcome cannot be recorded as it is. Records at least that the effect was sent. */
async function doubtAfterAll(runtime: Runtime, call: AttemptCall, error: unknown): Promise<OutcomeAnswer> {
  const reason = `its outcome could not be recorded: ${errorText(error)}`;
  return recording(runtime, call, { status: "in_doubt", reason }).catch(() => {
    throw saying(error, "The effect was sent; its outcome is not recorded yet.");
  });
}

/** Sends the effect and records its outcome. */
async function sendOnce(
  runtime: Runtime,
  tool: Tool,
  call: AttemptCall,
  tries: number,
): Promise<OutcomeAnswer> {
  const { action, state } = call;
  const name = attemptName(call);
  runtime.sent.add(name);
  const send = async (): Promise<OutcomeAnswer> => {
    const report = await attempt(runtime, tool, call);
    if (report.status === "failed" && report.late !== null)
      void hearOut(runtime, tool, call, report.late).catch(failing(runtime));
    await runtime.reach("after_send");
    return report.status === "failed"
      ? await afterFailure(runtime, tool, action, { state, tries, reason: report.reason })
      : await record(runtime, action, state, report);
  };
  const written = await send().catch((error: unknown) => doubtAfterAll(runtime, call, error));
  // A late outcome keeps the mark: the effect was sent, and another process takes it over.
  if (written.kind === "recorded") runtime.sent.delete(name);
  return written;
}

const failing = (runtime: Runtime) => (error: unknown) => {
  if (!runtime.closing.aborted) runtime.notify({ kind: "maintenance_failed", error });
};

/** Retries until the store answers. The start is committed, so an error now would contradict the record. */
async function beforeSend<Answer>(runtime: Runtime, ask: () => Promise<Answer>): Promise<Answer> {
  return persist(runtime, failing(runtime), ask).catch((error: unknown) => {
    throw saying(error, "The effect was started and nothing was sent.");
  });
}

type Ready =
  | { readonly kind: "send"; readonly call: AttemptCall; readonly now: () => number }
  | { readonly kind: "left"; readonly state: LiveAction };

/** Checks whether it may still be sent. `now` is the store's time; `age` is the time since. */
function admit(runtime: Runtime, command: SendCommand): Promise<SendAnswer & { readonly age: () => number }> {
  return beforeSend(runtime, async () => {
    const age = stopwatch(runtime.clock);
    const answer = await runCommand(runtime, { read: [actionStream(command.action)] }, (draft) =>
      admitSend(draft, command),
    );
    return { ...answer, age };
  });
}

/** Loads arguments and secrets. A text says why they cannot be loaded. */
async function bring(
  runtime: Runtime,
  state: ActionIn<"running">,
): Promise<Pick<AttemptCall, "args" | "known"> | string> {
  let what = "its arguments cannot be read: ";
  try {
    const args = await beforeSend(runtime, () => loadArgs(runtime, state));
    what = "";
    return { args, known: await beforeSend(runtime, () => resolveSecrets(runtime.secrets, args)) };
  } catch (error) {
    if (isHoldpointError(error) && error.retryable) throw error;
    return `${what}${errorText(error)}`;
  }
}

async function readied(runtime: Runtime, command: SendCommand): Promise<Ready> {
  const { action } = command;
  const first = await admit(runtime, command);
  if (first.kind === "left") return first;
  const { state } = first;
  const brought = await bring(runtime, state);
  if (typeof brought === "string") {
    const report = { status: "not_applied", reason: brought } as const;
    return { kind: "left", state: (await record(runtime, action, state, report)).state };
  }
  // Loading from the store may have taken long.
  const isSlow = isArtifactRef(state.args) || hasStoredSecrets(brought.args);
  const last = isSlow ? await admit(runtime, command) : first;
  if (last.kind === "left") return last;
  return { kind: "send", call: { action, state: last.state, ...brought }, now: () => last.now + last.age() };
}

/** A start that was just committed. `age` counts from before it was decided. */
type FreshStart = { readonly state: ActionIn<"running">; readonly now: number; readonly age: () => number };

/** For this long after the start was decided, none of its checks are repeated before the send. */
const FRESH_MS = 250;

type Performed = { readonly action: string; readonly fresh: FreshStart | null };

/** undefined: no longer fresh, seen by recovery meanwhile, or with inputs that must be loaded first. */
async function readyAtOnce(
  { recovered, secrets }: Runtime,
  { action, fresh }: Performed,
  tries: number,
): Promise<Ready | undefined> {
  if (fresh === null || tries > 1) return undefined;
  const { state, now, age } = fresh;
  const { args } = state;
  const known = isArtifactRef(args) ? undefined : await resolveLocalSecrets(secrets, args);
  if (known === undefined || age() >= FRESH_MS || recovered.has(attemptName({ action, state })))
    return undefined;
  return { kind: "send", call: { action, state, args, known }, now: () => now + age() };
}

async function attempts(
  runtime: Runtime,
  tool: Tool,
  performed: Performed,
  epoch: Epoch,
): Promise<LiveAction> {
  const { action } = performed;
  const isLeft = (state: ActionIn<"running">) =>
    !epoch.mayRun() || state.effect.epoch !== epoch.id || runtime.sent.has(attemptName({ action, state }));
  for (let tries = 1; ; tries++) {
    const ready =
      (await readyAtOnce(runtime, performed, tries)) ??
      (await readied(runtime, { action, epoch: epoch.id, isLeft }));
    if (ready.kind === "left") return ready.state;
    const { call, now } = ready;
    const { state } = call;
    await runtime.reach("before_send");
    if (isLeft(state)) return state;
    if (state.effect.attempt > 1 && isForgotten(state, now(), tool.rules.keyRetentionMs)) {
      const reason = "the receiver may have forgotten the key before it could be sent again";
      return (await record(runtime, action, state, { status: "in_doubt", reason })).state;
    }
    if (isTooLate(state, now()))
      return (await record(runtime, action, state, { status: "not_applied", reason: TOO_LATE })).state;
    const written = await sendOnce(runtime, tool, call, tries);
    if (written.kind === "late" || written.state.phase !== "running") return written.state;
  }
}

/**
 * Performs an effect that this process has started or taken over, and returns the action's new state. An attempt that
 * may have been sent is not sent again: if its outcome could not be recorded, the next process finds it in doubt.
 */
export async function perform(
  runtime: Runtime,
  tool: Tool,
  action: string,
  fresh: FreshStart | null = null,
): Promise<LiveAction> {
  if (runtime.performing.has(action)) return currentState(runtime, action);
  runtime.performing.add(action);
  try {
    const state = await attempts(runtime, tool, { action, fresh }, await runtime.epoch());
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
