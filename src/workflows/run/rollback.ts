/**
 * Rolls a workflow back: undoes applied effects, the one that began last first, each once.
 * - An effect in doubt is never undone: the rollback waits until its outcome is known.
 * - Pending approvals are withdrawn and work in progress is awaited before anything is undone. The same holds for undos
 *   that a child had begun; its parent does not repeat those that succeeded.
 * - A compensation that fails is retried with back-off; then the workflow has failed and says so.
 */

import type { Answer } from "../../effects/answer.ts";
import { TurnedAway } from "../../effects/execute.ts";
import { proposeCall } from "../../effects/gate.ts";
import { recoverAction } from "../../effects/recover.ts";
import { cancelAction } from "../../effects/rules/propose.ts";
import { type ActionIn, isStep, type LiveAction } from "../../effects/state.ts";
import type { Tool } from "../../effects/tool.ts";
import type { Json } from "../../kernel/json.ts";
import { actionStream, workflowStream } from "../../kernel/stream.ts";
import { loadArgs, loadValue, readState, runCommand } from "../../runtime/store-access.ts";
import { type ChildRecords, readChildRecords } from "../entries.ts";
import type { RollbackReport } from "../events.ts";
import { withdrawQuestions, withdrawSends, withdrawSentBy } from "../operate.ts";
import { cancelWorkflow } from "../rules/lifecycle.ts";
import type { RecordedOp, RecordedUndo } from "../rules/operations.ts";
import {
  type EffectToUndo,
  endRollback,
  MAX_UNDO_ATTEMPTS,
  nextRollbackStep,
  settleRefused,
  type UndoAttempt,
} from "../rules/rollback.ts";
import { openSnapshot } from "../snapshots.ts";
import { obstacleName } from "../state.ts";
import { undoUnderAllPolicies } from "../workflow-policy.ts";
import { checkpointTool } from "./checkpoint.ts";
import { dryRunChildren, dryRunDefinition } from "./context.ts";
import { conclude, type OpenWait, readNews, releaseRun, type WorkflowRun } from "./run.ts";

const BACK_OFF_MS = 500;
const LONGEST_BACK_OFF_MS = 10_000;
const LOOK_MS = 50;

/** An effect of the run. `tool`, as in reports; `args`: what its undo gets. */
type DoneEffect = EffectToUndo & {
  /** null if there is none, or if it is not known here. */
  readonly undoTool: Tool | null;
  readonly args: () => Promise<Json>;
};

/** After a failure, only calls declared to be undone may be undone. */
const isMeant = (run: WorkflowRun, { body }: RecordedOp): boolean =>
  run.state.rollback?.scope !== "declared" || body["rollback"] === true;

/** What was done in the range, oldest first; a child's records are placed where the child was spawned. */
async function doneIn(run: WorkflowRun): Promise<ChildRecords> {
  const { rollback } = run.state;
  if (rollback === null) return { records: [], undos: [] };
  const inRange = [...run.table.ops.values()].filter(
    ({ seq, settled }) => seq > rollback.toSeq && settled?.kind !== "refused",
  );
  const reason = `${run.id} was rolled back`;
  const questions = inRange.filter(({ kind }) => kind === "question");
  await withdrawQuestions(run.runtime, questions, { by: run.runtime.agent, reason });
  await withdrawSends(run.runtime, inRange, { by: run.runtime.agent, reason });
  const records: RecordedOp[] = [];
  const undos: RecordedUndo[] = [];
  for (const record of inRange) {
    if (record.kind === "call" && isMeant(run, record)) records.push(record);
    if (record.kind === "checkpoint") records.push(record);
    if (record.kind !== "child") continue;
    const below = await cancelAndReadChild(run, record);
    records.push(...below.records);
    undos.push(...below.undos);
  }
  return { records, undos };
}

/** Cancels a child that still runs: only then is it known what it did. */
async function cancelAndReadChild(run: WorkflowRun, { body }: RecordedOp): Promise<ChildRecords> {
  const { runtime } = run;
  const said = { by: runtime.agent, reason: `its parent ${run.id} was rolled back` };
  const { records, undos } = await readChildRecords(runtime, String(body["child"]), async (workflow) => {
    await runCommand(runtime, { write: [workflowStream(workflow)] }, (draft) =>
      cancelWorkflow(draft, { workflow, ...said }),
    );
    await withdrawSentBy(runtime, workflow, said);
  });
  return { records: records.filter((one) => one.kind === "checkpoint" || isMeant(run, one)), undos };
}

