/** The state type of each stream kind whose references do not carry their own. */

import type { IntentState } from "./agents/intents/stream.ts";
import type { AlertState, MonitorState } from "./alerts/stream.ts";
import type { AnswerState } from "./api/idempotency/stream.ts";
import type { ApprovalState } from "./approvals/state.ts";
import type { BudgetStreamState } from "./budgets/stream.ts";
import type { ActionState } from "./effects/state.ts";
import type { GrantState } from "./grants/stream.ts";
import type { StoreState } from "./journal/stream.ts";
import type { StreamKind } from "./kernel/registry.ts";
import type { Fold, Folded, StreamRef } from "./kernel/stream.ts";
import type { SwitchState } from "./kill-switch/stream.ts";
import type { EndpointState, MessageState, NotifierState } from "./notify/stream.ts";
import type { KeyState } from "./people/keys/stream.ts";
import type { LoginState, SessionState } from "./people/sessions/stream.ts";
import type { RosterState } from "./people/stream.ts";
import type { TenantState } from "./people/tenants/stream.ts";
import type { PolicyState } from "./policy/stream.ts";
import type { EpochState } from "./runtime/stream.ts";
import type { WorkflowState } from "./workflows/state.ts";

type NamedStates = {
  action: ActionState;
  alert: AlertState;
  answer: AnswerState;
  approval: ApprovalState;
  budget: BudgetStreamState;
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
type StateMap = NamedStates & { [K in Exclude<StreamKind, keyof NamedStates>]: unknown };
export type StateOf<K extends StreamKind> = StateMap[K];
/** The state of a reference: that of the definition it carries, else that of its kind. */
export type StateAt<Ref extends StreamRef> =
  Ref extends Folded<infer State> ? (unknown extends State ? StateMap[Ref["kind"]] : State) : never;
export type Folds = { readonly [K in StreamKind]: Fold<StateMap[K]> };
