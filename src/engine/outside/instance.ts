/** The verbs about agents from outside that an embedding program, or a server, holds in its hands. */

import { checkFields, checkId, rejectInput } from "../../kernel/fields.ts";
import type { RuntimeOpener } from "../../runtime/runtime.ts";
import { cancelById } from "../../workflows/methods.ts";
import type { WorkflowStatus } from "../../workflows/state.ts";

import type { OutsideAnswer } from "./answer.ts";
import { callerOf, type PermitRequest } from "./check-outside.ts";
import { type OutsideStand, type Stood, standAt } from "./checkpoint.ts";
import { createOutsideWorkflow, type OutsideCreation } from "./create-workflow.ts";
import { type OutsideProposal, proposeOutside, takeUp } from "./propose.ts";
import { type OutcomeReport, type Reported, reportOutcome } from "./report.ts";
import { type Compensation, compensationsOf, proposeUndo } from "./roll-back.ts";
import {
  completeOutsideWorkflow,
  failOutsideWorkflow,
  getOutsideWorkflow,
  type OutsideWorkflow,
  startOutsideWorkflow,
} from "./workflows.ts";

export type Outside = {
  /** An agent wants to perform something itself: a permit, a question to people, or a refusal comes back. */
  propose(proposal: OutsideProposal): Promise<OutsideAnswer>;
  /** The agent comes back to what it proposed: the permit, once people have approved it. */
  takeUp(action: string, agent: string, asksFor?: PermitRequest): Promise<OutsideAnswer>;
  /** The holder of a permit begins it. The agent performs it only after this was answered `permitted` with `begun: true`. */
  begin(permit: PermitToBegin): Promise<OutsideAnswer>;
  /** The agent says what became of it, once, by the time in the permit. */
  report(report: OutcomeReport): Promise<Reported>;
  readonly workflows: OutsideWorkflows;
};

export type PermitToBegin = {
  readonly action: string;
  readonly agent: string;
  /** The holder that the permit was issued to. */
  readonly holder: string;
};

export type OutsideWorkflows = {
  /** Answers its id. */
  create(creation: OutsideCreation): Promise<string>;
  start(id: string, said: { readonly agent: string }): Promise<WorkflowStatus>;
  /** Captures where the agent stands, and asks people where the checkpoint says so. */
  checkpoint(id: string, stand: OutsideStand): Promise<Stood>;
  complete(id: string, said: { readonly agent: string; readonly result?: unknown }): Promise<WorkflowStatus>;
  fail(id: string, said: { readonly agent: string; readonly reason: string }): Promise<WorkflowStatus>;
  /** Ends it. What was done stays done. */
  cancel(id: string, said: { readonly by: string; readonly reason: string }): Promise<WorkflowStatus>;
  get(id: string): Promise<OutsideWorkflow>;
  /** What its agent has to take back now, while it is sent back. */
  compensations(id: string): Promise<readonly Compensation[]>;
  /** The agent takes one of them back: an action of its own, which it performs and reports. */
  undo(id: string, what: UndoAsked): Promise<OutsideAnswer>;
};

type UndoAsked = PermitRequest & { readonly undoes: string; readonly agent: string };

const WORKFLOW = "A workflow";
const SAID = "What is said";

function workflowsOf(open: RuntimeOpener): OutsideWorkflows {
  const id = (given: string) => checkId(WORKFLOW, given);
  return {
    create: async (creation) => createOutsideWorkflow(await open(), creation),
    start: async (workflow, said) =>
      startOutsideWorkflow(await open(), id(workflow), checkFields(SAID, said, ["agent"])),
    checkpoint: async (workflow, stand) => standAt(await open(), id(workflow), stand),
    complete: async (workflow, said) =>
      completeOutsideWorkflow(await open(), id(workflow), checkFields(SAID, said, ["agent", "result"])),
    fail: async (workflow, said) =>
      failOutsideWorkflow(await open(), id(workflow), checkFields(SAID, said, ["agent", "reason"])),
    cancel: async (workflow, said) =>
      cancelById(await open(), id(workflow), checkFields(SAID, said, ["by", "reason"])),
    get: async (workflow) => getOutsideWorkflow(await open(), id(workflow)),
    compensations: async (workflow) => compensationsOf(await open(), id(workflow)),
    undo: async (workflow, what) => {
      const { undoes, agent } = checkFields(SAID, what, ["undoes", "agent", ...PERMIT_FIELDS]);
      const runtime = await open();
      return proposeUndo(runtime, id(workflow), { undoes, agent, caller: callerOf(runtime, what) });
    },
  };
}

const PERMIT_FIELDS = ["holder", "begin"];

async function begin(open: RuntimeOpener, given: PermitToBegin): Promise<OutsideAnswer> {
  const { action, agent, holder } = checkFields("What is begun", given, ["action", "agent", "holder"]);
  if (holder === undefined) rejectInput("A permit is begun by its holder.");
  const runtime = await open();
  return takeUp(runtime, action, { agent, caller: callerOf(runtime, { holder, begin: true }) });
}

export function outsideOf(open: RuntimeOpener): Outside {
  return {
    propose: async (proposal) => proposeOutside(await open(), proposal),
    takeUp: async (action, agent, asksFor = {}) => {
      const runtime = await open();
      const caller = callerOf(runtime, checkFields("How it is asked for", asksFor, PERMIT_FIELDS));
      return takeUp(runtime, action, { agent, caller });
    },
    begin: (permit) => begin(open, permit),
    report: async (report) => reportOutcome(await open(), report),
    workflows: workflowsOf(open),
  };
}
