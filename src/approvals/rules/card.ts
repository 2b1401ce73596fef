/**
 * What a card says about an approval, and about what its reader can do. All of it is wording: other rules decide.
 * - A list row shows the arguments, the agent's words, the rule, the risk and the costs in full. An approval with more
 *   than that, or of an irreversible action, cannot be given from a list.
 * - A rejection from a list only prevents the run and has no other consequence. Comments are read before either.
 * - Typing a word to confirm is never required for reversible actions or without an effect. A person who types the same
 *   word all day no longer reads cards.
 * - For irreversible actions it is required from risk `high` on. It is also required, at any risk, if several people
 *   have to agree, together or one after the other: the policy's author considers that grave.
 */

import { canonicalJson } from "../../kernel/canonical-json.ts";
import { isJsonObject, type Json } from "../../kernel/json.ts";
import { isPerson } from "../../kernel/principal.ts";
import { ROSTER } from "../../kernel/stream.ts";
import { visible, visibleJson } from "../../kernel/text.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import { peopleAmong, type RosterState } from "../../people/stream.ts";
import type { EffectClass } from "../../policy/rules/tool-rules.ts";
import { type ApproverRule, excludedPeople, type Risk } from "../../policy/rules/verdict.ts";
import type { Irreversible } from "../../workflows/events.ts";
import { raisedName } from "../../workflows/rules/ask.ts";
import { findRollbackPoint, nextAttempt } from "../../workflows/rules/rollback.ts";
import type { LiveWorkflow } from "../../workflows/state.ts";
import type { Card } from "../card-schema.ts";
import {
  type ApprovalMove,
  type ApprovalStatus,
  isGiven,
  type LiveApproval,
  MOVES,
  ruleIn,
  type Subject,
  stageRules,
} from "../state.ts";
import { mayComment } from "./comment.ts";
import { mayExtend } from "./deadline.ts";
import { mayHandOver, maySitAgain } from "./delegate.ts";
import { delegationsIn, isEligible, isNeededLater, rejectionEnds } from "./quorum.ts";
import { mayCancel } from "./withdraw.ts";

const isRaised = ({ op }: Subject): boolean => raisedName(op) !== undefined;

/** The decision in Holdpoint's words. Names in it are untrusted: code that shows it makes hidden characters visible. */
export function headingOf({ tool, subject }: Pick<LiveApproval, "tool" | "subject">): string {
  if (subject === undefined) return `Run ${tool}`;
  if (subject.kind === "question") return `Answer the question ${tool}`;
  if (subject.kind === "intent") return `Answer what was sent: ${tool}`;
  return isRaised(subject)
    ? `Go on although the monitor stopped it: ${tool}`
    : `Go on past the checkpoint ${tool}`;
}

/** What the decision does if nothing runs by it. */
export const SUBJECT_WORDS: { readonly [kind in Subject["kind"]]: string } = {
  checkpoint: "the workflow goes on from here; nothing else runs by it",
  question: "the workflow is told the answer; nothing else runs by it",
  intent: "its sender is told the answer; nothing else runs by it",
};

/** Characters that a row has room for. */
const MOST_ARGS = 600;
const MOST_WORDS = 300;

type ToBatch = {
  readonly about: "action" | "checkpoint" | "question" | "intent";
  readonly isIrreversible: boolean;
  readonly isTyped: boolean;
  readonly hasPreview: boolean;
  readonly hasUndo: boolean;
  /** Policy or people changed it after the proposal. */
  readonly isChanged: boolean;
  readonly hasComments: boolean;
  readonly args: Json;
  readonly rationale: string | null;
};

/** By displayed length: an invisible character is written out. */
const isLonger = (text: string, most: number, written: (text: string) => string): boolean =>
  text.length > most || written(text).length > most;

const isLong = ({ args, rationale }: ToBatch): boolean =>
  isLonger(canonicalJson(args), MOST_ARGS, visibleJson) || isLonger(rationale ?? "", MOST_WORDS, visible);

const COMMENTED = "there are comments to read";

/** null: it can be approved together with others. */
export function whyAlone(it: ToBatch): string | null {
  if (it.about === "question") return "it wants an answer of its own";
  if (it.about === "checkpoint") return "there is the state of its workflow to look at";
  if (it.isTyped) return "it cannot be undone, and a word is typed before it is approved";
  if (it.isIrreversible) return "it cannot be undone";
  if (it.hasPreview) return "there is to look at what the tool shows of it";
  if (it.hasUndo) return "it has an undo to review first";
  if (it.hasComments) return COMMENTED;
  if (it.isChanged) return "it was changed since it was proposed";
  return isLong(it) ? "it is too long to be read in a list" : null;
}

/** null: it can be rejected together with others. */
export function whyRejectAlone({ about, hasComments }: ToBatch): string | null {
  if (about === "checkpoint") return "there is to look at what a rejection does to its workflow";
  if (about === "question") return "its workflow goes on without an answer";
  return hasComments ? COMMENTED : null;
}

/** Whether a row shows everything that it is about. */
export const isWholeInRow = (it: ToBatch): boolean => !it.isChanged && !isLong(it);

