/** The verbs about agents from outside that an embedding program, or a server, holds in its hands. */
import type { Opening } from "../instance.ts";
import type { OutsideAnswer } from "./answer.ts";
import { type OutsideProposal, proposeOutside, takeUp } from "./propose.ts";
import { type OutcomeReport, type Reported, reportOutcome } from "./report.ts";

export type Outside = {
  /** An agent wants to perform something itself: a permit, a question to people, or a refusal comes back. */
  propose(proposal: OutsideProposal): Promise<OutsideAnswer>;
  /** The agent comes back to what it proposed: the permit, once people have agreed. */
  takeUp(action: string, agent: string): Promise<OutsideAnswer>;
  /** The agent says what became of it, once, by the time in the permit. */
  report(report: OutcomeReport): Promise<Reported>;
};

export function outsideOf(open: Opening): Outside {
  return {
    propose: async (proposal) => proposeOutside(await open(), proposal),
    takeUp: async (action, agent) => takeUp(await open(), action, agent),
    report: async (report) => reportOutcome(await open(), report),
  };
}
