/** The table of stream kinds: which state each has. */

import type { ApprovalState } from "../approvals/state.ts";
import type { GrantState } from "../grants/stream.ts";
import type { StoreState } from "../journal/stream.ts";
import type { Fold, Folded, StreamKind, StreamRef } from "../kernel/stream.ts";
import type { ActionState } from "./action/state.ts";
import type { AnswerState } from "./answer/state.ts";
import type { BudgetState } from "./budget.ts";
import type { EpochState } from "./epoch.ts";
import type { IntentState } from "./intent/state.ts";
import type { KeyState } from "./key/state.ts";
import type { EndpointState } from "./message/endpoint-state.ts";
import type { MessageState } from "./message/message-state.ts";
import type { NotifierState } from "./message/place.ts";
import type { AlertState } from "./monitor/alert-state.ts";
import type { MonitorState } from "./monitor/place-state.ts";
import type { PolicyState } from "./policy-record.ts";
import type { RosterState } from "./roster.ts";
import type { LoginState, SessionState } from "./session/state.ts";

import type { SwitchState } from "./switch.ts";
import type { TenantState } from "./tenant/state.ts";
import type { WorkflowState } from "./workflow/state.ts";

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