/** Waits until the action is no longer under way; withdraws it if it has not started. */
async function atRest(run: WorkflowRun, action: string, tool: Tool | undefined): Promise<LiveAction> {
  const { runtime } = run;
  for (;;) {
    const state = (await readState(runtime, actionStream(action))) as LiveAction;
    if (state.phase === "open" || state.phase === "waiting")
      await runCommand(runtime, { write: [actionStream(action)] }, (draft) =>
        cancelAction(draft, { action, by: "rollback", reason: `${run.id} was rolled back` }),
      );
    else if (state.phase === "running") {
      await recoverAction(runtime, action, tool);
      await runtime.clock.sleep(LOOK_MS, runtime.closing);
    } else return state;
    if (runtime.closing.aborted) throw new TurnedAway("closing");
  }
}

/** How it is undone; undefined if unknown here. */
function undoToolOf(run: WorkflowRun, { kind, op, body }: RecordedOp): Tool["undo"] | undefined {
  const isOwn = op.startsWith(`${run.id}/`);
  if (kind === "checkpoint" && isOwn) return checkpointTool(run, String(body["name"])).undo;
  if (kind === "checkpoint") return run.undos.get(op)?.undo;
  const tool = String(body["tool"]);
  return (run.undos.get(op) ?? (isStep(op, tool) ? undefined : run.tools.get(tool)))?.undo;
}

/** `refusal`: it was not tried, since policy or a person refused it; null: it ran and failed, and may be tried again. */
type UndoResult =
  | "applied"
  | { readonly action: string; readonly refusal: string | null }
  | { readonly wait: OpenWait };

/** Decided or resolved in the meantime, and already read: no event would wake a run that waits for it. */
function cameMeanwhile(run: WorkflowRun, answer: Answer<Json>): boolean {
  if (answer.status === "in_doubt")
    return run.table.undos.some(({ action, status }) => action === answer.action && status !== "open");
  return answer.status === "pending" && run.woken.delete(answer.approval ?? "");
}

/** One attempt at a compensation: an action of its own, under its own id. */
async function undoOnce(run: WorkflowRun, done: DoneEffect, undo: Tool, tries: number): Promise<UndoResult> {
  const { op, action: id, args } = done;
  // A child may have tried under its own id.
  const by = op.startsWith(`${run.id}/`) ? "" : `-by-${run.id}`;
  const requestId = `${op}/undo${by}#${tries}`;
  const within = { workflow: run.id, op: requestId, undoes: id, goesOn: false };
  await run.runtime.reach("before_compensation");
  const answer = await proposeCall(run.runtime, undo, await args(), {
    requestId,
    waitMs: 0,
    requester: run.state.requester,
    placement: { ...within, epoch: run.epoch, rollback: false },
  });
  await run.runtime.reach("after_compensation");
  await readNews(run);
  if (answer.status === "done") return "applied";
  if (cameMeanwhile(run, answer)) return undoOnce(run, done, undo, tries);
  if (answer.status === "in_doubt")
    return { wait: { op: requestId, kind: "doubt", on: answer.effect, until: null } };
  if (answer.code === "pending")
    return { wait: { op: requestId, kind: "approval", on: answer.approval ?? "", until: null } };
  // Stopped, or out of budget: not a failure of the compensation. It is retried later under the same id.
  if (answer.retry) return { wait: { op: requestId, kind: "held", on: obstacleName(answer), until: null } };
  await conclude(run, (draft, runner) => settleRefused(draft, runner, answer.action));
  await readNews(run);
  return { action: answer.action, refusal: answer.code === "not_applied" ? null : answer.reason };
}

function undoOf(run: WorkflowRun, record: RecordedOp): Pick<DoneEffect, "undo" | "undoTool"> {
  const known = undoToolOf(run, record);
  if (known === undefined) return { undo: "unknown", undoTool: null };
  if (known === null) return { undo: "none", undoTool: null };
  return known === "nothing" ? { undo: known, undoTool: null } : { undo: "here", undoTool: known };
}

