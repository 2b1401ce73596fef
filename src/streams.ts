/**
 * Registry of streams: the fold of each kind, the ports that lower capabilities call, and every view that a store
 * keeps. An event that no fold here knows was written by a newer program. Imported by composition, and by the notifier,
 * which waits for a newer program at such an event.
 */

import { intentSubject } from "./agents/intents/rules/answer.ts";
import {
  intentFold,
  intentInboxView,
  intentsFromView,
  intentsToView,
  intentsView,
  intentTimesView,
} from "./agents/intents/stream.ts";
import { alertFold, alertsView, monitorFold } from "./alerts/stream.ts";
import { answerFold } from "./api/idempotency/stream.ts";
import type { SubjectPort } from "./approvals/rules/subject.ts";
import { approval } from "./approvals/stream.ts";
import { budgetFold, budgetsView } from "./budgets/stream.ts";
import { actionFold, actionsView } from "./effects/stream.ts";
import { grant } from "./grants/stream.ts";
import { storeFold } from "./journal/stream.ts";
import { isHoldpointError } from "./kernel/errors.ts";
import { type Fold, findStreamRef } from "./kernel/stream.ts";
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
import { keyFold, keysView } from "./people/keys/stream.ts";
import { loginFold, sessionFold, sessionsView } from "./people/sessions/stream.ts";
import { rosterFold } from "./people/stream.ts";
import { tenantFold } from "./people/tenants/stream.ts";
import { policiesView, policyFold } from "./policy/stream.ts";
import { epochFold, nodesView } from "./runtime/stream.ts";
import type { Folds } from "./states.ts";

import { actionSubject, workflowSubject } from "./workflows/rules/apply-decision.ts";
import { workflow } from "./workflows/stream.ts";

/** The kinds of stream that an approval can be about. */
const SUBJECTS: { readonly [kind in "action" | "intent" | "workflow"]: SubjectPort } = {
  action: actionSubject,
  intent: intentSubject,
  workflow: workflowSubject,
};

export const FOLDS: Folds = {
  action: { ...actionFold, port: SUBJECTS.action },
  alert: alertFold,
  answer: answerFold,
  approval: approval.fold,
  budget: budgetFold,
  endpoint: endpointFold,
  epoch: epochFold,
  grant: grant.fold,
  intent: { ...intentFold, port: SUBJECTS.intent },
  key: keyFold,
  login: loginFold,
  message: messageFold,
  monitor: monitorFold,
  notifier: notifierFold,
  policy: policyFold,
  roster: rosterFold,
  session: sessionFold,
  store: storeFold,
  switch: switchFold,
  tenant: tenantFold,
  workflow: { ...workflow.fold, port: SUBJECTS.workflow },
};

export type EventIdentity = { readonly stream: string; readonly type: string; readonly tv: number };

/** A fold checks type and version first: any other error, such as for the missing body, means it knows the event. */
export function canFoldEvent({ stream, type, tv }: EventIdentity): boolean {
  const ref = findStreamRef(stream);
  if (ref === undefined) return false;
  const fold: Fold<unknown> = FOLDS[ref.kind];
  try {
    fold.evolve(fold.initial, { type, tv, at: 0, seq: 1, body: null });
  } catch (error) {
    return !isHoldpointError(error, "unknown_event");
  }
  return true;
}

export const PROJECTIONS = [
  ...approval.views,
  actionsView,
  ...workflow.views,
  policiesView,
  ...grant.views,
  alertsView,
  keysView,
  sessionsView,
  endpointNamesView,
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
