/**
 * Implementation of the verbs of remote agents, and the methods of `hp.remote`, for an embedding program: those of its
 * agents' workflows, and tools that agents execute themselves.
 */
import { getAction } from "../effects/actions.ts";
import type { Gates } from "../effects/gate.ts";
import { checkFields, checkId } from "../kernel/fields.ts";
import { isJsonObject, type Json } from "../kernel/json.ts";
import { actionStream } from "../kernel/stream.ts";
import type { Runtime, RuntimeOpener } from "../runtime/runtime.ts";
import { readState } from "../runtime/store-access.ts";
import { bindLibrary, capability, preparedVerb, runVerb } from "../runtime/verb.ts";
import type { WorkflowStatus } from "../workflows/state.ts";
import { workflowVerbs } from "../workflows/verbs.ts";
import {
  type PermitRequest,
  type RemoteAnswer,
  type RemoteProposal,
  type RemoteVerbs,
  remote,
} from "./contract.ts";
import { checkMayRepresent } from "./identify-agent.ts";
import {
  type RemoteCheckpointRequest,
  type RemoteCheckpointResult,
  reachRemoteCheckpointNow,
} from "./remote-checkpoint.ts";
import { readPermitCaller } from "./remote-checks.ts";
import { proposeRemoteAction, takeUpPermit } from "./remote-proposal.ts";
import { answerReport, decideReport, prepareReport } from "./remote-report.ts";
import { type Compensation, listCompensations, proposeUndo } from "./remote-rollback.ts";
import { declareTool, type RemoteTool } from "./remote-tool.ts";
import {
  completeRemoteWorkflowNow,
  createRemoteWorkflowNow,
  failRemoteWorkflowNow,
  getRemoteWorkflow,
  type NewRemoteWorkflow,
  type RemoteWorkflow,
  startRemoteWorkflowNow,
} from "./remote-workflow.ts";

// `kind` with "waiting" and "held": replies that 0.1.0 stored.
const UNSETTLED = new Set<unknown>(["permitted", "pending", "waiting", "held"]);

/** The action of a kept answer that may be outdated by people, time or the kill switch. */
export const unsettledIn = (kept: Json): string | undefined =>
  isJsonObject(kept) && UNSETTLED.has(kept["status"] ?? kept["kind"]) ? String(kept["action_id"]) : undefined;

/** undefined if there is no such action. */
async function phaseOf(runtime: Runtime, id: string): Promise<string | undefined> {
  return (await getAction(runtime, id).catch(() => undefined))?.phase;
}

/** A held action that has not asked people yet may do so when it goes on. */
const isOpen = async (runtime: Runtime, id: string | undefined): Promise<boolean> =>
  id !== undefined && (await phaseOf(runtime, id)) === "open";

/** A question that was already asked is answered regardless of how many are pending. */
export async function mayPropose(
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

export const remoteVerbs = capability(remote, {
  propose: {
    ...runVerb(({ runtime, caller, isGone }, proposal) => {
      checkMayRepresent(caller, proposal.onBehalfOf);
      return proposeRemoteAction(runtime, proposal, { isGone });
    }),
    mayAsk: mayPropose,
    again(kept) {
      const action = unsettledIn(kept);
      if (action === undefined) return undefined;
      return ({ runtime, isGone }, { agent, ...asked }) =>
        takeUpPermit(runtime, action, { agent, caller: readPermitCaller(runtime, asked, { isGone }) });
    },
  },
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

export type Remote = RemoteVerbs & {
  /** Declares a tool that remote agents execute themselves: it has rules and no `run` function. */
  tool<Args>(definition: RemoteTool<Args>): void;
  readonly workflows: RemoteWorkflows;
};

export type RemoteWorkflows = {
  /** Returns its id. */
  create(creation: NewRemoteWorkflow): Promise<string>;
  start(id: string, said: { readonly agent: string }): Promise<WorkflowStatus>;
  /** Captures the agent's state, and asks people if the checkpoint says so. */
  checkpoint(id: string, stand: RemoteCheckpointRequest): Promise<RemoteCheckpointResult>;
  complete(id: string, said: { readonly agent: string; readonly result?: unknown }): Promise<WorkflowStatus>;
  fail(id: string, said: { readonly agent: string; readonly reason: string }): Promise<WorkflowStatus>;
  /** Ends it. Effects stay. */
  cancel(id: string, said: { readonly by: string; readonly reason: string }): Promise<WorkflowStatus>;
  get(id: string): Promise<RemoteWorkflow>;
  /** What its agent has to undo now, during a rollback. */
  compensations(id: string): Promise<readonly Compensation[]>;
  /** The agent undoes one of them: an action of its own, which it performs and reports. */
  undo(id: string, what: UndoInput): Promise<RemoteAnswer>;
};

type UndoInput = PermitRequest & { readonly undoes: string; readonly agent: string };

const WORKFLOW = "A workflow";
const UNDO_LABEL = "What is said";

function remoteWorkflowMethods(open: RuntimeOpener): RemoteWorkflows {
  const id = (given: string) => checkId(WORKFLOW, given);
  return {
    create: async (creation) => createRemoteWorkflowNow(await open(), creation),
    start: async (workflow, said) =>
      startRemoteWorkflowNow(await open(), id(workflow), checkFields(UNDO_LABEL, said, ["agent"])),
    checkpoint: async (workflow, stand) => reachRemoteCheckpointNow(await open(), id(workflow), stand),
    complete: async (workflow, said) =>
      completeRemoteWorkflowNow(
        await open(),
        id(workflow),
        checkFields(UNDO_LABEL, said, ["agent", "result"]),
      ),
    fail: async (workflow, said) =>
      failRemoteWorkflowNow(await open(), id(workflow), checkFields(UNDO_LABEL, said, ["agent", "reason"])),
    cancel: bindLibrary(open, workflowVerbs).cancel,
    get: async (workflow) => getRemoteWorkflow(await open(), id(workflow)),
    compensations: async (workflow) => listCompensations(await open(), id(workflow)),
    undo: async (workflow, what) => {
      const { undoes, agent } = checkFields(UNDO_LABEL, what, ["undoes", "agent", ...PERMIT_FIELDS]);
      const runtime = await open();
      return proposeUndo(runtime, id(workflow), { undoes, agent, caller: readPermitCaller(runtime, what) });
    },
  };
}

const PERMIT_FIELDS = ["holder", "begin"];

export function remoteMethods(gates: Gates): Remote {
  const { open } = gates;
  return {
    ...bindLibrary(open, remoteVerbs),
    tool: (definition) => declareTool(gates, definition),
    workflows: remoteWorkflowMethods(open),
  };
}
