/**
 * Rollback of a workflow that a remote agent drives, and the calls since a checkpoint that it covers.
 * The agent undoes its own calls, one after the other; calls of tools of this program are undone here. Pending
 * approvals are withdrawn first. Once nothing is left to undo, the rollback ends without the agent.
 */

import type { Caller } from "../effects/advance-call.ts";
import { getUndoTool, proposeCall } from "../effects/gate.ts";
import { cancelAction } from "../effects/rules/propose.ts";
import { effectIdOf } from "../effects/rules/start.ts";
import type { LiveAction } from "../effects/state.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { actionStream, streamName, workflowStream } from "../kernel/stream.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { loadArgs, loadValue, readState, runCommand } from "../runtime/store-access.ts";
import type { TenantStore } from "../stores/store.ts";
import { readOperationTable } from "../workflows/entries.ts";
import type { CallUndo } from "../workflows/events.ts";
import { withdrawOpen } from "../workflows/operate.ts";
import { workflowState } from "../workflows/read.ts";
import { callsAfter, type RecordedOp } from "../workflows/rules/operations.ts";
import {
  type EffectToUndo,
  endRemoteRollback,
  nextRollbackStep,
  type RollbackStep,
  settleRefusedCall,
  type UndoAttempt,
} from "../workflows/rules/rollback.ts";
import type { LiveWorkflow } from "../workflows/state.ts";
import type { Compensation, RemoteAnswer } from "./contract.ts";
import { checkActionId, notYoursError } from "./remote-checks.ts";
import { askForUndo, updateUndoIntents, withdrawUndoIntents } from "./remote-compensation.ts";
import { proposeChecked, takeUpPermit } from "./remote-proposal.ts";
import {
  type DeclaredUndoCall,
  findDeclaredUndoTool,
  findOrDefineUndo,
  loadDeclaredUndo,
} from "./remote-tool.ts";

const undoKindOfCall = ({ body }: RecordedOp): CallUndo => (body["undo"] as CallUndo | undefined) ?? "none";

export const hasNoUndo = (call: RecordedOp): boolean => undoKindOfCall(call) === "none";

async function loadRangeCall(place: TenantStore, record: RecordedOp): Promise<EffectToUndo> {
  const { op, seq, body } = record;
  const action = String(body["action"]);
  const state = (await readState(place, actionStream(action))) as LiveAction;
  const at = "effect" in state ? state.effect.startedAt : state.proposedAt;
  // A read leaves nothing to undo.
  const undo = state.effectClass === "read" ? "nothing" : undoKindOfCall(record);
  return { op, action, tool: String(body["tool"]), undo, phase: state.phase, at, seq };
}

type RollbackRange = {
  readonly calls: readonly EffectToUndo[];
  readonly undos: readonly UndoAttempt[];
  readonly seq: number;
};

async function loadRollbackRange(
  place: TenantStore,
  workflow: string,
  after: number,
): Promise<RollbackRange> {
  const { table, seq } = await readOperationTable(place, workflow);
  const calls: EffectToUndo[] = [];
  for (const record of callsAfter(table, after)) calls.push(await loadRangeCall(place, record));
  const undos: UndoAttempt[] = [];
  for (const { action, undoes, reason } of table.undos) {
    const { phase } = await readState(place, actionStream(action));
    undos.push({ action, undoes, reason, phase });
  }
  return { calls, undos, seq };
}

type RollbackProgress = {
  readonly state: LiveWorkflow;
  readonly range: RollbackRange;
  readonly way: RollbackStep;
};

/** undefined: it is not rolling back. */
async function readRollback(runtime: Runtime, workflow: string): Promise<RollbackProgress | undefined> {
  const state = await workflowState(runtime, workflow);
  const { rollback } = state;
  if (state.isOutside !== true || state.status !== "rolling_back" || rollback === null) return undefined;
  const range = await loadRollbackRange(runtime, workflow, rollback.toSeq);
  return { state, range, way: nextRollbackStep(range.calls, range.undos) };
}

