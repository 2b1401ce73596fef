/**
 * The commit that lets an effect begin: grant used, budgets reserved, effect started, all or nothing.
 *
 * S1. Nothing starts without a grant whose binding equals the bytes that will run.
 * S2. Nothing starts while a kill switch that covers it is on, or in the name of an epoch that ended.
 * S3. Budgets are reserved together with the start, every one of them or none.
 * S4. A use of a standing grant is counted together with the start.
 */

import { bindingOf, undoDigest } from "../../approvals/rules/ask.ts";
import { reserveAmount } from "../../budgets/stream.ts";
import { type FittingGrant, settleUse } from "../../grants/rules.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import type { Money } from "../../kernel/money.ts";
import {
  actionStream,
  budgetStream,
  epochStream,
  streamName,
  switchStream,
  workflowStream,
} from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import { checkKillSwitches, type SwitchSubject, switchScopes } from "../../kill-switch/rules.ts";
import type { Executor, Load } from "../../policy/rules/tool-rules.ts";
import type { ApproverRule } from "../../policy/rules/verdict.ts";

import { costsOf, reservedCosts } from "./costs.ts";
import { checkDedupe } from "./dedupe.ts";
import type { Grant } from "./events.ts";
import { type Held, hold, type Refused, refuse } from "./refuse.ts";
import type { ActionIn, LiveAction } from "./state.ts";

/** With the action as it then stands, and the time at which it was so. */
export type Started = {
  readonly kind: "started";
  readonly effect: string;
  readonly state: ActionIn<"running">;
  readonly now: number;
};
export type EpochEnded = { readonly kind: "epoch_ended" };

/** An action has one effect; its id doubles as the key that the receiver may honour. */
export const effectOf = (action: string): string => action.replace(/^act_/, "eff_");
export const actionOf = (effect: string): string => effect.replace(/^eff_/, "act_");

/** Checks that come before everything else, the policy included. */
export function checkMayStart(
  draft: Draft,
  id: string,
  action: SwitchSubject,
  epoch: string,
): Need | Held | EpochEnded | undefined {
  // The place in its workflow is looked at next, and written.
  const flows = action.within === undefined ? [] : [workflowStream(action.within.workflow)];
  const switches = switchScopes(action).map(switchStream);
  const more = draft.need({ write: [actionStream(id), ...flows], read: [...switches, epochStream(epoch)] });
  if (more !== undefined) return more;
  const look = checkKillSwitches(draft, action);
  if (look.kind === "need") return look;
  if (draft.state(epochStream(epoch)).life !== "open") return { kind: "epoch_ended" };
  if (look.on === undefined) return undefined;
  const { scope, by, reason } = look.on;
  return hold(draft, actionStream(id), {
    code: "stopped",
    by: `kill switch (${scope})`,
    reason: `${by}: ${reason}`,
  });
}

function reserveAll(
  draft: Draft,
  id: string,
  effect: string,
  costs: ReadonlyMap<string, Money>,
): Held | undefined {
  const wanted = [...costs].map(([budget, amount]) => ({
    budget,
    answer: reserveAmount(draft.state(budgetStream(budget)), effect, amount),
  }));
  const refusedBy = wanted.find(({ answer }) => !answer.admitted);
  if (refusedBy !== undefined && !refusedBy.answer.admitted) {
    const state = draft.state(actionStream(id));
    const known = "held" in state && state.held?.code === "over_budget";
    if (!known) draft.append(budgetStream(refusedBy.budget), refusedBy.answer.events);
    return hold(draft, actionStream(id), {
      code: "over_budget",
      by: `budget ${refusedBy.budget}`,
      reason: refusedBy.answer.reason,
    });
  }
  for (const { budget, answer } of wanted) draft.append(budgetStream(budget), answer.events);
  return undefined;
}

