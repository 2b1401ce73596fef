/**
 * The commit that starts an effect (grant used, budgets reserved, effect started, all or nothing), refuses it or holds
 * it.
 * - A start needs a grant whose binding equals the bytes that will run, no covering kill switch, and an open epoch.
 * - The same commit reserves all budgets or none, and counts the use of a standing grant.
 * - Dedupe is checked at the proposal and at the start, on the arguments that would run: an edit may have changed them.
 * - A duplicate is under way, in doubt, or done within the window, and its own final arguments have the same identity.
 * - `refused` is final; `held` may change later. Holding again for the same reason appends nothing.
 */

import { type BindingFacts, bindingOf, type EscalateReview, undoDigest } from "../../approvals/rules/ask.ts";
import { withdrawApproval } from "../../approvals/rules/withdraw.ts";
import type { LiveApproval } from "../../approvals/state.ts";
import { reserveAmount } from "../../budgets/stream.ts";
import { type FittingGrant, settleUse } from "../../grants/rules.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { type Money, moneyToJson } from "../../kernel/money.ts";
import { type Refusal, type RefusalCode, refusal } from "../../kernel/refusals.ts";
import { isArtifactRef } from "../../kernel/stored-value.ts";
import {
  actionStream,
  approvalStream,
  budgetStream,
  epochStream,
  streamName,
  switchStream,
  workflowStream,
} from "../../kernel/stream.ts";
import { errorText } from "../../kernel/text.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import { checkKillSwitches, type SwitchSubject, switchScopes } from "../../kill-switch/rules.ts";
import type { Review } from "../../policy/rules/review.ts";
import type { Cost, Dedupe, Executor, ToolRules } from "../../policy/rules/tool-rules.ts";
import type { ActionIn, ActionState, Grant, ReservedCost } from "../state.ts";
import { appendActionEvent, getLiveAction } from "../stream.ts";

export type RefusedAction = { readonly kind: "refused"; readonly refusal: Refusal };
export type HeldAction = { readonly kind: "held"; readonly refusal: Refusal };
type RefusalReason = { readonly code: RefusalCode; readonly by: string; readonly reason: string };

export function refuseAction(draft: Draft, id: string, { code, by, reason }: RefusalReason): RefusedAction {
  const said = refusal(code, by, reason);
  appendActionEvent(draft, id, "action.refused", said);
  return { kind: "refused", refusal: said };
}

/** Withdraws the question that an undecided action waits for, if it waits for one. */
export function withdrawPendingApproval(
  draft: Draft,
  state: ActionIn<"open" | "waiting">,
  why: { readonly by: string; readonly reason: string },
): Need | undefined {
  if (state.phase !== "waiting") return undefined;
  const more = draft.need({ write: [approvalStream(state.approval)] });
  if (more === undefined) withdrawApproval(draft, state.approval, why);
  return more;
}

/** Approval endings that refuse the action that waits for it. */
const REFUSES = ["rejected", "expired", "cancelled", "revoked"] as const;

/** If an edit replaced the approval, the action waits for the new one and is not refused. */
export function refuseEnded(draft: Draft, approvalId: string, approval: LiveApproval): void {
  const action = draft.state(actionStream(approval.action));
  const code = REFUSES.find((status) => status === approval.status);
  const end = approval.ended ?? approval.decided;
  if (code === undefined || end === null || action.phase !== "waiting" || action.approval !== approvalId)
    return;
  refuseAction(draft, approval.action, { code, by: end.by[0] ?? "deadline", reason: end.reason });
}

/** Holding again for the same reason is not news: calling in a loop does not grow the journal. */
function holdAction(draft: Draft, id: string, { code, by, reason }: RefusalReason): HeldAction {
  const said = refusal(code, by, reason);
  const state = draft.state(actionStream(id));
  const before = "held" in state ? state.held : null;
  if (before?.code !== code || before.by !== by) appendActionEvent(draft, id, "action.held", said);
  return { kind: "held", refusal: said };
}

const GONE: readonly ActionState["phase"][] = ["none", "refused", "not_applied"];

function standsInTheWay(first: ActionState, now: number, windowMs: number): boolean {
  if (GONE.includes(first.phase)) return false;
  return first.phase !== "applied" || now < first.outcome.at + windowMs;
}

function identityOf(rules: ToolRules, args: Json): Dedupe | undefined | string {
  try {
    return rules.dedupe(args);
  } catch (error) {
    return `the tool's dedupe failed: ${errorText(error)}`;
  }
}

/** It was proposed under this identity, but an edit may have changed that. */
function isStill(rules: ToolRules, first: ActionState, key: string): boolean {
  if (first.phase === "none" || isArtifactRef(first.args)) return first.phase !== "none";
  const identity = identityOf(rules, first.args);
  return typeof identity !== "object" || identity.key === key;
}

