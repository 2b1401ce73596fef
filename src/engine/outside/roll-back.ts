/**
 * The way back of a workflow that an agent drives from outside.
 *
 * R1. The agent undoes what it did, one after the other; what a tool of this program did is undone here.
 * R2. What waits for people is withdrawn first; nobody has to be there for the rollback to end, once nothing is left to undo.
 */

import type { Caller } from "../../effects/advance-call.ts";
import { getUndoTool, proposeCall } from "../../effects/gate.ts";
import { cancelAction } from "../../effects/rules/propose.ts";
import { effectIdOf } from "../../effects/rules/start.ts";
import type { LiveAction } from "../../effects/state.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { actionStream, streamName, workflowStream } from "../../kernel/stream.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { loadArgs, loadValue, readState, runCommand } from "../../runtime/store-access.ts";
import { workflowState } from "../../workflows/read.ts";
import {
  type CallToUndo,
  endRemoteRollback,
  nextRemoteRollbackStep,
  type RemoteRollbackStep,
  settleRefusedCall,
} from "../../workflows/rules/rollback.ts";
import type { LiveWorkflow } from "../../workflows/state.ts";
import { withdrawOpen } from "../../workflows/withdraw.ts";

import type { OutsideAnswer } from "./answer.ts";
import { checkAction, checkPrincipal, notYours } from "./check-outside.ts";
import { askForUndo, followUndos, withdrawAsked } from "./compensation-intents.ts";
import { type TakingBack, undoOfAction } from "./declared-undo.ts";
import { takenBackBy, undoNamed } from "./outside-tool.ts";
import { proposeAsked, takeUp } from "./propose.ts";
import { type Range, rangeAfter } from "./range.ts";

/** Something that the agent has to take back now. */
export type Compensation = {
  readonly workflow: string;
  /** The agent that did it. */
  readonly agent: string;
  /** The action that it undoes, and what that was. */
  readonly undoes: string;
  readonly tool: string;
  readonly args: Json;
  readonly result: Json;
  /** How its agent had said that it would take it back; null where it said nothing. */
  readonly undo: { readonly tool: string; readonly args: Json } | null;
  /** The how-manieth attempt. */
  readonly attempt: number;
  /** Its own action, once the agent has asked for it. */
  readonly action: string | null;
  /** Why the workflow goes back, and who sent it. */
  readonly reason: string;
  readonly by: string;
};

type Back = { readonly state: LiveWorkflow; readonly range: Range; readonly way: RemoteRollbackStep };

/** undefined: it does not go back. */
async function lookBack(runtime: Runtime, workflow: string): Promise<Back | undefined> {
  const state = await workflowState(runtime, workflow);
  const { rollback } = state;
  if (state.isOutside !== true || state.status !== "rolling_back" || rollback === null) return undefined;
  const range = await rangeAfter(runtime, workflow, rollback.toSeq);
  return { state, range, way: nextRemoteRollbackStep(range.calls, range.undos) };
}

type Did = { readonly args: Json; readonly result: Json };

const stateOf = async (runtime: Runtime, { action }: CallToUndo): Promise<LiveAction> =>
  (await readState(runtime, actionStream(action))) as LiveAction;

async function didOf(runtime: Runtime, call: CallToUndo): Promise<Did> {
  const state = await stateOf(runtime, call);
  const result = "outcome" in state ? await loadValue(runtime, state.outcome.result) : null;
  return { args: await loadArgs(runtime, state), result };
}

const declaredFor = async (runtime: Runtime, call: CallToUndo): Promise<TakingBack | undefined> =>
  undoOfAction(runtime, await stateOf(runtime, call));

/** What the agent has to undo now: at most one thing at a time. */
export type Outstanding = {
  readonly compensations: readonly Compensation[];
  /** It goes back, and there is nothing for the agent to do at this moment: something has not ended yet, or is undone here. */
  readonly isSettling: boolean;
};