/** Whose it is from then on: the process's, or that of the agent which performs it itself. */
function heldBy(draft: Draft, id: string, { epoch, outside }: Executor) {
  if (outside === undefined) return { epoch };
  const { agent } = draft.state(actionStream(id)) as ActionIn<"open">;
  const { holder = null, ask } = outside.asker ?? {};
  return {
    epoch: agent,
    reportBy: draft.now + outside.reportWithinMs,
    ...(holder === null ? {} : { holder }),
    ...(ask === undefined ? {} : { ask }),
  };
}

/** What was issued to a holder is begun in the same commit, where it asked for that. */
function beginAtOnce(draft: Draft, id: string, { outside }: Executor): void {
  const { holder = null, begin, ask = "" } = outside?.asker ?? {};
  if (holder === null || begin !== true) return;
  draft.append(actionStream(id), [{ type: "effect.begun", tv: 1, body: { holder, ask } }]);
}

export type StartGrant = {
  readonly grant: Grant;
  readonly binding: string;
  readonly executeBy: number | null;
};

export function startEffect(
  draft: Draft,
  id: string,
  executor: Executor & { readonly args: Json },
  permit: StartGrant,
): Need | Started | Held | Refused {
  const ref = actionStream(id);
  const duplicate = checkDedupe(draft, id, executor.rules, executor.args);
  if (duplicate !== undefined) return duplicate;
  const costs = costsOf(executor.rules, executor.args);
  if (typeof costs === "string") return refuse(draft, ref, { code: "blocked", by: "policy", reason: costs });
  const more = draft.need({ write: [...costs.keys()].map(budgetStream) });
  if (more !== undefined) return more;
  const effect = effectOf(id);
  const held = reserveAll(draft, id, effect, costs);
  if (held !== undefined) return held;
  const body = { effect, ...heldBy(draft, id, executor), ...permit, costs: reservedCosts(costs) };
  draft.append(ref, [{ type: "effect.started", tv: 1, body }]);
  beginAtOnce(draft, id, executor);
  settleUse(draft, "grant.used", { action: id, effect, grant: permit.grant });
  return { kind: "started", effect, state: draft.state(ref) as ActionIn<"running">, now: draft.now };
}

type Granted = {
  readonly review: {
    readonly args: Json;
    readonly approvers: ApproverRule;
    readonly executeWithinMs: number | null;
  };
  readonly fitting: FittingGrant;
};

/** The same facts as of an approval, with the grant in place of the time to decide. */
function standingBinding(
  tenant: string,
  id: string,
  state: LiveAction,
  terms: {
    readonly policy: string;
    readonly approvers: ApproverRule;
    readonly executeBy: number | null;
    readonly nonce: string;
    readonly grant: string;
  },
): string {
  const { tool, schema, effectClass, requester, argsDigest: args } = state;
  const stream = streamName(actionStream(id));
  const fixed = { tenant, stream, action: id, tool, schema, args, effectClass, requester, decideBy: null };
  return bindingOf({ ...fixed, undo: undoDigest(state), ...terms });
}

/** Starts an effect that people would be asked about, by a standing grant. The review has been recorded. */
export function startByGrant(
  draft: Draft,
  id: string,
  { review, fitting }: Granted,
  executor: Executor & { readonly args: Json },
): Need | Load | Started | Held | Refused {
  const state = draft.state(actionStream(id)) as LiveAction;
  if (digestOf(review.args) !== state.argsDigest)
    throw new TypeError("a grant was fitted to other arguments");
  const { nonce } = executor.ids;
  const { id: grant, owner, amount } = fitting;
  const executeBy = review.executeWithinMs === null ? null : draft.now + review.executeWithinMs;
  const binding = standingBinding(draft.tenant, id, state, {
    policy: executor.rules.policyDigest,
    approvers: review.approvers,
    executeBy,
    nonce,
    grant,
  });
  const permit = { kind: "standing", grant, by: [owner], amount, nonce } as const;
  return startEffect(draft, id, { ...executor, args: review.args }, { grant: permit, binding, executeBy });
}