/** Refuses a duplicate of an action that is under way or was done recently; otherwise claims the business name. */
export function checkDedupe(
  draft: Draft,
  id: string,
  rules: ToolRules,
  args: Json,
): Need | RefusedAction | undefined {
  const identity = identityOf(rules, args);
  if (identity === undefined) return undefined;
  if (typeof identity === "string")
    return refuseAction(draft, id, { code: "blocked", by: "policy", reason: identity });
  const name = `dedupe:${rules.name}:${identity.key}`;
  const unnamed = draft.need({ names: [name] });
  if (unnamed !== undefined) return unnamed;
  const before = draft.lookUp(name);
  if (before !== undefined && before.id !== id) {
    const more = draft.need({ read: [before] });
    if (more !== undefined) return more;
    const first = draft.state(actionStream(before.id));
    if (
      "proposedAt" in first &&
      standsInTheWay(first, draft.now, identity.windowMs) &&
      isStill(rules, first, identity.key)
    ) {
      const since = new Date(first.proposedAt).toISOString();
      const reason = `${before.id} is the same, from ${since}`;
      return refuseAction(draft, id, { code: "duplicate", by: "dedupe", reason });
    }
  }
  draft.take(name, actionStream(id));
  return undefined;
}

/** Two costs on one budget are one reservation. */
function sumByBudget(costs: readonly Cost[]): ReadonlyMap<string, Money> {
  const sums = new Map<string, Money>();
  for (const { budget, amount } of costs) {
    const before = sums.get(budget);
    if (before !== undefined && before.currency !== amount.currency)
      throw new TypeError(`two currencies for the budget "${budget}"`);
    sums.set(budget, { currency: amount.currency, micros: (before?.micros ?? 0n) + amount.micros });
  }
  return sums;
}

/** A text says why the tool's estimate failed. */
function costsOf(rules: Pick<ToolRules, "costs">, args: Json): ReadonlyMap<string, Money> | string {
  try {
    return sumByBudget(rules.costs(args));
  } catch (error) {
    return `the tool's cost estimate failed: ${errorText(error)}`;
  }
}

const reservedCosts = (costs: ReadonlyMap<string, Money>): readonly ReservedCost[] =>
  [...costs].map(([budget, amount]) => ({ budget, ...moneyToJson(amount) }));

/** For approvers. The start checks whether it can be paid, and refuses if the estimate fails. */
export function expectedCosts(rules: Pick<ToolRules, "costs">, args: Json): readonly ReservedCost[] {
  const costs = costsOf(rules, args);
  return typeof costs === "string" ? [] : reservedCosts(costs);
}

/** With the action's state and the store's time after the start. */
export type EffectStarted = {
  readonly kind: "started";
  readonly effect: string;
  readonly state: ActionIn<"running">;
  readonly now: number;
};
export type EpochEnded = { readonly kind: "epoch_ended" };

/** An action has one effect. Its id is also the idempotency key for the receiver. */
export const effectIdOf = (action: string): string => action.replace(/^act_/, "eff_");
export const actionIdOf = (effect: string): string => effect.replace(/^eff_/, "act_");

export const TOO_LATE = "its execution deadline has passed";

export function isTooLate({ effect }: ActionIn<"running">, now: number): boolean {
  return effect.executeBy !== null && now >= effect.executeBy;
}

/** Checks that come before everything else, including the policy. */
export function checkMayStart(
  draft: Draft,
  id: string,
  action: SwitchSubject,
  epoch: string,
): Need | HeldAction | EpochEnded | undefined {
  // The position in its workflow is checked next, and written.
  const flows = action.within === undefined ? [] : [workflowStream(action.within.workflow)];
  const switches = switchScopes(action).map(switchStream);
  const more = draft.need({ write: [actionStream(id), ...flows], read: [...switches, epochStream(epoch)] });
  if (more !== undefined) return more;
  const look = checkKillSwitches(draft, action);
  if (look.kind === "need") return look;
  if (draft.state(epochStream(epoch)).life !== "open") return { kind: "epoch_ended" };
  if (look.on === undefined) return undefined;
  const { scope, by, reason } = look.on;
  const why = { by: `kill switch (${scope})`, reason: `${by}: ${reason}` };
  return holdAction(draft, id, { code: "stopped", ...why });
}

function reserveAll(
  draft: Draft,
  id: string,
  effect: string,
  costs: ReadonlyMap<string, Money>,
): HeldAction | undefined {
  const wanted = [...costs].map(([budget, amount]) => ({
    budget,
    answer: reserveAmount(draft.state(budgetStream(budget)), effect, amount),
  }));
  const refusedBy = wanted.find(({ answer }) => !answer.admitted);
  if (refusedBy !== undefined && !refusedBy.answer.admitted) {
    const state = draft.state(actionStream(id));
    const known = "held" in state && state.held?.code === "over_budget";
    if (!known) draft.append(budgetStream(refusedBy.budget), refusedBy.answer.events);
    const { budget, answer } = refusedBy;
    return holdAction(draft, id, { code: "over_budget", by: `budget ${budget}`, reason: answer.reason });
  }
  for (const { budget, answer } of wanted) draft.append(budgetStream(budget), answer.events);
  return undefined;
}

