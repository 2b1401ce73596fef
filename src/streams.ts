/**
 * Made by `npm run generate`: the fold of each kind of stream, with the port that lower capabilities call, and every
 * view that a store keeps. Imported by composition, and by the notifier, which waits at an event that no fold here knows.
 */
import { intentSubject } from "./agents/intents/rules/answer.ts";
import { intentKind } from "./agents/intents/stream.ts";
import { alert, monitorFold } from "./alerts/stream.ts";
import { answerFold } from "./api/idempotency/stream.ts";
import { approval } from "./approvals/stream.ts";
import { budgetKind } from "./budgets/stream.ts";
import { action } from "./effects/stream.ts";
import { grant } from "./grants/stream.ts";
import { storeFold } from "./journal/stream.ts";
import { switchesView, switchFold } from "./kill-switch/stream.ts";
import {
  endpointFold,
  endpointNamesView,
  endpointsView,
  messageFold,
  messagesView,
  notifierFold,
  outboxAgainView,
  outboxView,
} from "./notify/stream.ts";
import { key } from "./people/keys/stream.ts";
import { loginKind, session } from "./people/sessions/stream.ts";
import { rosterFold } from "./people/stream.ts";
import { tenantFold } from "./people/tenants/stream.ts";
import { policiesView, policyFold } from "./policy/stream.ts";
import { epochFold, nodesView } from "./runtime/stream.ts";
import type { Folds } from "./states.ts";
import { actionSubject, workflowSubject } from "./workflows/rules/apply-decision.ts";
import { workflow } from "./workflows/stream.ts";

export const FOLDS: Folds = {
  action: { ...action.fold, port: actionSubject },
  alert: alert.fold,
  answer: answerFold,
  approval: approval.fold,
  budget: budgetKind.fold,
  endpoint: endpointFold,
  epoch: epochFold,
  grant: grant.fold,
  intent: { ...intentKind.fold, port: intentSubject },
  key: key.fold,
  login: loginKind.fold,
  message: messageFold,
  monitor: monitorFold,
  notifier: notifierFold,
  policy: policyFold,
  roster: rosterFold,
  session: session.fold,
  store: storeFold,
  switch: switchFold,
  tenant: tenantFold,
  workflow: { ...workflow.fold, port: workflowSubject },
};

export const PROJECTIONS = [
  ...action.views,
  ...alert.views,
  ...approval.views,
  ...budgetKind.views,
  endpointNamesView,
  endpointsView,
  nodesView,
  ...grant.views,
  ...intentKind.views,
  ...key.views,
  ...loginKind.views,
  messagesView,
  outboxAgainView,
  outboxView,
  policiesView,
  ...session.views,
  switchesView,
  ...workflow.views,
] as const;
