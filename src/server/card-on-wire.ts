/** The card as it is answered, and the digest of what it shows. */

import type { Card } from "../approvals/card.ts";
import { cannotUndo, canUndo } from "../approvals/card-workflow.ts";
import { previewOf } from "../approvals/stream.ts";
import { digestOf } from "../core/digest.ts";
import { money, time } from "./wire.ts";

/** A beginning may have been cut within a character. */
const beginning = (args: unknown): string => previewOf(args).toWellFormed();

function historyOnWire(history: Card["history"]) {
  if (history === null) return null;
  const { agent, tool, total, applied, refused, inDoubt, isAll, latest } = history;
  return {
    ...{ agent, tool, total, applied, refused, in_doubt: inDoubt, is_all: isAll },
    latest: latest.map(({ action, approval, phase, at, args }) => ({
      ...{ action_id: action, approval_id: approval, phase, at: time(at) },
      args: args.toWellFormed(),
    })),
  };
}

function workflowOnWire(workflow: Card["workflow"]) {
  if (workflow === null) return null;
  const { id, state, done, total, since } = workflow;
  return {
    workflow_id: id,
    name: state.name,
    status: state.status,
    attempt: state.generation,
    done: done.map((one) => ({
      action_id: one.action,
      tool: one.state.tool,
      effect_class: one.state.effectClass,
      phase: one.state.phase,
      at: time("effect" in one.state ? one.state.effect.startedAt : one.state.proposedAt),
      args: beginning(one.state.args),
      can_undo: canUndo(one),
      is_undone: one.isUndone,
    })),
    total,
    cannot_undo: cannotUndo(done),
    since: since.total,
  };
}

function rejectingOnWire(rejecting: Card["rejecting"]) {
  if (rejecting === null) return null;
  const { goesBackTo, isEnd, isLast, undone, claimed, stays } = rejecting;
  return { goes_back_to: goesBackTo, is_end: isEnd, is_last: isLast, undone, claimed, stays };
}

function riskOnWire(risk: Card["risk"]) {
  if (risk === null) return null;
  const { level, score, conditions } = risk;
  return { level, score, conditions };
}

function reviewOnWire({ at, editedBy, policyName, ...review }: Card["reviews"][number]) {
  const { verdict, rule, reason, policy, risk = null } = review;
  return {
    ...{ edited_by: editedBy, at: time(at), verdict, rule, reason, policy, policy_name: policyName },
    risk: riskOnWire(risk),
  };
}

type Cost = Card["costs"][number];

const spentOnWire = ({ budget, amount }: Cost) => ({ budget, amount: money(amount) });
const costOnWire = ({ left, ...spent }: Cost) => ({
  ...spentOnWire({ left, ...spent }),
  left: left === null ? null : money(left),
});

/** All that is shown of it to everybody alike. */
export function cardOnWire(card: Card) {
  const { heading, confirm, snapshot, voters } = card;
  return {
    heading,
    effect_words: card.effectWords,
    is_irreversible: card.isIrreversible,
    confirm,
    input_schema: card.inputSchema,
    proposed_args: card.proposedArgs,
    reviews: card.reviews.map(reviewOnWire),
    risk: riskOnWire(card.risk),
    costs: card.costs.map(costOnWire),
    history: historyOnWire(card.history),
    workflow: workflowOnWire(card.workflow),
    rejecting: rejectingOnWire(card.rejecting),
    snapshot,
    voters,
  };
}

export function youOnWire({ you, inRow: { whyAlone, whyRejectAlone } }: Card) {
  const { mayDecide, whyNot, vote, moves, mayBatch, rejectionEnds } = you;
  return {
    ...{ may_decide: mayDecide, why_not: whyNot, vote },
    ...{ may: [...moves], may_batch: mayBatch, why_alone: whyAlone },
    ...{ why_reject_alone: whyRejectAlone, rejection_ends: rejectionEnds },
  };
}

type Fields = { readonly [field: string]: unknown };

const eachDigest = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, digestOf(value)]));

/** What a row of a list shows, beside the level of risk and the costs. */
const ROW = ["request_id", "binding", "name", "agent", "args", "says", "rule", "reason"] as const;

type Row = { readonly [name in (typeof ROW)[number]]: unknown };

/** Of what a row shows of it; null where a row does not show all that it is about. */
export function rowDigest(approval: Row, { inRow, risk, costs }: Card): string | null {
  if (!inRow.isWhole) return null;
  const shown = Object.fromEntries(ROW.map((name) => [name, approval[name]]));
  const judged = { risk_level: risk?.level ?? null, costs: costs.map(spentOnWire) };
  return digestOf({ row: eachDigest({ ...shown, ...judged }) });
}

/**
 * A digest of the digests of all fields: each can be as deep as JSON may be. `docs/guide/approvals.md` says how to compute it
 * again.
 */
export const shownDigest = (approval: Fields, card: Fields): string =>
  digestOf({ approval: eachDigest(approval), card: eachDigest(card) });
