/**
 * Drives a run: settles recorded operations in journal order, then does what is new, and releases the run when only
 * waits are left. An operation settles only after the previous one has had all its consequences.
 * Nothing new is done before everything recorded has settled: a definition that requests something else has changed,
 * and is refused before it does harm. While a checkpoint is pending, nothing new begins.
 * An invalid request is recorded as refused, so that a replay gives the definition the same error.
 */
import { type ErrorCode, type HoldpointError, isHoldpointError } from "../../kernel/errors.ts";
import { errorText } from "../../kernel/text.ts";
import { branchOf } from "./operation.ts";
import {
  type AskedOp,
  type OpenWait,
  recordFact,
  releaseRun,
  textWithoutSecrets,
  type WorkflowRun,
} from "./run.ts";

/** Errors in the input, not of the store or the process: a retry would not help. */
const MISUSES: readonly ErrorCode[] = [
  "invalid_input",
  "invalid_args",
  "invalid_json",
  "payload_too_large",
  "reserved_key",
  "async_schema",
  "request_conflict",
  "unsatisfiable_quorum",
  "secret_missing",
  "secret_transformed",
];

function isMisuse(error: unknown): error is HoldpointError {
  return isHoldpointError(error) && MISUSES.includes(error.code);
}

async function refuseOp(
  run: WorkflowRun,
  { op, kind }: AskedOp,
  { code, what }: HoldpointError,
): Promise<void> {
  const error = await textWithoutSecrets(run, what);
  await recordFact(run, "operation.refused", { op, kind, code, error });
}

export type DriveResult =
  | { readonly kind: "ended" | "suspended" | "turned" }
  | { readonly kind: "changed"; readonly difference: string };

/** Resolves when everything that was ready to run has run. */
const turn = ({ runtime }: WorkflowRun): Promise<void> =>
  runtime.clock.turn?.() ?? new Promise((resolve) => setImmediate(resolve));

/** How long a definition may await something else between two operations. */
const TURN_TIMEOUT_MS = 1_000;
/** A request of another branch says little about this one, which may be awaiting something slow. */
const TURN_TIMEOUT_BESIDE_MS = 60_000;

/** How long to wait for the expected operation while the other one is requested. */
function turnTimeout(expected: string, other: AskedOp): number {
  const [own, beside] = [`${branchOf(expected)}.`, branchOf(other.key)];
  return beside === "" || own.startsWith(`${beside}.`) ? TURN_TIMEOUT_MS : TURN_TIMEOUT_BESIDE_MS;
}

const describeOp = (key: string): string => {
  const branch = branchOf(key);
  const name = key.slice(branch.length + 1);
  return branch === "" ? name : `${name} (in branch ${branch})`;
};

function kindOf(run: WorkflowRun, key: string): string {
  return run.table.ops.get(key)?.kind ?? "operation";
}

/** What the journal has next, and what the definition requests instead. */
function difference(run: WorkflowRun, expected: string, fresh: AskedOp | undefined): string {
  const was = `the journal has ${kindOf(run, expected)} "${describeOp(expected)}"`;
  if (fresh !== undefined) return `${was}, the definition asks for ${fresh.kind} "${describeOp(fresh.key)}"`;
  return run.ending?.kind === "threw"
    ? `${was}, the definition threw "${errorText(run.ending.error)}"`
    : `${was}, the definition ends without it`;
}

/** An operation requested out of turn: new, or recorded with a later end. */
const firstUntimely = (run: WorkflowRun): AskedOp | undefined =>
  [...run.asked.values()].find(({ key, isStarted }) => {
    const record = run.table.ops.get(key);
    return record === undefined ? !isStarted : record.settled !== null;
  });

/** Waits until the definition requests what the journal has next. */
async function awaitAsked(run: WorkflowRun, key: string): Promise<string | undefined> {
  for (let waited = 0; !run.asked.has(key) && !run.turned && run.changed === null; ) {
    const other = firstUntimely(run);
    if (run.ending !== null) return difference(run, key, undefined);
    if (run.runtime.closing.aborted) run.turned = true;
    else if (other === undefined) {
      await run.bell.wait();
      await turn(run);
    } else if (waited >= turnTimeout(key, other)) return difference(run, key, other);
    else {
      await run.runtime.clock.sleep(20, run.runtime.closing);
      waited += 20;
    }
  }
  return undefined;
}

/** Waits until the definition has requested everything that is recorded, within the timeout. */
export async function awaitRecorded(run: WorkflowRun): Promise<void> {
  const { clock, closing } = run.runtime;
  const isMissing = () => [...run.table.ops.keys()].some((key) => !run.claimed.has(key));
  await turn(run);
  for (let waited = 0; waited < TURN_TIMEOUT_MS && isMissing() && !closing.aborted; waited += 20) {
    if (run.ending !== null || run.changed !== null) return;
    await clock.sleep(20, closing);
  }
}

/** A recorded operation that the definition has not requested. */
function firstMissing(run: WorkflowRun): string | undefined {
  for (const { key, kind } of run.table.ops.values()) if (kind !== "log" && !run.claimed.has(key)) return key;
  return undefined;
}

function leftOver(run: WorkflowRun): string | undefined {
  const key = firstMissing(run);
  return key === undefined ? undefined : difference(run, key, undefined);
}