function doneBy(run: WorkflowRun, record: RecordedOp, state: ActionIn<"applied">): Omit<DoneEffect, "seq"> {
  const { op, body } = record;
  const args = async () => ({
    args: await loadArgs(run.runtime, state),
    result: await loadValue(run.runtime, state.outcome.result),
  });
  const [action, tool] = [String(body["action"]), String(body["tool"])];
  return { op, action, tool, at: state.effect.startedAt, phase: "applied", ...undoOf(run, record), args };
}

function passedAt(run: WorkflowRun, record: RecordedOp): Omit<DoneEffect, "seq"> {
  const { op, at, body } = record;
  const args = async () => ({
    args: { checkpoint: String(body["name"]) },
    result: await loadValue(run.runtime, body["outputs"] ?? null),
  });
  return { op, action: op, tool: String(body["name"]), at, phase: "applied", ...undoOf(run, record), args };
}

type SortedEffects = {
  readonly applied: readonly DoneEffect[];
  /** Attempts of children to undo their effects. */
  readonly past: readonly UndoAttempt[];
  readonly doubts: readonly OpenWait[];
};

/** How far children had come with undoing their effects. */
async function settleUndos(
  run: WorkflowRun,
  { records, undos }: ChildRecords,
): Promise<Omit<SortedEffects, "applied">> {
  const past: UndoAttempt[] = [];
  const doubts: OpenWait[] = [];
  for (const { action, undoes, reason } of undos) {
    const of = records.find(({ op, body }) => (body["action"] ?? op) === undoes);
    const tool = of === undefined ? undefined : undoToolOf(run, of);
    const state = await atRest(run, action, typeof tool === "object" ? (tool ?? undefined) : undefined);
    if (state.phase === "in_doubt")
      doubts.push({ op: of?.op ?? undoes, kind: "doubt", on: state.effect.id, until: null });
    // An approval that was withdrawn when its parent took over was never answered.
    if (state.phase === "refused" && state.refusal.code === "cancelled") continue;
    const why = state.phase === "refused" ? state.refusal.reason : reason;
    past.push({ action, undoes, phase: state.phase, reason: why, isOfChild: true });
  }
  return { past, doubts };
}

async function sort(run: WorkflowRun, did: ChildRecords): Promise<SortedEffects> {
  const applied: Omit<DoneEffect, "seq">[] = [];
  const { past, doubts } = await settleUndos(run, did);
  const waits = [...doubts];
  for (const record of did.records) {
    if (record.kind === "checkpoint") {
      applied.push(passedAt(run, record));
      continue;
    }
    const state = await atRest(run, String(record.body["action"]), run.undos.get(record.op));
    if (state.phase === "applied") applied.push(doneBy(run, record, state));
    if (state.phase === "in_doubt")
      waits.push({ op: record.op, kind: "doubt", on: state.effect.id, until: null });
  }
  return { applied: applied.map((done, seq) => ({ ...done, seq })), past, doubts: waits };
}

type SweepResult = { readonly report: RollbackReport } | { readonly waits: readonly OpenWait[] };

/** Another process may know its undo: nothing older is undone before it. */
function unknownHere(run: WorkflowRun, { op, action, tool }: DoneEffect): OpenWait {
  const difference = `how "${tool}" is undone, which ${action} needs, is not known here`;
  run.runtime.notify({ kind: "definition_changed", workflow: run.id, name: run.definition.name, difference });
  return { op, kind: "definition", on: difference, until: null };
}

const PHASES = { open: "open", undone: "applied", not_undone: "not_applied" } as const;

/** By the action of an undo that ended without an effect: why it was refused, or null if it ran and failed. */
type Refusals = Map<string, string | null>;

function ownAttempts({ table }: WorkflowRun, refusals: Refusals): readonly UndoAttempt[] {
  return table.undos.map(({ action, undoes, status, reason }) => {
    const refusal = refusals.get(action) ?? null;
    return refusal === null
      ? { action, undoes, phase: PHASES[status], reason }
      : { action, undoes, phase: "refused", reason: refusal };
  });
}

/** Reads how earlier attempts at this effect ended. Returns whether one was refused. */
async function readRefusals(run: WorkflowRun, effect: string, refusals: Refusals): Promise<boolean> {
  for (const { action, undoes, status } of run.table.undos) {
    if (undoes !== effect || status !== "not_undone" || refusals.has(action)) continue;
    const state = await readState(run.runtime, actionStream(action));
    refusals.set(action, state.phase === "refused" ? state.refusal.reason : null);
    if (state.phase === "refused") return true;
  }
  return false;
}

