/** The registry of streams: how each kind folds, and what lower capabilities call on it. Only composition imports it. */

import type { SubjectPort } from "../approvals/rules/subject.ts";
import { approval } from "../approvals/stream.ts";
import { grant } from "../grants/stream.ts";
import { storeFold } from "../journal/stream.ts";
import { actionFold } from "./action/state.ts";
import { answerFold } from "./answer/state.ts";
import { budgetFold } from "./budget.ts";
import { epochFold } from "./epoch.ts";
import { intentSubject } from "./intent/decide.ts";
import { intentFold } from "./intent/state.ts";
import { keyFold } from "./key/state.ts";
import { endpointFold } from "./message/endpoint-state.ts";
import { messageFold } from "./message/message-state.ts";
import { notifierFold } from "./message/place.ts";
import { alertFold } from "./monitor/alert-state.ts";
import { monitorFold } from "./monitor/place-state.ts";
import { policyFold } from "./policy-record.ts";
import { rosterFold } from "./roster.ts";
import { loginFold, sessionFold } from "./session/state.ts";
import type { Folds } from "./states.ts";
import { switchFold } from "./switch.ts";
import { tenantFold } from "./tenant/state.ts";
import { workflowFold } from "./workflow/state.ts";
import { actionSubject, workflowSubject } from "./workflow/tell.ts";

/** What an approval may be about. */
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
  workflow: { ...workflowFold, port: SUBJECTS.workflow },
};
