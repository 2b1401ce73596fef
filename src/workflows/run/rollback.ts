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
import type { Irreversible, RollbackReport } from "../events.ts";
import { cancelWorkflow } from "../rules/lifecycle.ts";
import type { RecordedOp, RecordedUndo } from "../rules/operations.ts";
import { endRollback, settleRefused } from "../rules/rollback.ts";
import { openSnapshot } from "../snapshots.ts";
import { obstacleName } from "../state.ts";
import { withdrawQuestions, withdrawSends, withdrawSentBy } from "../withdraw.ts";
import { undoUnderAllPolicies } from "../workflow-policy.ts";
import { checkpointTool } from "./checkpoint.ts";
import { dryRunChildren, dryRunDefinition } from "./context.ts";
import { conclude, type OpenWait, readNews, releaseRun, type WorkflowRun } from "./run.ts";

const MOST_TRIES = 5;
const BACK_OFF_MS = 500;
const LONGEST_BACK_OFF_MS = 10_000;
const LOOK_MS = 50;

/** An effect that happened: `id` is the action, or a checkpoint's operation if the checkpoint has an undo. */
type DoneEffect = {
  readonly op: string;
  readonly id: string;
  readonly tool: string;
  /** When it began. */
  readonly at: number;
  readonly undo: Tool["undo"] | undefined;
  /** Earlier attempts to undo it, by this workflow or by the child whose effect it is. */
  readonly past: readonly RecordedUndo[];
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

/** `isRefused`: it was not tried, since policy or a person refused it. */
type UndoResult =
  | "undone"
  | { readonly reason: string; readonly isRefused: boolean }
  | { readonly wait: OpenWait };

/** Decided or resolved in the meantime, and already read: no event would wake a run that waits for it. */
function cameMeanwhile(run: WorkflowRun, answer: Answer<Json>): boolean {
  if (answer.status === "in_doubt")
    return run.table.undos.some(({ action, status }) => action === answer.action && status !== "open");
  return answer.status === "pending" && run.woken.delete(answer.approval ?? "");
}

/** One attempt at a compensation: an action of its own, under its own id. */
async function undoOnce(run: WorkflowRun, done: DoneEffect, undo: Tool, tries: number): Promise<UndoResult> {
  const { op, id, args } = done;
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
  if (answer.status === "done") return "undone";
  if (cameMeanwhile(run, answer)) return undoOnce(run, done, undo, tries);
  if (answer.status === "in_doubt")
    return { wait: { op: requestId, kind: "doubt", on: answer.effect, until: null } };
  if (answer.code === "pending")
    return { wait: { op: requestId, kind: "approval", on: answer.approval ?? "", until: null } };
  // Stopped, or out of budget: not a failure of the compensation. It is retried later under the same id.
  if (answer.retry) return { wait: { op: requestId, kind: "held", on: obstacleName(answer), until: null } };
  await conclude(run, (draft, runner) => settleRefused(draft, runner, answer.action));
  await readNews(run);
  return { reason: answer.reason, isRefused: answer.code !== "not_applied" };
}

/** Why an undo of an earlier run was refused; an undo that ran and failed does not count. */
async function refusedBefore(run: WorkflowRun, { past }: DoneEffect): Promise<string | undefined> {
  for (const { action, status } of past) {
    if (status !== "not_undone") continue;
    const state = await readState(run.runtime, actionStream(action));
    if (state.phase !== "refused") continue;
    // A child's approval that was withdrawn when its parent took over was never answered.
    const isOwn = state.within?.workflow === run.id;
    if (isOwn || state.refusal.code !== "cancelled") return state.refusal.reason;
  }
  return undefined;
}

async function undoFully(run: WorkflowRun, done: DoneEffect, undo: Tool): Promise<UndoResult> {
  if (done.past.some(({ status }) => status === "undone")) return "undone";
  const refused = await refusedBefore(run, done);
  if (refused !== undefined) return { reason: refused, isRefused: true };
  const failed = run.table.undos.filter((one) => one.undoes === done.id && one.status === "not_undone");
  let tries = failed.length + 1;
  for (; ; tries++) {
    const answer = await undoOnce(run, done, undo, tries);
    if (answer === "undone" || "wait" in answer) return answer;
    if (answer.isRefused || tries >= MOST_TRIES) return answer;
    const ms = Math.min(BACK_OFF_MS * 2 ** (tries - 1), LONGEST_BACK_OFF_MS);
    await run.runtime.clock.sleep(ms, run.runtime.closing);
    if (run.runtime.closing.aborted) throw new TurnedAway("closing");
  }
}

type SortedEffects = { readonly applied: readonly DoneEffect[]; readonly doubts: readonly OpenWait[] };

function doneBy(run: WorkflowRun, record: RecordedOp, state: ActionIn<"applied">): DoneEffect {
  const { op, body } = record;
  const args = async () => ({
    args: await loadArgs(run.runtime, state),
    result: await loadValue(run.runtime, state.outcome.result),
  });
  const [id, tool] = [String(body["action"]), String(body["tool"])];
  return { op, id, tool, at: state.effect.startedAt, undo: undoToolOf(run, record), past: [], args };
}

function passedAt(run: WorkflowRun, record: RecordedOp): DoneEffect {
  const { op, at, body } = record;
  const args = async () => ({
    args: { checkpoint: String(body["name"]) },
    result: await loadValue(run.runtime, body["outputs"] ?? null),
  });
  return { op, id: op, tool: String(body["name"]), at, undo: undoToolOf(run, record), past: [], args };
}

/** How far children had come with undoing their effects. */
async function settleUndos(
  run: WorkflowRun,
  { records, undos }: ChildRecords,
): Promise<Omit<SortedEffects, "applied"> & PastUndos> {
  const past: RecordedUndo[] = [...run.table.undos];
  const doubts: OpenWait[] = [];
  for (const undo of undos) {
    const of = records.find(({ op, body }) => (body["action"] ?? op) === undo.undoes);
    const tool = of === undefined ? undefined : undoToolOf(run, of);
    const state = await atRest(run, undo.action, typeof tool === "object" ? (tool ?? undefined) : undefined);
    if (state.phase === "in_doubt")
      doubts.push({ op: of?.op ?? undo.undoes, kind: "doubt", on: state.effect.id, until: null });
    past.push({ ...undo, status: state.phase === "applied" ? "undone" : "not_undone" });
  }
  return { past, doubts };
}

type PastUndos = { readonly past: readonly RecordedUndo[] };

/** In the order in which they are undone: last begun first, equal timestamps in reverse order of proposal. */
function newestFirst(calls: DoneEffect[]): readonly DoneEffect[] {
  calls.sort((one, other) => one.at - other.at);
  return calls.reverse();
}

async function sort(run: WorkflowRun, did: ChildRecords): Promise<SortedEffects> {
  const applied: DoneEffect[] = [];
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
  const known = applied.map((done) => ({ ...done, past: past.filter(({ undoes }) => undoes === done.id) }));
  return { applied: newestFirst(known), doubts: waits };
}

type SweepResult = { readonly report: RollbackReport } | { readonly waits: readonly OpenWait[] };

/** Another process may know its undo: nothing older is undone before it. */
function unknownHere(run: WorkflowRun, { op, id, tool }: DoneEffect): OpenWait {
  const difference = `how "${tool}" is undone, which ${id} needs, is not known here`;
  run.runtime.notify({ kind: "definition_changed", workflow: run.id, name: run.definition.name, difference });
  return { op, kind: "definition", on: difference, until: null };
}

async function undoEach(run: WorkflowRun, applied: readonly DoneEffect[]): Promise<SweepResult> {
  const undone: string[] = [];
  const notUndone: { action: string; reason: string }[] = [];
  const irreversible: Irreversible[] = [];
  for (const done of applied) {
    const { op, id: action, tool, undo } = done;
    if (undo === "nothing") continue;
    if (undo === undefined) return { waits: [unknownHere(run, done)] };
    if (undo === null) irreversible.push({ op, action, tool });
    else {
      const answer = await undoFully(run, done, await undoUnderAllPolicies(run, op, undo));
      if (answer === "undone") undone.push(action);
      else if ("wait" in answer) return { waits: [answer.wait] };
      else notUndone.push({ action, reason: answer.reason });
    }
  }
  return { report: { undone, notUndone, irreversible } };
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
  const { applied, doubts } = await sort(run, did);
  return doubts.length > 0 ? { waits: doubts } : undoEach(run, applied);
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
