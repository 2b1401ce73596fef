/** The methods of `hp.remote`, for an embedding program or a server: remote agents' actions and workflows. */

import type { Gates } from "../effects/gate.ts";
import { checkFields, checkId } from "../kernel/fields.ts";
import type { RuntimeOpener } from "../runtime/runtime.ts";
import { bindLibrary } from "../runtime/verb.ts";
import type { WorkflowStatus } from "../workflows/state.ts";
import { workflowVerbs } from "../workflows/verbs.ts";
import type { PermitRequest, RemoteAnswer, RemoteVerbs } from "./remote/contract.ts";
import { remoteVerbs } from "./remote/verbs.ts";
import {
  type RemoteCheckpointRequest,
  type RemoteCheckpointResult,
  reachRemoteCheckpointNow,
} from "./remote-checkpoint.ts";
import { readPermitCaller } from "./remote-checks.ts";
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
