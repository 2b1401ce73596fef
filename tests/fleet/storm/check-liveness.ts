/** What is left when everything has been let alone: nothing, or what waits for somebody who has a name. */

import type { ActionState } from "../../../src/effects/state.ts";
import type { WorkflowState } from "../../../src/workflows/state.ts";
import type { Checker, Fault } from "./history.ts";
import type { Journal } from "./watch.ts";

/** Whom an action waits for; null where it waits for nobody, `""` where for nobody that could be named. */
export function waitsFor(state: ActionState, { approvals }: Pick<Journal, "approvals">): string | null {
  switch (state.phase) {
    case "running":
      return state.effect.reportBy === undefined ? "" : state.agent;
    case "in_doubt":
      return state.effectClass === "probed" ? "" : "a person, to resolve it";
    case "open":
      return state.held === null ? "" : `${state.held.by}: ${state.held.code}`;
    case "waiting":
      return approvals.get(state.approval)?.status === "pending" ? "" : state.agent;
    default:
      return null;
  }
}

function isStuck(state: WorkflowState): boolean {
  if (state.status === "none" || state.end !== null) return false;
  return state.isOutside !== true;
}

export const checkLiveness: Checker = ({ journal }) => {
  const faults: Fault[] = [];
  for (const [id, state] of journal.actions)
    if (waitsFor(state, journal) === "")
      faults.push({ kind: "stuck", what: `${id} is ${state.phase} in the end` });
  for (const [id, { status }] of journal.approvals)
    if (status === "pending") faults.push({ kind: "stuck", what: `${id} is pending in the end` });
  for (const [id, state] of journal.workflows)
    if (isStuck(state)) faults.push({ kind: "stuck", what: `${id} is ${state.status} in the end` });
  return faults;
};