const GRAVE: readonly Risk["level"][] = ["high", "critical"];

type ToConfirm = {
  readonly isIrreversible: boolean;
  readonly risk: Pick<Risk, "level"> | null;
  /** Rules of all stages. */
  readonly rules: readonly Pick<ApproverRule, "quorum">[];
};

export function asksToConfirm({ isIrreversible, risk, rules }: ToConfirm): boolean {
  if (!isIrreversible) return false;
  if (risk !== null && GRAVE.includes(risk.level)) return true;
  return rules.length > 1 || rules.some(({ quorum }) => quorum > 1);
}

/**
 * Whether the effect of an action is undone when its workflow rolls back. `none`: no, it is in no workflow or its tool
 * has no undo. `nothing`: there is nothing to undo. `not_known`: the process that runs the workflow knows. `named`: by
 * a call of a declared tool that the agent chose. `claimed`: by one that only the agent knows, which proves nothing.
 */
export const KNOWN_UNDOS = ["has", "named", "claimed", "none", "nothing", "not_known"] as const;
export type KnownUndo = (typeof KNOWN_UNDOS)[number];

const REPEATING: { readonly [name in Exclude<EffectClass, "read">]: string } = {
  idempotent: "doing it again changes nothing more",
  keyed: "its receiver is told a key and does it once",
  probed: "its receiver can be asked whether it happened",
  transactional: "it is written in one transaction with the journal",
  once: "nothing is known about repeating it, so it is tried once",
};

const UNDOING: { readonly [undo in KnownUndo]: string } = {
  none: "it cannot be undone automatically",
  not_known: "a rollback of its workflow undoes it if the tool has an undo",
  has: "a rollback of its workflow undoes it",
  named: "a rollback of its workflow undoes it as the agent says, by a declared tool",
  claimed: "only the agent says how it would be undone",
  nothing: "there is nothing to undo",
};

/** What is known about repeating and undoing an action, as shown to people. */
export function effectWords(effectClass: EffectClass, undo: KnownUndo): string {
  if (effectClass === "read") return "it only reads: nothing to undo";
  return `${REPEATING[effectClass]}; ${UNDOING[undo]}`;
}

/** No undo is known once it is done. */
export const isIrreversible = (undo: KnownUndo): boolean =>
  undo === "none" || undo === "not_known" || undo === "claimed";

export const isTakenBack = (undo: KnownUndo): boolean => undo === "has" || undo === "named";

export type AtStake = { readonly canRollback: boolean; readonly irreversible: readonly Irreversible[] };

/**
 * What a rejection of the pending checkpoint would do to its workflow, as `apply-decision.ts` and `rollback.ts` decide
 * it.
 * `after`: the entry after which everything is rolled back. `isLast`: after the rollback there is no further attempt.
 */
export function rejectionOf(
  state: Pick<LiveWorkflow, "passed" | "generation" | "attempts" | "onIrreversible">,
  { canRollback, irreversible }: AtStake,
) {
  const target = findRollbackPoint(state, null) ?? { op: null, seq: 0 };
  const found = state.passed.findLast(({ op }) => op === target.op);
  const isStuck = irreversible.length > 0 && state.onIrreversible === "fail";
  return {
    isEnd: !canRollback,
    goesBackTo: canRollback ? (found?.name ?? null) : null,
    after: target.seq,
    isLast: !canRollback || isStuck || nextAttempt(state) === "fail",
  };
}

type Voter = Card["voters"][number];
const MOST_VOTERS = 50;

const mayStill = (approval: Omit<Omit<LiveApproval, "says">, "says">, roster: RosterState) => (who: string) =>
  isEligible(approval, roster, who) && !approval.votes.some(({ by }) => by === who);

/** Empty if the rule of the current stage names no people. */
function peopleNamed(approval: LiveApproval, roster: RosterState): readonly string[] {
  const { from } = ruleIn(approval, approval.stage);
  if (approval.status !== "pending" || from === null) return [];
  const handed = delegationsIn(approval, approval.stage).map(({ to }) => to);
  return [...new Set([...peopleAmong(roster, from), ...handed])];
}

/** People who voted, in the order of their votes, then people who may still vote. */
export function votersOf(approval: LiveApproval, roster: RosterState): readonly Voter[] {
  const voted = approval.votes.map(({ by, decision, stage = 1 }): Voter => {
    return { person: by, state: decision === "approve" ? "approved" : "rejected", stage };
  });
  const left = peopleNamed(approval, roster).filter(mayStill(approval, roster));
  const asked = left.map((person): Voter => ({ person, state: "asked", stage: approval.stage }));
  return [...voted, ...asked].slice(0, MOST_VOTERS);
}

/** A person who may decide now. undefined: the roster and the rule name none. */
export function somebodyAsked(approval: Omit<LiveApproval, "says">, roster: RosterState): string | undefined {
  const { from } = ruleIn(approval, approval.stage);
  const people = from === null ? [...roster.members.keys()] : peopleAmong(roster, from);
  return people.find(mayStill(approval, roster));
}

