/** The card as it is answered, and the digest of what it shows. */
import { digestOf } from "../core/digest.ts";
import { cannotUndo } from "../engine/card/around.ts";
import type { Card } from "../engine/card/card.ts";
import { previewOf } from "../views/approvals.ts";
import { time } from "./wire.ts";

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
  const { id, state, done, total } = workflow;
  return {
    workflow_id: id,
    name: state.name,
    status: state.status,
    attempt: state.generation,
    done: done.map(({ action, state: was, undo, isUndone }) => ({
      action_id: action,
      tool: was.tool,
      effect_class: was.effectClass,
      phase: was.phase,
      at: time("effect" in was ? was.effect.startedAt : was.proposedAt),
      args: beginning(was.args),
      can_undo: undo === "has" && !isUndone,
      is_undone: isUndone,
    })),
    total,
    cannot_undo: cannotUndo(done),
  };
}

function rejectingOnWire(rejecting: Card["rejecting"]) {
  if (rejecting === null) return null;
  const { goesBackTo, isEnd, isLast, undone, stays } = rejecting;
  return { goes_back_to: goesBackTo, is_end: isEnd, is_last: isLast, undone, stays };
}

function riskOnWire(risk: Card["risk"]) {
  if (risk === null) return null;
  const { level, score, conditions } = risk;
  return { level, score, conditions };
}

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
    policy_name: card.policyName,
    risk: riskOnWire(card.risk),
    history: historyOnWire(card.history),
    workflow: workflowOnWire(card.workflow),
    rejecting: rejectingOnWire(card.rejecting),
    snapshot,
    voters,
    comments: card.comments.map(({ by, text, via, at }) => ({ by, text, via, at: time(at) })),
  };
}

export function youOnWire({ you, whyAlone }: Card) {
  const { mayDecide, whyNot, vote, moves, mayBatch } = you;
  return {
    ...{ may_decide: mayDecide, why_not: whyNot, vote },
    ...{ may: [...moves], may_batch: mayBatch, why_alone: whyAlone },
  };
}

type Fields = { readonly [field: string]: unknown };

const eachDigest = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, digestOf(value)]));

/**
 * A digest of the digests of all fields: each can be as deep as JSON may be. `docs/guide/approvals.md` says how to compute it
 * again.
 */
export const shownDigest = (approval: Fields, card: Fields): string =>
  digestOf({ approval: eachDigest(approval), card: eachDigest(card) });
