/**
 * Implementation of the verbs of remote agents, and the methods of `hp.remote`, for an embedding program: those of its
 * agents' workflows, and tools that agents execute themselves.
 */
import { getAction } from "../effects/actions.ts";
import { plainJson } from "../effects/arguments.ts";
import type { Gates } from "../effects/gate.ts";
import { checkId } from "../kernel/fields.ts";
import { isJsonObject, type Json } from "../kernel/json.ts";
import { actionStream, workflowStream } from "../kernel/stream.ts";
import type { Runtime, RuntimeOpener } from "../runtime/runtime.ts";
import { readState } from "../runtime/store-access.ts";
import {
  bindLibrary,
  capability,
  decideVerb,
  preparedVerb,
  readVerb,
  runVerb,
  type VerbContext,
} from "../runtime/verb.ts";
import { withdrawOpen } from "../workflows/operate.ts";
import { workflowState } from "../workflows/read.ts";
import {
  completeRemoteWorkflow,
  type DriveDone,
  type DriveRefused,
  failRemoteWorkflow,
  startRemoteWorkflow,
} from "../workflows/rules/remote.ts";
import type { WorkflowStatus } from "../workflows/state.ts";
import { workflowVerbs } from "../workflows/verbs.ts";
import {
  type Compensation,
  type PermitRequest,
  type RemoteAnswer,
  type RemoteProposal,
  type RemoteVerbs,
  type RemoteWorkflowVerbs,
  remote,
  remoteWorkflows,
} from "./contract.ts";
import { checkMayRepresent } from "./identify-agent.ts";
import { reachRemoteCheckpointNow } from "./remote-checkpoint.ts";
import { readPermitCaller, requireDriver } from "./remote-checks.ts";
import { proposeRemoteAction, takeUpPermit } from "./remote-proposal.ts";
import { answerReport, decideReport, prepareReport } from "./remote-report.ts";
import { proposeUndo, readOutstanding, settleRollback } from "./remote-rollback.ts";
import { declareTool, type RemoteTool } from "./remote-tool.ts";
import {
  createRemoteWorkflowNow,
  getRemoteWorkflow,
  type NewRemoteWorkflow,
  type RemoteWorkflow,
} from "./remote-workflow.ts";

// `kind` with "waiting" and "held": replies that 0.1.0 stored.
const UNSETTLED = new Set<unknown>(["permitted", "pending", "waiting", "held"]);

/** The action of a kept answer that may be outdated by people, time or the kill switch. */
const unsettledIn = (kept: Json): string | undefined =>
  isJsonObject(kept) && UNSETTLED.has(kept["status"] ?? kept["kind"]) ? String(kept["action_id"]) : undefined;

/** undefined if there is no such action. */
async function phaseOf(runtime: Runtime, id: string): Promise<string | undefined> {
  return (await getAction(runtime, id).catch(() => undefined))?.phase;
}

/** A held action that has not asked people yet may do so when it goes on. */
const isOpen = async (runtime: Runtime, id: string | undefined): Promise<boolean> =>
  id !== undefined && (await phaseOf(runtime, id)) === "open";

/** A question that was already asked is answered regardless of how many are pending. */
async function mayPropose(
  runtime: Runtime,
  { requestId }: Partial<Pick<RemoteProposal, "requestId">>,
  kept?: Json,
): Promise<boolean> {
  if (kept !== undefined) return isOpen(runtime, unsettledIn(kept));
  if (requestId == null) return true;
  return ["open", undefined].includes(await phaseOf(runtime, requestId));
}

/** Without authentication, a request that names no agent acts as the agent of that action. */
async function defaultActor(runtime: Runtime, id: string): Promise<string> {
  const state = await readState(runtime, actionStream(id));
  return state.phase === "none" ? "agent:unknown" : state.agent;
}

const returning = {
  defaultActor,
  mayAsk: (runtime: Runtime, { id }: { readonly id?: string }) => isOpen(runtime, id),
};

function propose({ runtime, caller, isGone }: VerbContext, proposal: RemoteProposal): Promise<RemoteAnswer> {
  checkMayRepresent(caller, proposal.onBehalfOf);
  return proposeRemoteAction(runtime, proposal, { isGone });
}

const proposing = {
  mayAsk: mayPropose,
  again(kept: Json) {
    const action = unsettledIn(kept);
    if (action === undefined) return undefined;
    return ({ runtime, isGone }: VerbContext, { agent, ...asked }: PermitRequest & { agent: string }) =>
      takeUpPermit(runtime, action, { agent, caller: readPermitCaller(runtime, asked, { isGone }) });
  },
};

export const remoteVerbs = capability(remote, {
  propose: { ...runVerb(propose), ...proposing },
  start: {
    ...runVerb(({ runtime, isGone }, { id, agent, ...asked }) =>
      takeUpPermit(runtime, id, { agent, caller: readPermitCaller(runtime, asked, { isGone }) }),
    ),
    ...returning,
  },
  begin: {
    ...runVerb(({ runtime, isGone }, { id, agent, holder }) => {
      const caller = readPermitCaller(runtime, { holder, begin: true }, { isGone });
      return takeUpPermit(runtime, id, { agent, caller });
    }),
    ...returning,
  },
  report: { ...preparedVerb(prepareReport, decideReport, answerReport), defaultActor },
});