type CallArgsAndResult = { readonly args: Json; readonly result: Json };

const loadActionOfCall = async (runtime: Runtime, { action }: EffectToUndo): Promise<LiveAction> =>
  (await readState(runtime, actionStream(action))) as LiveAction;

async function loadArgsAndResult(runtime: Runtime, call: EffectToUndo): Promise<CallArgsAndResult> {
  const state = await loadActionOfCall(runtime, call);
  const result = "outcome" in state ? await loadValue(runtime, state.outcome.result) : null;
  return { args: await loadArgs(runtime, state), result };
}

const loadUndoOfCall = async (runtime: Runtime, call: EffectToUndo): Promise<DeclaredUndoCall | undefined> =>
  loadDeclaredUndo(runtime, await loadActionOfCall(runtime, call));

/** What the agent has to undo now: at most one call at a time. */
type OutstandingCompensations = {
  readonly compensations: readonly Compensation[];
  /** It rolls back, but the agent has nothing to do now: a call has not ended yet, or is undone here. */
  readonly settling: boolean;
};

/** Read-only: does not advance the rollback. */
export async function readOutstanding(runtime: Runtime, workflow: string): Promise<OutstandingCompensations> {
  const back = await readRollback(runtime, workflow);
  if (back?.way.kind !== "undo" || back.way.call.undo !== "agent")
    return { compensations: [], settling: back !== undefined };
  const { call, attempt, action } = back.way;
  const { agent, rollback } = back.state;
  const { reason, by } = rollback ?? { reason: "", by: "" };
  const { args, result } = await loadArgsAndResult(runtime, call);
  const declared = await loadUndoOfCall(runtime, call);
  const undo = declared === undefined ? null : { tool: declared.tool, args: declared.args };
  const what = { undoes: call.action, tool: call.tool, args, result, undo };
  return { compensations: [{ workflow, agent, ...what, attempt, action, reason, by }], settling: false };
}

export const listCompensations = async (
  runtime: Runtime,
  workflow: string,
): Promise<readonly Compensation[]> => (await readOutstanding(runtime, workflow)).compensations;

/** Withdraws pending approvals of its calls. Returns whether any were withdrawn. */
async function withdrawPendingCalls(
  runtime: Runtime,
  workflow: string,
  { calls, undos }: RollbackRange,
): Promise<boolean> {
  const asking = calls.filter(({ phase }) => phase === "open" || phase === "waiting");
  const said = { by: "rollback", reason: `${workflow} was rolled back` };
  for (const { action } of asking)
    await runCommand(runtime, { write: [actionStream(action)] }, (draft) =>
      cancelAction(draft, { action, ...said }),
    );
  const refused = [...asking, ...undos.filter(({ phase, reason }) => phase === "refused" && reason === "")];
  for (const { action } of refused)
    await runCommand(runtime, { write: [workflowStream(workflow)] }, (draft) =>
      settleRefusedCall(draft, workflow, action),
    );
  return asking.length > 0;
}

/** An undo that the agent declared is a call of the declared tool, so the id contains its name. */
const undoRequestId = ({ op }: EffectToUndo, attempt: number, declared?: DeclaredUndoCall): string =>
  declared === undefined ? `${op}/undo#${attempt}` : `${op}/undo/${declared.tool}#${attempt}`;

type PlacedUndo = {
  readonly call: EffectToUndo;
  readonly attempt: number;
  readonly declared?: DeclaredUndoCall;
};

function placementOfUndo(workflow: string, { call, attempt, declared }: PlacedUndo) {
  const op = undoRequestId(call, attempt, declared);
  const within = { workflow, op, undoes: call.action, goesOn: false, epoch: "", rollback: false };
  return declared === undefined ? within : { ...within, declared: declared.seen };
}