/** Owner of the started effect: the process's epoch, or the agent that performs it itself. */
function heldBy(draft: Draft, id: string, { epoch, outside }: Executor) {
  if (outside === undefined) return { epoch };
  const { agent } = getLiveAction(draft, id);
  const { holder = null, ask } = outside.asker ?? {};
  return {
    epoch: agent,
    reportBy: draft.now + outside.reportWithinMs,
    ...(holder === null ? {} : { holder }),
    ...(ask === undefined ? {} : { ask }),
  };
}

/** Begins a permit in the commit that issues it, if its holder requested that. */
function beginAtOnce(draft: Draft, id: string, { outside }: Executor): void {
  const { holder = null, begin, ask = "" } = outside?.asker ?? {};
  if (holder === null || begin !== true) return;
  appendActionEvent(draft, id, "effect.begun", { holder, ask });
}

/** An executor with the stored arguments loaded. */
export type ExecutorWithArgs = Executor & { readonly args: Json };
type StartGrant = {
  readonly grant: Grant;
  readonly binding: string;
  readonly executeBy: number | null;
};

export function startEffect(
  draft: Draft,
  id: string,
  executor: ExecutorWithArgs,
  permit: StartGrant,
): Need | EffectStarted | HeldAction | RefusedAction {
  const duplicate = checkDedupe(draft, id, executor.rules, executor.args);
  if (duplicate !== undefined) return duplicate;
  const costs = costsOf(executor.rules, executor.args);
  if (typeof costs === "string")
    return refuseAction(draft, id, { code: "blocked", by: "policy", reason: costs });
  const more = draft.need({ write: [...costs.keys()].map(budgetStream) });
  if (more !== undefined) return more;
  const effect = effectIdOf(id);
  const held = reserveAll(draft, id, effect, costs);
  if (held !== undefined) return held;
  const body = { effect, ...heldBy(draft, id, executor), ...permit, costs: reservedCosts(costs) };
  appendActionEvent(draft, id, "effect.started", body);
  beginAtOnce(draft, id, executor);
  if (permit.grant.kind === "standing") settleUse(draft, "grant.used", { action: id, effect }, permit.grant);
  return { kind: "started", effect, state: getLiveAction(draft, id) as ActionIn<"running">, now: draft.now };
}

/** What an effect starts by if nobody was asked. */
type UnaskedTerms = Pick<BindingFacts, "approvers" | "executeBy" | "grant">;

/** The same facts as for an approval; nobody has a deadline for deciding. */
function unaskedBinding(
  draft: Draft,
  id: string,
  { ids: { nonce }, rules: { policyDigest: policy } }: Executor,
  terms: UnaskedTerms,
): string {
  const state = getLiveAction(draft, id);
  const { tool, schema, effectClass, requester, argsDigest: args } = state;
  const { tenant } = draft;
  const stream = streamName(actionStream(id));
  const fixed = { tenant, stream, action: id, tool, schema, args, effectClass, requester, decideBy: null };
  return bindingOf({ ...fixed, undo: undoDigest(state), policy, nonce, ...terms });
}

/** Starts an effect on the policy's verdict alone. */
export function startByVerdict(draft: Draft, id: string, { args, rule }: Review, executor: ExecutorWithArgs) {
  const { nonce } = executor.ids;
  const grant = { kind: "verdict", rule, policy: executor.rules.policyDigest, nonce } as const;
  const binding = unaskedBinding(draft, id, executor, { approvers: null, executeBy: null });
  return startEffect(draft, id, { ...executor, args }, { grant, binding, executeBy: null });
}

/** Starts an effect by a standing grant instead of an approval. The review has been recorded. */
export function startByGrant(
  draft: Draft,
  id: string,
  review: EscalateReview,
  { fitting, executor }: { readonly fitting: FittingGrant; readonly executor: ExecutorWithArgs },
) {
  const { args, approvers, executeWithinMs } = review;
  if (digestOf(args) !== getLiveAction(draft, id).argsDigest)
    throw new TypeError("a grant was fitted to other arguments");
  const { id: grant, owner, amount } = fitting;
  const executeBy = executeWithinMs === null ? null : draft.now + executeWithinMs;
  const binding = unaskedBinding(draft, id, executor, { approvers, executeBy, grant });
  const permit = { kind: "standing", grant, by: [owner], amount, nonce: executor.ids.nonce } as const;
  return startEffect(draft, id, { ...executor, args }, { grant: permit, binding, executeBy });
}