/** Reads alone: whoever asks does not make it go back. */
export async function outstandingIn(runtime: Runtime, workflow: string): Promise<Outstanding> {
  const back = await lookBack(runtime, workflow);
  if (back?.way.kind !== "undo" || back.way.call.undo !== "agent")
    return { compensations: [], isSettling: back !== undefined };
  const { call, attempt, action } = back.way;
  const { agent, rollback } = back.state;
  const { reason, by } = rollback ?? { reason: "", by: "" };
  const { args, result } = await didOf(runtime, call);
  const declared = await declaredFor(runtime, call);
  const undo = declared === undefined ? null : { tool: declared.tool, args: declared.args };
  const what = { undoes: call.action, tool: call.tool, args, result, undo };
  return { compensations: [{ workflow, agent, ...what, attempt, action, reason, by }], isSettling: false };
}

export const compensationsOf = async (runtime: Runtime, workflow: string): Promise<readonly Compensation[]> =>
  (await outstandingIn(runtime, workflow)).compensations;

/** Nobody is asked any more about what it had begun. Answers whether anything was withdrawn. */
async function withdraw(runtime: Runtime, workflow: string, { calls, undos }: Range): Promise<boolean> {
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

/** One that its agent named is a call of that tool, and its name says so. */
const undoId = ({ op }: CallToUndo, attempt: number, declared?: TakingBack): string =>
  declared === undefined ? `${op}/undo#${attempt}` : `${op}/undo/${declared.tool}#${attempt}`;

type Undoing = { readonly call: CallToUndo; readonly attempt: number; readonly declared?: TakingBack };

function placeOf(workflow: string, { call, attempt, declared }: Undoing) {
  const op = undoId(call, attempt, declared);
  const within = { workflow, op, undoes: call.action, goesOn: false, epoch: "", rollback: false };
  return declared === undefined ? within : { ...within, declared: declared.seen };
}

/** Whoever asked for what is taken back, and for whom it was done: none of them decides about taking it back either. */
async function askersOf(runtime: Runtime, { requester }: LiveWorkflow, call: CallToUndo) {
  const { requester: own } = await stateOf(runtime, call);
  return [...new Set([...requester, ...own])];
}

/** By a tool of this program. Answers whether it was undone. */
async function undoHere(runtime: Runtime, { state, way }: Back, workflow: string): Promise<boolean> {
  if (way.kind !== "undo") return false;
  const { call, attempt } = way;
  const tool = runtime.tools.get(call.tool);
  const undo = tool === undefined ? undefined : getUndoTool(tool);
  if (undo === undefined || undo.outside !== undefined) return false;
  const { agent } = state;
  const requester = await askersOf(runtime, state, call);
  const answer = await proposeCall(runtime, undo, await didOf(runtime, call), {
    requestId: undoId(call, attempt),
    waitMs: 0,
    agent,
    requester,
    placement: placeOf(workflow, { call, attempt }),
  });
  return answer.executed === true;
}

async function endBack(runtime: Runtime, workflow: string, { range, way }: Back): Promise<boolean> {
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

/** The agent is asked, once for each attempt. */
async function askAgent(runtime: Runtime, workflow: string, { state, way }: Back): Promise<void> {
  if (way.kind !== "undo" || way.call.undo !== "agent" || way.action !== null) return;
  const { call, attempt } = way;
  const { agent, rollback } = state;
  const declared = await declaredFor(runtime, call);
  const what = { undoes: call.action, tool: call.tool, attempt, requestId: undoId(call, attempt, declared) };
  const by = declared === undefined ? {} : { undoTool: declared.tool };
  await askForUndo(runtime, { workflow, agent, ...what, ...by, reason: rollback?.reason ?? "" });
}

/**
 * Goes as far back as it can without the agent: to the end, if nothing is left to undo. `left`: nothing is to be done until
 * something moves; `later`: something that is undone here is to be tried again.
 */
export async function settleRollback(runtime: Runtime, workflow: string): Promise<"left" | "later"> {
  for (;;) {
    const back = await lookBack(runtime, workflow);
    if (back === undefined) return "left";
    await followUndos(runtime, workflow, back.range.undos);
    if (await withdraw(runtime, workflow, back.range)) continue;
    const { way } = back;
    if (way.kind === "undo" && way.call.undo === "here") {
      if (!(await undoHere(runtime, back, workflow))) return "later";
    } else if (way.kind !== "over") {
      await askAgent(runtime, workflow, back);
      return "left";
    } else if (await endBack(runtime, workflow, back)) return "left";
  }
}

function notNow(workflow: string, undoes: string, why: string): HoldpointError {
  return new HoldpointError("wrong_state", `${undoes} cannot be undone now: ${why}.`, {
    data: "Nothing was written.",
    next: `Ask what has to be undone in ${workflow}, and undo that.`,
    details: { workflow },
  });
}

function whyNot(way: RemoteRollbackStep): string {
  if (way.kind === "waits") return `${way.on.map(effectIdOf).join(", ")} has not ended, or is in doubt`;
  return way.kind === "over" ? "nothing is left to undo" : `${way.call.action} comes first`;
}

/** The agent asks to take back what it did: an action of its own, permitted like any other. */
export async function proposeUndo(
  runtime: Runtime,
  workflow: string,
  { undoes, agent, caller }: { readonly undoes: string; readonly agent: string; readonly caller: Caller },
): Promise<OutsideAnswer> {
  checkPrincipal("The agent", agent);
  checkAction(undoes);
  const { agent: own } = await workflowState(runtime, workflow);
  // Before anything moves: whoever it is not does not make it go back.
  if (own !== agent) throw notYours(`The workflow ${workflow}`, agent);
  await settleRollback(runtime, workflow);
  const back = await lookBack(runtime, workflow);
  if (back === undefined) {
    // Whoever ended it may have died before they could say so.
    await withdrawAsked(runtime, workflow, { by: "rollback", reason: `${workflow} does not go back` });
    throw notNow(workflow, undoes, `${workflow} does not go back`);
  }
  const { way, state } = back;
  if (way.kind !== "undo" || way.call.action !== undoes || way.call.undo !== "agent")
    throw notNow(workflow, undoes, whyNot(way));
  const { call, attempt, action } = way;
  if (action !== null) return takeUp(runtime, action, { agent, caller });
  const declared = await declaredFor(runtime, call);
  const requester = await askersOf(runtime, state, call);
  const asking = {
    tool:
      declared === undefined
        ? undoNamed(runtime, call.tool)
        : takenBackBy(runtime, declared.tool, declared.seen),
    agent,
    requester,
    requestId: undoId(call, attempt, declared),
    says: null,
    caller,
    placement: placeOf(workflow, { call, attempt, ...(declared === undefined ? {} : { declared }) }),
  };
  const answer = await proposeAsked(runtime, asking, declared?.args ?? (await didOf(runtime, call)));
  await settleRollback(runtime, workflow);
  return answer;
}

const PAGE = 100;

async function* goingBack({ store, tenant }: Runtime): AsyncGenerator<string> {
  let after: { at: number; stream: string } | undefined;
  do {
    const query = { view: "runs", bucket: "outside", order: "oldest", limit: PAGE } as const;
    const page = await store.query(tenant, after === undefined ? query : { ...query, after });
    for (const { stream } of page) yield stream.id;
    const last = page.length < PAGE ? undefined : page.at(-1);
    after = last === undefined ? undefined : { at: last.at, stream: streamName(last.stream) };
  } while (after !== undefined);
}

/** Where each stood when it was left to its agent: until something moves there, there is nothing to do. */
const left = new WeakMap<Runtime["tools"], Map<string, number>>();

async function sweepOne(runtime: Runtime, workflow: string, known: Map<string, number>): Promise<void> {
  const { seq } = await workflowState(runtime, workflow);
  if (known.get(workflow) === seq) return;
  known.delete(workflow);
  if ((await settleRollback(runtime, workflow)) === "left") known.set(workflow, seq);
}

/** Rollbacks that nobody has to be there for any more. One that fails keeps nobody from the next. */
export async function sweepRollbacks(runtime: Runtime): Promise<void> {
  const known = left.get(runtime.tools) ?? new Map<string, number>();
  left.set(runtime.tools, known);
  const failures: unknown[] = [];
  const found = new Set<string>();
  for await (const workflow of goingBack(runtime)) {
    found.add(workflow);
    await sweepOne(runtime, workflow, known).catch((error: unknown) => failures.push(error));
  }
  for (const workflow of known.keys()) if (!found.has(workflow)) known.delete(workflow);
  if (failures.length > 0) throw failures[0];
}
