/**
 * Operators cancel a workflow or fork it. If a rollback is cancelled, the report says what was undone until then and
 * what was not. Approvals, questions and intents of a workflow that no longer waits for them are withdrawn. A failed
 * workflow stays listed as `closing` until any process has withdrawn everything that it began.
 */

import { withdrawIntent } from "../agents/intents/rules/answer.ts";
import { withdrawUndoIntents } from "../agents/remote-compensation.ts";
import { cancelApproval } from "../approvals/rules/withdraw.ts";
import { cancelAction } from "../effects/rules/propose.ts";
import { HoldpointError, WORKFLOW_ID_HINT } from "../kernel/errors.ts";
import { channelField, type Via } from "../kernel/principal.ts";
import { refusalData } from "../kernel/refusals.ts";
import { actionStream, approvalStream, intentStream, workflowStream } from "../kernel/stream.ts";
import { forEachReadable } from "../runtime/lists.ts";
import { freshId, type Runtime } from "../runtime/runtime.ts";
import { readState, runCommand } from "../runtime/store-access.ts";
import { pickRunTerms } from "./define.ts";
import { loadBorrowed, openOperations, readChildRecords, readOperationTable } from "./entries.ts";
import type { Fork, Irreversible } from "./events.ts";
import { isUndoable, workflowState } from "./read.ts";
import { type Creation, forkWorkflow } from "./rules/create.ts";
import {
  cancelWorkflow,
  closeWorkflow,
  type InterruptedRollback,
  type OperatorAnswer,
  type OperatorCommand,
  type RefusedMove,
} from "./rules/lifecycle.ts";
import { emptyTable, type RecordedOp, type RecordedUndo } from "./rules/operations.ts";
import type { LiveWorkflow, WorkflowStatus } from "./state.ts";

type DoneSoFar = {
  readonly calls: readonly RecordedOp[];
  readonly undos: readonly RecordedUndo[];
  readonly seq: number;
};

async function readDoneSoFar(runtime: Runtime, id: string, { rollback }: LiveWorkflow): Promise<DoneSoFar> {
  const { table, seq } = await readOperationTable(runtime, id);
  const calls: RecordedOp[] = [];
  const undos: RecordedUndo[] = [...table.undos];
  for (const record of table.ops.values()) {
    if (record.seq <= (rollback?.toSeq ?? 0)) continue;
    if (record.kind === "call") calls.push(record);
    if (record.kind !== "child") continue;
    const below = await readChildRecords(runtime, String(record.body["child"]));
    calls.push(...below.records.filter(({ kind }) => kind === "call"));
    undos.push(...below.undos);
  }
  const isMeant = ({ body }: RecordedOp) => rollback?.scope !== "declared" || body["rollback"] === true;
  return { calls: calls.filter(isMeant), undos, seq };
}

async function interruptedRollback(
  runtime: Runtime,
  id: string,
  state: LiveWorkflow,
): Promise<InterruptedRollback> {
  const { calls, undos, seq } = await readDoneSoFar(runtime, id, state);
  const undone = new Set(undos.flatMap(({ undoes, status }) => (status === "undone" ? undoes : [])));
  const notUndone: { action: string; reason: string }[] = [];
  const irreversible: Irreversible[] = [];
  for (const call of calls) {
    const { action, tool } = call.body as { readonly action: string; readonly tool: string };
    const { phase, ...facts } = await readState(runtime, actionStream(action));
    const undo = isUndoable(runtime, call);
    const isRead = "effectClass" in facts && facts.effectClass === "read";
    if (isRead || undone.has(action) || undo === "nothing") continue;
    if (phase === "in_doubt") notUndone.push({ action, reason: "it is in doubt" });
    if (phase !== "applied") continue;
    if (undo === "no") irreversible.push({ op: call.op, action, tool });
    else notUndone.push({ action, reason: "the rollback was cancelled before it was undone" });
  }
  return { seq, report: { undone: [...undone], notUndone, irreversible } };
}

/** A rule refused what an operator or the agent of the workflow asked for. */
export function refusedRequestError(
  id: string,
  what: string,
  { reason, status, isRecorded }: RefusedMove,
): HoldpointError {
  return new HoldpointError("wrong_state", `The workflow ${id} cannot ${what}: ${reason}.`, {
    details: { status },
    data: refusalData("request", isRecorded, "the workflow did not change"),
  });
}

export function checkOperatorAnswer(id: string, what: string, answer: OperatorAnswer): WorkflowStatus {
  if (answer.kind === "done") return answer.status;
  if (answer.kind === "unknown")
    throw new HoldpointError("unknown_id", `There is no workflow ${id}.`, { next: WORKFLOW_ID_HINT });
  throw refusedRequestError(id, what, answer);
}