async function undoEach(run: WorkflowRun, { applied, past }: SortedEffects): Promise<SweepResult> {
  const refusals: Refusals = new Map();
  const tools = new Map<string, Tool>();
  for (;;) {
    const step = nextRollbackStep(applied, [...past, ...ownAttempts(run, refusals)]);
    if (step.kind === "over") return step;
    if (step.kind === "waits") throw new TypeError(`${step.on.join(", ")} has not come to rest`);
    const { call: done, attempt } = step;
    const { action, op, undoTool } = done;
    if (undoTool === null) return { waits: [unknownHere(run, done)] };
    const tool = tools.get(action) ?? (await undoUnderAllPolicies(run, op, undoTool));
    tools.set(action, tool);
    if (await readRefusals(run, action, refusals)) continue;
    const answer = await undoOnce(run, done, tool, attempt);
    if (answer === "applied") continue;
    if ("wait" in answer) return { waits: [answer.wait] };
    refusals.set(answer.action, answer.refusal);
    await backOff(run, answer.refusal, attempt);
  }
}

/** An undo that ran and failed is tried again later. No wait after the last attempt. */
async function backOff({ runtime }: WorkflowRun, refusal: string | null, attempt: number): Promise<void> {
  if (refusal !== null || attempt >= MAX_UNDO_ATTEMPTS) return;
  await runtime.clock.sleep(Math.min(BACK_OFF_MS * 2 ** (attempt - 1), LONGEST_BACK_OFF_MS), runtime.closing);
  if (runtime.closing.aborted) throw new TurnedAway("closing");
}

/** The captured state that the next attempt begins with must be readable before the rollback ends. */
async function checkSnapshot(run: WorkflowRun): Promise<void> {
  const target = run.state.passed.find(({ op }) => op === run.state.rollback?.to);
  if (target !== undefined) await openSnapshot(run.runtime, target.snapshot.hash);
}

async function sweep(run: WorkflowRun): Promise<SweepResult> {
  const did = await doneIn(run);
  // Steps may be undone by functions of the definition: a dry run collects them.
  const isKnown = (record: RecordedOp) => undoToolOf(run, record) !== undefined;
  if (!did.records.every(isKnown)) await dryRunDefinition(run);
  if (!did.records.every(isKnown)) await dryRunChildren(run);
  // An interrupted dry run proves nothing.
  if (run.runtime.closing.aborted) throw new TurnedAway("closing");
  const sorted = await sort(run, did);
  const { doubts } = sorted;
  return doubts.length > 0 ? { waits: doubts } : undoEach(run, sorted);
}

const isOurs = ({ state, epoch }: WorkflowRun): boolean =>
  state.runner === epoch && state.status === "rolling_back";

/** `unfit`: it waits for a process that knows an undo. */
type RollbackResult = "again" | "failed" | "waits" | "unfit" | "left";

/** undefined: it was not released. */
async function waitFor(run: WorkflowRun, waits: readonly OpenWait[]): Promise<"waits" | "unfit" | undefined> {
  if (!(await releaseRun(run, waits))) return undefined;
  return waits.some(({ kind }) => kind === "definition") ? "unfit" : "waits";
}

async function goBack(run: WorkflowRun): Promise<RollbackResult> {
  for (;;) {
    const { seen } = run;
    const swept = await sweep(run);
    if ("waits" in swept) {
      // Entries that arrived meanwhile may be what it would wait for.
      const left = run.seen === seen ? await waitFor(run, swept.waits) : undefined;
      if (left !== undefined) return left;
      if (!isOurs(run)) return "left";
      continue;
    }
    await checkSnapshot(run);
    const { report } = swept;
    const answer = await conclude(run, (draft, runner) => endRollback(draft, runner, report));
    return answer.kind === "turned" ? "left" : answer.kind;
  }
}

export async function rollBackWorkflow(run: WorkflowRun): Promise<RollbackResult> {
  try {
    return await goBack(run);
  } catch (error) {
    if (!(error instanceof TurnedAway)) throw error;
    await readNews(run);
    if (!isOurs(run)) return "left";
    // Turned away although this process still owns it: reported and retried; if closing, by another process.
    if (!run.runtime.closing.aborted) throw error;
    return "again";
  }
}