/** Without authentication, a request that names no agent acts as the agent of that workflow. */
const driving = {
  defaultActor: async (runtime: Runtime, id: string): Promise<string> =>
    (await workflowState(runtime, id)).agent,
};

type Move = { readonly id: string; readonly agent: string };
const driverIn = ({ id: workflow, agent }: Move) => ({ workflow, agent });

async function prepareMove<In extends Move>(runtime: Runtime, input: In) {
  await workflowState(runtime, input.id);
  return { input, needs: { write: [workflowStream(input.id)] } };
}

/** `what`: as an error says it. */
const statusAfter =
  (what: string) =>
  (_runtime: Runtime, answer: DriveRefused | DriveDone, { id, agent }: Move): WorkflowStatus =>
    requireDriver(id, agent, what, answer).state.status;

/** Withdraws what it began. If it was created with rollback enabled, begins to undo its effects. */
async function settleFailure(
  runtime: Runtime,
  answer: DriveRefused | DriveDone,
  { id, agent, reason }: Move & { readonly reason: string },
): Promise<WorkflowStatus> {
  requireDriver(id, agent, "fail", answer);
  await withdrawOpen(runtime, id, { by: agent, reason });
  await settleRollback(runtime, id);
  return (await workflowState(runtime, id)).status;
}

export const remoteWorkflowVerbs = capability(remoteWorkflows, {
  start: {
    ...decideVerb(
      (draft, move: Move) => startRemoteWorkflow(draft, driverIn(move)),
      statusAfter("start"),
      prepareMove,
    ),
    ...driving,
  },
  checkpoint: {
    ...runVerb(({ runtime }, { id, ...given }) => reachRemoteCheckpointNow(runtime, id, given)),
    ...driving,
  },
  propose: {
    ...runVerb((context, { id: workflow, ...proposal }) => propose(context, { ...proposal, workflow })),
    ...proposing,
    ...driving,
  },
  complete: {
    ...decideVerb(
      (draft, move: Move & { readonly result?: unknown }) =>
        completeRemoteWorkflow(draft, driverIn(move), move.result as Json),
      statusAfter("be completed"),
      (runtime, { result, ...move }) =>
        prepareMove(runtime, { ...move, result: result === undefined ? null : plainJson(result) }),
    ),
    ...driving,
  },
  fail: {
    ...decideVerb(
      (draft, move: Move & { readonly reason: string }) =>
        failRemoteWorkflow(draft, driverIn(move), move.reason),
      settleFailure,
      prepareMove,
    ),
    ...driving,
  },
  outstanding: readVerb((runtime, { id }) => readOutstanding(runtime, id)),
  compensate: {
    ...runVerb(({ runtime, isGone }, { id, action: undoes, agent, ...asked }) => {
      const caller = readPermitCaller(runtime, asked, { isGone });
      return proposeUndo(runtime, id, { undoes, agent, caller });
    }),
    ...driving,
  },
});

export type Remote = RemoteVerbs & {
  /** Declares a tool that remote agents execute themselves: it has rules and no `run` function. */
  tool<Args>(definition: RemoteTool<Args>): void;
  readonly workflows: RemoteWorkflows;
};

export type RemoteWorkflows = RemoteWorkflowVerbs & {
  /** Returns its id. */
  create(creation: NewRemoteWorkflow): Promise<string>;
  /** Ends it. Effects stay. */
  cancel(id: string, said: { readonly by: string; readonly reason: string }): Promise<WorkflowStatus>;
  get(id: string): Promise<RemoteWorkflow>;
  /** What its agent has to undo now, during a rollback. */
  compensations(id: string): Promise<readonly Compensation[]>;
  /** The agent undoes one of them: an action of its own, which it performs and reports. */
  undo(id: string, what: UndoInput): Promise<RemoteAnswer>;
};

type UndoInput = Parameters<RemoteWorkflowVerbs["compensate"]>[2] & { readonly undoes: string };

function remoteWorkflowMethods(open: RuntimeOpener): RemoteWorkflows {
  const verbs = bindLibrary(open, remoteWorkflowVerbs);
  return {
    ...verbs,
    create: async (creation) => createRemoteWorkflowNow(await open(), creation),
    cancel: bindLibrary(open, workflowVerbs).cancel,
    get: async (workflow) => getRemoteWorkflow(await open(), checkId("A workflow", workflow)),
    compensations: async (workflow) => (await verbs.outstanding(workflow)).compensations,
    undo: (workflow, { undoes, ...request }) => verbs.compensate(workflow, undoes, request),
  };
}

export function remoteMethods(gates: Gates): Remote {
  const { open } = gates;
  return {
    ...bindLibrary(open, remoteVerbs),
    tool: (definition) => declareTool(gates, definition),
    workflows: remoteWorkflowMethods(open),
  };
}
