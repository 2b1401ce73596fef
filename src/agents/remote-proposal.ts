/**
 * A remote agent proposes an action to perform itself; it gets a verdict, a pending approval, or a permit.
 * - The same request id always leads to the same action. Once people have approved it, the answer is the permit.
 * - Only the agent that proposed an action takes it up.
 * - The rules of permits decide who receives a permit again.
 * - Nothing is started, begun or issued for a caller whose connection is gone.
 * - Only misuse and store failures throw.
 */
import type { UndoCall } from "../approvals/state.ts";
import { getReceipt } from "../effects/actions.ts";
import { advanceCall, type Caller, type CallSource, throwIfCallerGone } from "../effects/advance-call.ts";
import { type Answer, obstacleKind } from "../effects/answer.ts";
import { plainJson } from "../effects/arguments.ts";
import { refuseNested, refuseUnnamed } from "../effects/call-context.ts";
import { requestConflict, TurnedAway, takeUpAction, underWay } from "../effects/execute.ts";
import { argsFor, checkGateOptions, proposeCall } from "../effects/gate.ts";
import { probeAction } from "../effects/recover.ts";
import type { Advanced } from "../effects/rules/advance.ts";
import { askForPermit, type PermitAsk, type PermitLook, permitState } from "../effects/rules/permit.ts";
import type { ProposeAnswer } from "../effects/rules/propose.ts";
import { type Receipt, receiptOf } from "../effects/rules/receipt.ts";
import type { ActionIn, LiveAction } from "../effects/state.ts";
import type { Tool } from "../effects/tool.ts";
import { digestOf } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { rejectInput } from "../kernel/fields.ts";
import type { Json } from "../kernel/json.ts";
import type { Refusal } from "../kernel/refusals.ts";
import { actionStream } from "../kernel/stream.ts";
import type { Draft, Need } from "../kernel/transaction.ts";
import { FINAL } from "../policy/rules/tools.ts";
import { freshId, type Runtime } from "../runtime/runtime.ts";
import { redactText } from "../runtime/secrets.ts";
import { loadArgs, loadValue, readState, runCommand } from "../runtime/store-access.ts";
import { workflowState } from "../workflows/read.ts";
import type { Placement } from "../workflows/rules/calls.ts";
import type { Permit, RemoteAnswer, RemoteProposal } from "./contract.ts";
import {
  type AgentConnection,
  checkActionId,
  notYoursError,
  readPermitCaller,
  requesterWithAgent,
} from "./remote-checks.ts";
import {
  findOrDefineTool,
  isUndoOfAnother,
  prepareDeclaredUndo,
  remoteToolOfAction,
  undoKind,
} from "./remote-tool.ts";

type CheckedProposal = {
  readonly tool: Tool;
  readonly agent: string;
  readonly requester: readonly string[];
  readonly requestId: string | null;
  readonly says: string | null;
  readonly caller: Caller;
  readonly placement?: Placement;
  readonly undo?: UndoCall;
};