/** The requesters of the original call may not decide about its undo either. */
async function requestersOfUndo(runtime: Runtime, { requester }: LiveWorkflow, call: EffectToUndo) {
  const { requester: own } = await loadActionOfCall(runtime, call);
  return [...new Set([...requester, ...own])];
}

/** Undoes a call with a tool of this program. Returns whether it was undone. */
async function undoLocally(
  runtime: Runtime,
  { state, way }: RollbackProgress,
  workflow: string,
): Promise<boolean> {
  if (way.kind !== "undo") return false;
  const { call, attempt } = way;
  const tool = runtime.tools.get(call.tool);
  const undo = tool === undefined ? undefined : getUndoTool(tool);
  if (undo === undefined || undo.outside !== undefined) return false;
  const { agent } = state;
  const requester = await requestersOfUndo(runtime, state, call);
  const answer = await proposeCall(runtime, undo, await loadArgsAndResult(runtime, call), {
    requestId: undoRequestId(call, attempt),
    waitMs: 0,
    agent,
    requester,
    placement: placementOfUndo(workflow, { call, attempt }),
  });
  return answer.status === "done";
}

async function endRollback(
  runtime: Runtime,
  workflow: string,
  { range, way }: RollbackProgress,
): Promise<boolean> {
  if (way.kind !== "over") return true;
  const { seq } = range;
  await runtime.reach("before_compensation");
  const answer = await runCommand(runtime, { write: [workflowStream(workflow)] }, (draft) =>
    endRemoteRollback(draft, { workflow, seq, report: way.report }),
  );
  await runtime.reach("after_compensation");
  if (answer.kind !== "failed") return answer.kind !== "moved";
  const { end } = await workflowState(runtime, workflow);
  if (end?.status === "failed") await withdrawOpen(runtime, workflow, { by: end.by, reason: end.reason });
  return true;
}

/** Requests the undo from the agent, once per attempt. */
async function askAgentToUndo(
  runtime: Runtime,
  workflow: string,
  { state, way }: RollbackProgress,
): Promise<void> {
  if (way.kind !== "undo" || way.call.undo !== "agent" || way.action !== null) return;
  const { call, attempt } = way;
  const { agent, rollback } = state;
  const declared = await loadUndoOfCall(runtime, call);
  const what = {
    undoes: call.action,
    tool: call.tool,
    attempt,
    requestId: undoRequestId(call, attempt, declared),
  };
  const by = declared === undefined ? {} : { undoTool: declared.tool };
  await askForUndo(runtime, { workflow, agent, ...what, ...by, reason: rollback?.reason ?? "" });
}

/**
 * Advances the rollback as far as possible without the agent: to its end, if nothing is left to undo. `left`: nothing
 * to do until something changes. `later`: an undo performed here has to be retried.
 */
export async function settleRollback(runtime: Runtime, workflow: string): Promise<"left" | "later"> {
  for (;;) {
    const back = await readRollback(runtime, workflow);
    if (back === undefined) return "left";
    await updateUndoIntents(runtime, workflow, back.range.undos);
    if (await withdrawPendingCalls(runtime, workflow, back.range)) continue;
    const { way } = back;
    if (way.kind === "undo" && way.call.undo === "here") {
      if (!(await undoLocally(runtime, back, workflow))) return "later";
    } else if (way.kind !== "over") {
      await askAgentToUndo(runtime, workflow, back);
      return "left";
    } else if (await endRollback(runtime, workflow, back)) return "left";
  }
}

function cannotUndoNow(workflow: string, undoes: string, why: string): HoldpointError {
  return new HoldpointError("wrong_state", `${undoes} cannot be undone now: ${why}.`, {
    next: `Ask what has to be undone in ${workflow}, and undo that.`,
    details: { workflow },
  });
}

function whyNotUndoNow(way: RollbackStep): string {
  if (way.kind === "waits") return `${way.on.map(effectIdOf).join(", ")} has not ended, or is in doubt`;
  return way.kind === "over" ? "nothing is left to undo" : `${way.call.action} comes first`;
}

