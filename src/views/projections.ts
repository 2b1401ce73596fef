/** Every view that a store keeps. */

import { approval } from "../approvals/stream.ts";
import { grant } from "../grants/stream.ts";
import { actionsView } from "./actions.ts";
import { alertsView } from "./alerts.ts";
import { budgetsView } from "./budgets.ts";
import { intentInboxView, intentsFromView, intentsToView, intentsView, intentTimesView } from "./intents.ts";
import { keysView } from "./keys.ts";
import { endpointsView, messagesView, outboxAgainView, outboxView } from "./messages.ts";
import { nodesView } from "./nodes.ts";
import { policiesView } from "./policies.ts";
import { sessionsView } from "./sessions.ts";
import { switchesView } from "./switches.ts";
import { runsView, workflowsView } from "./workflows.ts";

export const PROJECTIONS = [
  ...approval.views,
  actionsView,
  workflowsView,
  runsView,
  policiesView,
  ...grant.views,
  alertsView,
  keysView,
  sessionsView,
  endpointsView,
  messagesView,
  outboxView,
  outboxAgainView,
  intentsView,
  intentsToView,
  intentsFromView,
  intentInboxView,
  intentTimesView,
  nodesView,
  budgetsView,
  switchesView,
] as const;
