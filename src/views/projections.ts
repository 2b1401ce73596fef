/** Every view that a store keeps. */
import { actionsView } from "./actions.ts";
import { approvalsView } from "./approvals.ts";
import { grantsView, standingView } from "./grants.ts";
import { runsView, workflowsView } from "./workflows.ts";

export const PROJECTIONS = [
  approvalsView,
  actionsView,
  workflowsView,
  runsView,
  grantsView,
  standingView,
] as const;