/**
 * Whether the reader may decide now, and why not, addressed to them. This wording is not the rule: `vote.ts` decides,
 * and a test keeps the two consistent.
 */
export type YourStanding = Pick<Card["you"], "mayDecide" | "whyNot" | "vote">;

const OVER: { readonly [status in ApprovalStatus]?: string } = {
  expired: "it expired without a decision",
  cancelled: "it was withdrawn",
  superseded: "another approval asks instead",
};

function whyNotAsked(approval: LiveApproval, roster: RosterState, person: string): string {
  const { stage } = approval;
  const handed = delegationsIn(approval, stage).find(({ by }) => by === person);
  if (handed !== undefined) return `you have handed your seat to ${handed.to}`;
  const stages = stageRules(approval).map((_, index) => index + 1);
  const own = stages.filter((one) => isEligible(approval, roster, person, one));
  const asked = `stage ${stage} of ${stages.length} is asked`;
  if (own.some((one) => one > stage)) return `it is not your turn: ${asked}`;
  return own.length === 0 ? "you are not among those asked" : `your stage has ended: ${asked}`;
}

function whyNotDecide(approval: LiveApproval, roster: RosterState, person: string): string | undefined {
  const { status, votes, approvers, requester, apart } = approval;
  const { suspended, members } = roster;
  if (status !== "pending") return OVER[status] ?? "it is decided";
  if (!isPerson(person)) return "only people decide";
  if (votes.some(({ by }) => by === person)) return "you have voted";
  if (requester.includes(person)) return "you asked for it";
  if (excludedPeople(approvers, requester, apart).includes(person))
    return "you posted the work or execute it, and duties are kept apart";
  if (suspended.includes(person)) return "you are suspended";
  if (members.size > 0 && !members.has(person)) return "you are not in the list of people";
  return isEligible(approval, roster, person) ? undefined : whyNotAsked(approval, roster, person);
}

/** Why a person who may reject cannot approve. */
function whyOnlyReject(approval: LiveApproval, roster: RosterState, person: string): string | null {
  if (approval.edit !== null)
    return `an edit by ${approval.edit.by} is being reviewed: until then you can only reject`;
  return isNeededLater(approval, roster, person)
    ? "you are needed in a later stage, and decide once: now you can only reject"
    : null;
}

/** The caller has applied the deadlines that have passed. */
export function yourStanding(approval: LiveApproval, roster: RosterState, person: string): YourStanding {
  const why = whyNotDecide(approval, roster, person);
  const { votes, stage } = approval;
  const vote = votes.find((one) => one.by === person && (one.stage ?? 1) === stage)?.decision ?? null;
  return { mayDecide: why === undefined, whyNot: why ?? whyOnlyReject(approval, roster, person), vote };
}

/** Whether their rejection ends it. null: they may not decide, or it depends on who they are. */
export function endsByYou(
  approval: LiveApproval,
  roster: RosterState,
  who: string | null,
  { mayDecide }: YourStanding,
): boolean | null {
  if (!mayDecide) return null;
  if (who === null) return approval.approvers.veto ? true : null;
  return rejectionEnds(approval, roster, who);
}

/** Not for a question, which has an answer instead, nor for a checkpoint raised by a monitor or without outputs. */
export function isEditable({ subject, args }: Pick<LiveApproval, "subject" | "args">): boolean {
  if (subject === undefined) return true;
  const isEmpty = isJsonObject(args) && Object.keys(args).length === 0;
  return subject.kind === "checkpoint" && !isRaised(subject) && !isEmpty;
}

/** Without authentication: what a person could do under some name. */
function anybodyCan(approval: LiveApproval, move: ApprovalMove): boolean {
  if (move === "revoke") return isGiven(approval);
  if (approval.status !== "pending") return false;
  if (move === "extend") return approval.decideBy !== null;
  return move !== "take_back" || approval.delegations.length > 0;
}

/**
 * What the reader can do with it now; null: an unknown reader. This is not the rule: each command has its own, and a
 * test keeps them consistent. The caller has applied the deadlines that have passed, and read the roster.
 */
export function movesOf(
  draft: Draft,
  approval: LiveApproval,
  who: string | null,
  { mayDecide, whyNot }: YourStanding,
): Need | readonly ApprovalMove[] {
  const moves = MOVES.filter((move) => move !== "edit" || isEditable(approval));
  if (who === null) return moves.filter((move) => anybodyCan(approval, move));
  const cancel = mayCancel(draft, approval, who);
  if (typeof cancel === "object") return cancel;
  const roster = draft.state(ROSTER);
  const approve = mayDecide && whyNot === null;
  const can: { readonly [move in ApprovalMove]: boolean } = {
    approve,
    reject: mayDecide,
    edit: approve,
    cancel,
    extend: mayExtend(approval, roster, who),
    delegate: mayHandOver(approval, roster, who),
    take_back: maySitAgain(approval, who),
    revoke: isPerson(who) && isGiven(approval),
    comment: mayComment(approval, roster, who),
  };
  return moves.filter((move) => can[move]);
}