/** Recorded open operations must be requested again before anything new begins, or the definition has changed. */
async function awaitOpen(run: WorkflowRun): Promise<string | undefined> {
  const { clock, closing } = run.runtime;
  for (let waited = 0; !run.isCaughtUp; waited += 20) {
    const missing = firstMissing(run);
    const fresh = [...run.asked.values()].find(({ key }) => !run.table.ops.has(key));
    if (missing === undefined) run.isCaughtUp = true;
    else if (fresh === undefined || hasNews(run) || closing.aborted) return undefined;
    else if (waited >= turnTimeout(missing, fresh)) return difference(run, missing, fresh);
    else await clock.sleep(20, closing);
  }
  return undefined;
}

/** Settles what is recorded; returns how the definition differs, if it does. */
export async function deliverRecorded(run: WorkflowRun): Promise<string | undefined> {
  for (;;) {
    if (run.changed !== null) return run.changed;
    const delivery = run.table.deliveries[run.next];
    if (delivery === undefined || run.turned) return undefined;
    const changed = await awaitAsked(run, delivery.key);
    if (changed !== undefined) return changed;
    const op = run.asked.get(delivery.key);
    if (op === undefined) continue;
    run.next++;
    run.asked.delete(delivery.key);
    run.waits.delete(delivery.key);
    await op.settle(delivery.settlement);
    await turn(run);
  }
}

function startOp(run: WorkflowRun, op: AskedOp): void {
  op.isStarted = true;
  run.active++;
  const record = run.table.ops.get(op.key) ?? null;
  op.start(record)
    .catch((error: unknown) => {
      if (!isMisuse(error) || run.table.ops.has(op.key)) throw error;
      return refuseOp(run, op, error);
    })
    .catch((error: unknown) => {
      // It was not begun, or is left to other processes; other work in progress may still end.
      if (run.runtime.closing.aborted && isHoldpointError(error, "closed")) return;
      run.failure ??= error;
    })
    .finally(() => {
      // Refused while a checkpoint is pending: it is requested again afterwards.
      const isAway = !run.table.ops.has(op.key) && !run.waits.has(op.key);
      if (isAway && !run.runtime.closing.aborted) op.isStarted = false;
      run.active--;
      run.bell.ring();
    });
}

function startAsked(run: WorkflowRun): boolean {
  let some = false;
  for (const op of run.asked.values()) {
    // While a checkpoint is pending every call is refused, recorded or not: it is retried afterwards.
    const mayStart = run.state.status === "executing" || (op.kind !== "call" && run.table.ops.has(op.key));
    const isTimely = run.isCaughtUp || run.table.ops.has(op.key);
    if (op.isStarted || !mayStart || !isTimely) continue;
    startOp(run, op);
    some = true;
  }
  return some;
}

/** Retries operations whose wait is due. */
function wakeDue(run: WorkflowRun): void {
  for (const [key, { until }] of run.waits) {
    if (until === null || until > run.runtime.clock.now()) continue;
    run.waits.delete(key);
    const op = run.asked.get(key);
    if (op !== undefined) op.isStarted = false;
  }
}

/** While work is in progress here the run is not released, so its timers are handled here. */
async function awaitNews(run: WorkflowRun): Promise<void> {
  const { clock } = run.runtime;
  const times = [...run.waits.values()].flatMap(({ until }) => until ?? []);
  if (times.length === 0) return run.bell.wait();
  const over = new AbortController();
  const due = clock.sleep(Math.min(...times) - clock.now(), over.signal);
  await Promise.race([run.bell.wait(), due]);
  over.abort();
  wakeDue(run);
}

const hasNews = (run: WorkflowRun): boolean =>
  run.ending !== null ||
  run.turned ||
  run.changed !== null ||
  run.failure !== undefined ||
  run.next < run.table.deliveries.length;

/** A checkpoint raised by a monitor: the definition does not know that it waits for it. */
function raisedWaits({ state: { pending } }: WorkflowRun): readonly OpenWait[] {
  if (pending?.monitor === undefined) return [];
  return [{ op: pending.op, kind: "checkpoint", on: pending.approval, until: null }];
}

const waitsOf = (run: WorkflowRun): readonly OpenWait[] => [...run.waits.values(), ...raisedWaits(run)];

const isIdle = (run: WorkflowRun): boolean => run.active === 0 && waitsOf(run).length > 0 && !hasNews(run);

/** Only waits are left: releases the run, unless something changes at the last moment. */
async function rest(run: WorkflowRun): Promise<boolean> {
  await turn(run);
  if (!isIdle(run) || startAsked(run)) return false;
  return releaseRun(run, waitsOf(run));
}

/** Everything recorded has settled: the result of the run, if it is decided. */
function verdict(run: WorkflowRun): DriveResult | undefined {
  if (run.turned) return { kind: "turned" };
  if (run.changed !== null) return { kind: "changed", difference: run.changed };
  if (run.failure !== undefined) throw run.failure;
  if (run.ending === null)
    return run.runtime.closing.aborted && run.active === 0 ? { kind: "turned" } : undefined;
  const left = leftOver(run);
  return left === undefined ? { kind: "ended" } : { kind: "changed", difference: left };
}

export async function drive(run: WorkflowRun): Promise<DriveResult> {
  for (;;) {
    const changed = (await deliverRecorded(run)) ?? (await awaitOpen(run));
    if (changed !== undefined) return { kind: "changed", difference: changed };
    if (run.next < run.table.deliveries.length && !run.turned) continue;
    const decided = verdict(run);
    if (decided !== undefined) return decided;
    if (startAsked(run)) await turn(run);
    else if (!isIdle(run)) {
      await awaitNews(run);
      await turn(run);
    } else if (await rest(run)) return { kind: "suspended" };
  }
}
