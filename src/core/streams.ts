/** The table of stream kinds: which fold each has. Rules live beside their states; this file only lists them. */

import type { ApprovalState } from "../approvals/state.ts";
import { approvalFold } from "../approvals/stream.ts";
import { type GrantState, grant } from "../grants/stream.ts";
import { type ActionState, actionFold } from "./action/state.ts";
import { type AnswerState, answerFold } from "./answer/state.ts";
import { type BudgetState, budgetFold } from "./budget.ts";
import { type EpochState, epochFold } from "./epoch.ts";
import type { Fold } from "./event.ts";
import { type IntentState, intentFold } from "./intent/state.ts";
import { type KeyState, keyFold } from "./key/state.ts";
import { type EndpointState, endpointFold } from "./message/endpoint-state.ts";
import { type MessageState, messageFold } from "./message/message-state.ts";
import { type NotifierState, notifierFold } from "./message/place.ts";
import { type AlertState, alertFold } from "./monitor/alert-state.ts";
import { type MonitorState, monitorFold } from "./monitor/place-state.ts";
import { type PolicyState, policyFold } from "./policy-record.ts";
import { type StoreState, storeFold } from "./restore.ts";
import { type RosterState, rosterFold } from "./roster.ts";
import { type LoginState, loginFold, type SessionState, sessionFold } from "./session/state.ts";
import type { Folded, StreamKind, StreamRef } from "./stream.ts";
import { type SwitchState, switchFold } from "./switch.ts";
import { type TenantState, tenantFold } from "./tenant/state.ts";
import { type WorkflowState, workflowFold } from "./workflow/state.ts";

export type StateMap = {
  action: ActionState;
  alert: AlertState;
  answer: AnswerState;
  approval: ApprovalState;
  budget: BudgetState;
  endpoint: EndpointState;
  epoch: EpochState;
  grant: GrantState;
  intent: IntentState;
  key: KeyState;
  login: LoginState;
  message: MessageState;
  monitor: MonitorState;
  notifier: NotifierState;
  policy: PolicyState;
  roster: RosterState;
  session: SessionState;
  store: StoreState;
  switch: SwitchState;
  tenant: TenantState;
  workflow: WorkflowState;
};
export type StateOf<K extends StreamKind> = StateMap[K];
/** The state that a reference leads to: its definition's where it carries one, else by its kind. */
export type StateAt<Ref extends StreamRef> =
  Ref extends Folded<infer State> ? (unknown extends State ? StateMap[Ref["kind"]] : State) : never;
export type Folds = { readonly [K in StreamKind]: Fold<StateMap[K]> };

export const FOLDS: Folds = {
  action: actionFold,
  alert: alertFold,
  answer: answerFold,
  approval: approvalFold,
  budget: budgetFold,
  endpoint: endpointFold,
  epoch: epochFold,
  grant: grant.fold,
  intent: intentFold,
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
  workflow: workflowFold,
};