/** A workflow that is rolling back reports how far it came. */
async function cancelNow(runtime: Runtime, command: OperatorCommand): Promise<OperatorAnswer> {
  for (;;) {
    const state = await workflowState(runtime, command.workflow);
    const back =
      state.status === "rolling_back" ? await interruptedRollback(runtime, command.workflow, state) : null;
    const answer = await runCommand(runtime, { write: [workflowStream(command.workflow)] }, (draft) =>
      cancelWorkflow(draft, back === null ? command : { ...command, back }),
    );
    if (answer.kind !== "moved") return answer;
  }
}

type Statement = Via & { readonly by: string; readonly reason: string };

export async function cancelById(runtime: Runtime, id: string, said: Statement): Promise<WorkflowStatus> {
  const { by, reason } = said;
  const answer = await cancelNow(runtime, { workflow: id, by, reason, ...channelField(said) });
  const status = checkOperatorAnswer(id, "be cancelled", answer);
  await withdrawOpen(runtime, id, { by, reason });
  await withdrawUndoIntents(runtime, id, { by, reason });
  return status;
}

function refuseFork(fork: Fork, why: string, next: string): never {
  const what = `The workflow ${fork.workflow} cannot be forked at "${fork.checkpoint}": ${why}.`;
  throw new HoldpointError("wrong_state", what, { next });
}

/** Its effect may already have happened, and the fork would repeat it. */
async function isUnderWay(runtime: Runtime, { kind, body }: RecordedOp): Promise<boolean> {
  if (kind !== "call") return kind === "child";
  const { phase } = await readState(runtime, actionStream(String(body["action"])));
  return phase === "running" || phase === "in_doubt";
}

/** Pending approvals are requested again in the fork; an operation under way would never end there. */
async function checkSettled(runtime: Runtime, fork: Fork): Promise<void> {
  const table = emptyTable();
  await loadBorrowed(runtime, table, fork);
  for (const open of openOperations(table))
    if (await isUnderWay(runtime, open))
      refuseFork(
        fork,
        `the ${open.kind} ${open.op} was begun before it and has not ended`,
        "Fork it when that has ended, or at a checkpoint before it.",
      );
}

function forkOf(id: string, state: LiveWorkflow, at: string): Fork {
  const found = state.passed.findLast(({ name, op }) => name === at || op === at);
  if (found !== undefined) {
    const { op, name: checkpoint, snapshot, approval, seq, at: passedAt } = found;
    const passed = { op, snapshot, approval, at: passedAt };
    return { workflow: id, seq, checkpoint, passed, upTo: state.seq };
  }
  const names = state.passed.map(({ name }) => `"${name}"`).join(", ");
  throw new HoldpointError("wrong_state", `The workflow ${id} has passed no checkpoint "${at}".`, {
    next: names === "" ? "It has passed none yet." : `It has passed ${names}.`,
  });
}

function forkCreation(runtime: Runtime, state: LiveWorkflow, fork: Fork): Creation {
  const { name, description, version, input, agent, requester } = state;
  const { parties, escrow, complexity, checkpoints } = state;
  const { attempts, rollbackEnabled, onIrreversible } = state;
  const facts = { name, description, version, input, agent, requester };
  const plan = { parties, escrow, complexity, checkpoints };
  const terms = { attempts, rollbackEnabled, onIrreversible, ...pickRunTerms(state), parent: null };
  const body = { ...facts, ...plan, ...terms, fork };
  return { workflow: freshId(runtime, "wf"), requestId: null, epoch: null, body };
}

/** No caller could find the fork by a request id, and no other program has its definition. */
function refuseOneRunFork(id: string): never {
  const what = `The workflow ${id} is a supervised run, and cannot be forked: its model, tools and policy are its own.`;
  throw new HoldpointError("wrong_state", what, {
    data: "Nothing was started.",
    next: "Call hp.supervise for a new run with another id.",
  });
}

function refuseRemoteFork(id: string): never {
  const what = `The workflow ${id} is driven by an agent from outside, and cannot be forked: no process could run the fork.`;
  throw new HoldpointError("wrong_state", what, {
    data: "Nothing was started.",
    next: "Have the agent create another workflow.",
  });
}

