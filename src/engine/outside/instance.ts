/** The verbs about agents from outside that an embedding program, or a server, holds in its hands. */
import type { WorkflowStatus } from "../../core/workflow/state.ts";
import { checkFields, checkId } from "../check-call.ts";
import type { Opening } from "../runtime.ts";
import { cancelById } from "../workflow/operate-workflows.ts";
import type { OutsideAnswer } from "./answer.ts";
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
  /** The agent comes back to what it proposed: the permit, once people have agreed. */
  takeUp(action: string, agent: string): Promise<OutsideAnswer>;
  /** The agent says what became of it, once, by the time in the permit. */
  report(report: OutcomeReport): Promise<Reported>;
  readonly workflows: OutsideWorkflows;
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
  undo(id: string, what: { readonly undoes: string; readonly agent: string }): Promise<OutsideAnswer>;
};

const WORKFLOW = "A workflow";
const SAID = "What is said";

function workflowsOf(open: Opening): OutsideWorkflows {
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
    undo: async (workflow, what) =>
      proposeUndo(await open(), id(workflow), checkFields(SAID, what, ["undoes", "agent"])),
  };
}

export function outsideOf(open: Opening): Outside {
  return {
    propose: async (proposal) => proposeOutside(await open(), proposal),
    takeUp: async (action, agent) => takeUp(await open(), action, agent),
    report: async (report) => reportOutcome(await open(), report),
    workflows: workflowsOf(open),
  };
}