/** Checks the proposal and finds its tool. */
function checkProposal(runtime: Runtime, given: RemoteProposal, caller: Caller): CheckedProposal {
  const { agent, requestId, rationale } = given;
  const options = {
    ...(requestId == null ? {} : { requestId }),
    ...(rationale == null ? {} : { rationale }),
  };
  checkGateOptions(options);
  if (given.tool === FINAL) rejectInput(`"${FINAL}" stands for an agent's answer: no tool has that name.`);
  if (/^wf_[0-9A-Z]{26}\//.test(requestId ?? ""))
    rejectInput("A request id may not look like an operation of Holdpoint's own.");
  if (runtime.tools.get(given.tool)?.isOwn === true)
    rejectInput(`"${given.tool}" is not for agents to propose.`);
  if (isUndoOfAnother(runtime, given.tool))
    rejectInput(`"${given.tool}" undoes what another tool did: propose it with hp.remote.workflows.undo().`);
  return {
    tool: findOrDefineTool(runtime, given.tool),
    agent,
    requester: requesterWithAgent(agent, given.onBehalfOf),
    requestId: requestId ?? null,
    says: rationale ?? null,
    caller,
  };
}

/** Places the call in the workflow that the agent drives. */
async function placeInWorkflow(
  runtime: Runtime,
  asking: CheckedProposal,
  workflow: string,
): Promise<CheckedProposal> {
  const state = await workflowState(runtime, workflow);
  if (state.isOutside !== true || state.agent !== asking.agent)
    throw notYoursError(`The workflow ${workflow}`, asking.agent);
  const { name } = asking.tool.rules;
  const op = `${workflow}/${state.generation}//${name}#${freshId(runtime, "non")}`;
  const undo = asking.undo === undefined ? undoKind(asking.tool) : "agent";
  const placement = { workflow, op, undoes: null, goesOn: false, epoch: "", rollback: true, undo };
  return { ...asking, placement, requester: [...new Set([...asking.requester, ...state.requester])] };
}

/** If its workflow is not executing now, the action stays as it is. */
async function currentAnswer(runtime: Runtime, action: string): Promise<RemoteAnswer> {
  const state = await readState(runtime, actionStream(action));
  if (state.phase === "waiting") return pendingRemotely(action, state.approval, null);
  if (state.phase === "open" && state.held !== null) return heldRemotely(action, state.held);
  throw notExecuting(state.phase === "none" ? undefined : state.within?.workflow);
}

function notExecuting(workflow: string | undefined): HoldpointError {
  return new HoldpointError("wrong_state", `The workflow ${workflow} does not execute now.`, {
    next: "Look at the workflow: people may have to decide first, or it goes back.",
  });
}

/** Repeats until there is an answer: after a reviewed edit, or a change by another process, it looks again. */
type RemoteOutcome = Extract<RemoteAnswer, { readonly receipt: unknown }>;

const OUTCOMES = { applied: "done", not_applied: "failed", in_doubt: "in_doubt" } as const;

function outcomeAnswer(action: string, receipt: Receipt, result: Json): RemoteOutcome {
  return { status: OUTCOMES[receipt.status], action, receipt, result };
}

function pendingRemotely(action: string, approval: string, decideBy: number | null): RemoteAnswer {
  return { status: "pending", waitingFor: "approval", action, approval, decideBy };
}

function heldRemotely(action: string, why: Refusal): RemoteAnswer {
  return { status: "pending", waitingFor: obstacleKind(why), action, ...why };
}

async function loadPermit(runtime: Runtime, action: string, state: ActionIn<"running">): Promise<Permit> {
  const { effect } = state;
  const { grant } = effect;
  const { isBegun, handedOut } = permitState(state);
  return {
    status: "permitted",
    action,
    effect: effect.id,
    tool: state.tool,
    key: effect.id,
    args: await loadArgs(runtime, state),
    approvedBy: grant.kind === "verdict" ? [] : [...grant.by],
    notes: grant.kind === "approval" ? [...grant.notes] : [],
    reportBy: effect.reportBy ?? 0,
    executeBy: effect.executeBy,
    begun: isBegun,
    handedOut,
  };
}

/** The caller, and the tool of the effect. */
type PermitContext = { readonly caller: Caller; readonly tool: Tool };

/** For an action that has an outcome, was refused, or whose permit the agent requests. */
async function answerAtRest(runtime: Runtime, action: string, asks: PermitContext): Promise<RemoteAnswer> {
  const state = (await readState(runtime, actionStream(action))) as LiveAction;
  if (state.phase === "refused")
    return { status: "refused", action, approval: state.approval, ...state.refusal };
  if (state.phase === "running") return askForPermitAgain(runtime, action, asks);
  if ("outcome" in state) {
    const receipt = receiptOf(runtime.tenant, action, state);
    return outcomeAnswer(action, receipt, await loadValue(runtime, state.outcome.result));
  }
  throw new TypeError(`the action ${action} has not come to rest`);
}

/** Begins and issues nothing for a caller that is gone. */
function askUnlessGone(draft: Draft, asked: PermitAsk, { isGone }: Caller): Need | PermitLook {
  const look = askForPermit(draft, asked);
  if (isGone !== undefined && (look.kind === "permitted" || look.kind === "doubted"))
    throwIfCallerGone({ isGone });
  return look;
}

async function askForPermitAgain(
  runtime: Runtime,
  action: string,
  asks: PermitContext,
): Promise<RemoteAnswer> {
  const { caller, tool } = asks;
  const { keyRetentionMs } = tool.rules;
  const look = await runCommand(runtime, { write: [actionStream(action)] }, (draft) =>
    askUnlessGone(draft, { ...caller.asker, action, keyRetentionMs }, caller),
  );
  switch (look.kind) {
    case "permitted":
      return loadPermit(runtime, action, look.state);
    case "pending":
      return { status: "pending", waitingFor: "holder", action, reportBy: look.reportBy };
    case "held":
      return heldRemotely(action, look.refusal);
    case "doubted":
      await afterDoubt(runtime, action, look.state);
      return answerAtRest(runtime, action, asks);
    case "settled":
      return answerAtRest(runtime, action, asks);
  }
}

/** Notifies people; probes at once if the tool can. */
async function afterDoubt(runtime: Runtime, action: string, state: ActionIn<"in_doubt">): Promise<void> {
  const { effect, outcome, tool } = state;
  runtime.notify({ kind: "in_doubt", action, effect: effect.id, tool, reason: outcome.reason });
  await probeAction(runtime, action, runtime.clock);
}

/** undefined: another process changed it in between, look again. */
async function answerRemoteAgent(
  runtime: Runtime,
  answer: Advanced & { readonly action: string },
  asks: PermitContext,
): Promise<RemoteAnswer | undefined> {
  const { action } = answer;
  switch (answer.kind) {
    case "started":
      return loadPermit(runtime, action, answer.state);
    case "waiting":
      return pendingRemotely(action, answer.approval, answer.decideBy);
    case "held":
      return heldRemotely(action, answer.refusal);
    case "refused":
    case "settled":
      return answerAtRest(runtime, action, asks);
    case "moved":
    case "turned":
      return undefined;
    case "epoch_ended":
      throw new HoldpointError("epoch_ended", "This process was taken for dead and another one took over.");
  }
}

/** The same for a tool that is performed here. */
async function answerFromLocalCall(runtime: Runtime, answer: Answer<Json>): Promise<RemoteAnswer> {
  const { action } = answer;
  if (answer.status === "done") return outcomeAnswer(action, answer.receipt, answer.result);
  if (answer.status === "in_doubt") return outcomeAnswer(action, answer.receipt, null);
  const { by, code, reason, retry, next, approval } = answer;
  const why = { by, code, reason, retry, next };
  if (answer.status === "pending")
    return approval === null ? heldRemotely(action, why) : pendingRemotely(action, approval, null);
  const receipt = answer.status === "failed" ? await getReceipt(runtime, action) : undefined;
  if (receipt !== undefined) return outcomeAnswer(action, receipt, null);
  return { status: "refused", action, approval, ...why };
}

async function advanceUntilAnswered(
  runtime: Runtime,
  action: string,
  asks: PermitContext,
): Promise<RemoteAnswer> {
  const { tool, caller } = asks;
  for (;;) {
    const moved = await advanceOnce(runtime, tool, { action, approval: null, caller }, null);
    if (moved.kind === "new" && moved.answer.kind === "turned") return currentAnswer(runtime, action);
    const answer =
      moved.kind === "new" ? await answerRemoteAgent(runtime, { ...moved.answer, action }, asks) : undefined;
    if (answer !== undefined) return answer;
  }
}

function advanceOnce(
  runtime: Runtime,
  tool: Tool,
  source: CallSource,
  digest: string | null,
): Promise<ProposeAnswer> {
  return underWay(runtime, () => advanceCall(runtime, tool, source, digest));
}

function notifyWaiting(runtime: Runtime, action: string, tool: Tool, answer: Advanced): void {
  if (answer.kind !== "waiting") return;
  const { approval, decideBy } = answer;
  runtime.notify({ kind: "waiting", action, approval, tool: tool.rules.name, decideBy });
}

const rethrowNotExecuting =
  ({ placement }: CheckedProposal) =>
  (error: unknown) => {
    throw error instanceof TurnedAway ? notExecuting(placement?.workflow) : error;
  };

/** `given`: a copy of the caller's arguments. */
export async function proposeChecked(
  runtime: Runtime,
  asking: CheckedProposal,
  given: ReturnType<typeof plainJson>,
): Promise<RemoteAnswer> {
  const { tool, requestId, says: words, caller, ...who } = asking;
  if (tool.outside === undefined) {
    const { undo: _none, ...place } = who;
    const options = { ...place, requestId, waitMs: 0, ...(words === null ? {} : { rationale: words }) };
    return answerFromLocalCall(
      runtime,
      await proposeCall(runtime, tool, given, options).catch(rethrowNotExecuting(asking)),
    );
  }
  const { args, known } = await argsFor(runtime, tool, given, requestId);
  const says = words === null ? null : redactText(words, known);
  const action = freshId(runtime, "act");
  const proposal = { ...who, action, requestId, says, args, givenDigest: digestOf(given) };
  const proposed = await advanceOnce(runtime, tool, { proposal, caller }, digestOf(args));
  if (proposed.kind === "conflict") throw requestConflict(requestId, proposed.action);
  const asks = { caller, tool };
  if (proposed.kind === "existing") return advanceUntilAnswered(runtime, proposed.action, asks);
  if (proposed.kind === "turned") throw notExecuting(asking.placement?.workflow);
  const { answer } = proposed;
  notifyWaiting(runtime, action, tool, answer);
  return (
    (await answerRemoteAgent(runtime, { ...answer, action }, asks)) ??
    advanceUntilAnswered(runtime, action, asks)
  );
}

export async function proposeRemoteAction(
  runtime: Runtime,
  given: RemoteProposal,
  connection: AgentConnection = {},
): Promise<RemoteAnswer> {
  const { args, workflow, undo } = given;
  const plain = plainJson(args);
  const asked = checkProposal(runtime, given, readPermitCaller(runtime, given, connection));
  const { tool, requestId } = asked;
  // The agent performs a tool that is only declared: the proposal itself has no effect.
  if (tool.outside === undefined) refuseNested(tool.rules.name, requestId !== null);
  refuseUnnamed(`The tool "${tool.rules.name}" was proposed`, requestId, "Give it a request id.");
  const asking =
    undo == null
      ? asked
      : {
          ...asked,
          undo: await prepareDeclaredUndo(runtime, undo, { tool, workflow: workflow ?? undefined }),
        };
  return proposeChecked(
    runtime,
    workflow == null ? asking : await placeInWorkflow(runtime, asking, workflow),
    plain,
  );
}

/** The action, if it belongs to this agent. */
export async function loadOwnAction(runtime: Runtime, action: string, agent: string): Promise<LiveAction> {
  const state = await readState(runtime, actionStream(checkActionId(action)));
  if (state.phase === "none") throw new HoldpointError("unknown_id", `There is no action ${action}.`);
  if (state.agent !== agent) throw notYoursError(`The action ${action}`, agent);
  return state;
}

/** The same by the action's id: the agent returns to its proposal. */
export async function takeUpPermit(
  runtime: Runtime,
  action: string,
  { agent, caller }: { readonly agent: string; readonly caller: Caller },
): Promise<RemoteAnswer> {
  const state = await loadOwnAction(runtime, action, agent);
  const tool = remoteToolOfAction(runtime, state);
  if (state.outside === true)
    return advanceUntilAnswered(runtime, action, { tool: requireRemoteTool(tool, state), caller });
  refuseNested(tool.rules.name, true);
  return answerFromLocalCall(runtime, await takeUpAction(runtime, tool, action));
}

/** A program that has got a function for the tool since does not perform what an agent was to perform. */
function requireRemoteTool(tool: Tool, { tool: name }: LiveAction): Tool {
  if (tool.outside !== undefined) return tool;
  throw new HoldpointError("tool_conflict", `"${name}" is performed by this program by now.`, {
    data: "Nothing was written; the action is as it was.",
    next: "Propose it again under a new request id.",
  });
}