/** The agent requests to undo its call: an action of its own, which needs a permit like any other. */
export async function proposeUndo(
  runtime: Runtime,
  workflow: string,
  { undoes, agent, caller }: { readonly undoes: string; readonly agent: string; readonly caller: Caller },
): Promise<RemoteAnswer> {
  checkActionId(undoes);
  const { agent: own } = await workflowState(runtime, workflow);
  // Checked first: another agent must not advance the rollback.
  if (own !== agent) throw notYoursError(`The workflow ${workflow}`, agent);
  await settleRollback(runtime, workflow);
  const back = await readRollback(runtime, workflow);
  if (back === undefined) {
    // The process that ended it may have died before it withdrew the intents.
    await withdrawUndoIntents(runtime, workflow, { by: "rollback", reason: `${workflow} does not go back` });
    throw cannotUndoNow(workflow, undoes, `${workflow} does not go back`);
  }
  const { way, state } = back;
  if (way.kind !== "undo" || way.call.action !== undoes || way.call.undo !== "agent")
    throw cannotUndoNow(workflow, undoes, whyNotUndoNow(way));
  const { call, attempt, action } = way;
  if (action !== null) return takeUpPermit(runtime, action, { agent, caller });
  const declared = await loadUndoOfCall(runtime, call);
  const requester = await requestersOfUndo(runtime, state, call);
  const asking = {
    tool:
      declared === undefined
        ? findOrDefineUndo(runtime, call.tool)
        : findDeclaredUndoTool(runtime, declared.tool, declared.seen),
    agent,
    requester,
    requestId: undoRequestId(call, attempt, declared),
    says: null,
    caller,
    placement: placementOfUndo(workflow, { call, attempt, ...(declared === undefined ? {} : { declared }) }),
  };
  const answer = await proposeChecked(
    runtime,
    asking,
    declared?.args ?? (await loadArgsAndResult(runtime, call)),
  );
  await settleRollback(runtime, workflow);
  return answer;
}

const PAGE = 100;

async function* rollbacksUnderWay({ store, tenant }: Runtime): AsyncGenerator<string> {
  let after: { at: number; stream: string } | undefined;
  do {
    const query = { view: "runs", bucket: "outside", order: "oldest", limit: PAGE } as const;
    const page = await store.query(tenant, after === undefined ? query : { ...query, after });
    for (const { stream } of page) yield stream.id;
    const last = page.length < PAGE ? undefined : page.at(-1);
    after = last === undefined ? undefined : { at: last.at, stream: streamName(last.stream) };
  } while (after !== undefined);
}

/** Last entry when each was left to its agent: until the stream changes, there is nothing to do. */
const leftToAgents = new WeakMap<Runtime["tools"], Map<string, number>>();

async function sweepRollback(runtime: Runtime, workflow: string, known: Map<string, number>): Promise<void> {
  const { seq } = await workflowState(runtime, workflow);
  if (known.get(workflow) === seq) return;
  known.delete(workflow);
  if ((await settleRollback(runtime, workflow)) === "left") known.set(workflow, seq);
}

/** Ends rollbacks that no longer need their agent. A failure does not delay the next one. */
export async function sweepRollbacks(runtime: Runtime): Promise<void> {
  const known = leftToAgents.get(runtime.tools) ?? new Map<string, number>();
  leftToAgents.set(runtime.tools, known);
  const failures: unknown[] = [];
  const found = new Set<string>();
  for await (const workflow of rollbacksUnderWay(runtime)) {
    found.add(workflow);
    await sweepRollback(runtime, workflow, known).catch((error: unknown) => failures.push(error));
  }
  for (const workflow of known.keys()) if (!found.has(workflow)) known.delete(workflow);
  if (failures.length > 0) throw failures[0];
}