/** What was done up to the checkpoint is not done again. */
export async function forkById(
  runtime: Runtime,
  id: string,
  { at }: { readonly at: string },
): Promise<string> {
  for (;;) {
    const state = await workflowState(runtime, id);
    if (state.isOfOneRun === true) refuseOneRunFork(id);
    if (state.isOutside === true) refuseRemoteFork(id);
    const fork = forkOf(id, state, at);
    await checkSettled(runtime, fork);
    const creation = forkCreation(runtime, state, fork);
    const made = await runCommand(runtime, { write: [workflowStream(id)] }, (draft) =>
      forkWorkflow(draft, creation, fork),
    );
    if (made.kind === "forked") return made.workflow;
    if (made.kind === "going_back")
      refuseFork(
        fork,
        "it is rolled back past there",
        "Wait until it has gone back, then look what it has passed.",
      );
  }
}

type WithdrawReason = { readonly by: string; readonly reason: string };

/** Cancels compensations that people have not approved yet. */
async function withdrawUndos(
  runtime: Runtime,
  undos: readonly RecordedUndo[],
  { by, reason }: WithdrawReason,
): Promise<void> {
  for (const { action, status } of undos)
    if (status === "open")
      await runCommand(runtime, { write: [actionStream(action)] }, (draft) =>
        cancelAction(draft, { action, by, reason }),
      );
}

export async function withdrawQuestions(
  runtime: Runtime,
  records: Iterable<RecordedOp>,
  { by, reason }: WithdrawReason,
): Promise<void> {
  for (const { kind, body, settled } of records) {
    if (settled !== null) continue;
    const action = String(body["action"]);
    const approval = String(body["approval"]);
    if (kind === "call")
      await runCommand(runtime, { write: [actionStream(action)] }, (draft) =>
        cancelAction(draft, { action, by, reason }),
      );
    if (kind === "question")
      await runCommand(runtime, { write: [approvalStream(approval)] }, (draft) =>
        cancelApproval(draft, { approval, by, reason }),
      );
  }
}

/** Withdraws the intents that it sent and that have no answer yet. */
export async function withdrawSends(
  runtime: Runtime,
  records: Iterable<RecordedOp>,
  { by, reason }: WithdrawReason,
): Promise<void> {
  for (const { kind, body, settled } of records) {
    if (kind !== "send" || settled?.kind === "refused") continue;
    const intent = String(body["intent"]);
    await runCommand(runtime, { write: [intentStream(intent)] }, (draft) =>
      withdrawIntent(draft, { intent, by, reason }),
    );
  }
}

/** For a child that has ended or was just cancelled. */
export async function withdrawSentBy(
  runtime: Runtime,
  workflow: string,
  said: WithdrawReason,
): Promise<void> {
  const { table } = await readOperationTable(runtime, workflow);
  await withdrawSends(runtime, table.ops.values(), said);
}

/** Cancels a child and withdraws what that began. */
async function cancelChild(runtime: Runtime, workflow: string, said: WithdrawReason): Promise<void> {
  await runCommand(runtime, { write: [workflowStream(workflow)] }, (draft) =>
    cancelWorkflow(draft, { workflow, ...said }),
  );
  await withdrawOpen(runtime, workflow, said);
}

/** Withdraws questions and actions of a failed workflow, cancels its children, then closes it. */
export async function withdrawOpen(
  runtime: Runtime,
  id: string,
  { by, reason }: WithdrawReason,
): Promise<void> {
  const state = await readState(runtime, workflowStream(id));
  if (state.status === "none" || !state.closing) return;
  const said = { by, reason };
  const { table } = await readOperationTable(runtime, id);
  await withdrawQuestions(runtime, table.ops.values(), said);
  await withdrawSends(runtime, table.ops.values(), said);
  await withdrawUndos(runtime, table.undos, said);
  if (state.isOutside === true) await withdrawUndoIntents(runtime, id, said);
  for (const { kind, body, settled } of table.ops.values())
    if (kind === "child" && settled === null) await cancelChild(runtime, String(body["child"]), said);
  await runCommand(runtime, { write: [workflowStream(id)] }, (draft) => closeWorkflow(draft, id));
}

const CLOSING_PER_LOOK = 100;

/** Closes workflows that failed while no process was there to withdraw what they began. */
export async function closeFailed(runtime: Runtime): Promise<void> {
  const query = { view: "runs", bucket: "closing", order: "oldest", limit: CLOSING_PER_LOOK } as const;
  await forEachReadable(await runtime.store.query(runtime.tenant, query), async ({ stream: { id } }) => {
    const state = await readState(runtime, workflowStream(id));
    if (state.status !== "none" && state.end?.status === "failed") await withdrawOpen(runtime, id, state.end);
  });
}
