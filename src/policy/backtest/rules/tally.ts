/**
 * Counts the events of a back-test.
 * - Every action is counted once: compared, erased, gone, or never reviewed.
 * - Lists are bounded; counts are not.
 * - If approval is requested again, for example after a changed preview, the last decision counts.
 * - Actions that people rejected or changed, and that would now be let through, are listed separately as dangers.
 */

import type { Json } from "../../../kernel/json.ts";
import { dearest, moneyList } from "../../../kernel/money.ts";
import type { Review } from "../../rules/review.ts";
import type { ApprovalTerms } from "../../rules/stages.ts";
import { UNDO_NOT_NAMED } from "../../rules/tools.ts";
import type { LimitBehind } from "../../rules/verdict.ts";
import {
  type BacktestReport,
  PERSON_DECISIONS,
  type PeopleRow,
  type PersonDecision,
  type PolicySide,
  type Transition,
  type VerdictChange,
} from "./answers.ts";
import {
  type ApproverDiff,
  combineWithCode,
  combineWithCodeTerms,
  diffApprovers,
  wasDecidedByCode,
} from "./compare-answers.ts";
import type { RecordedAction, RecordedReview, ReplayEvent } from "./replay.ts";
import { type AmountSearch, changeLabels, readAmount, startAmountSearch, sumsText } from "./report.ts";

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

type Reviewed = Extract<ReplayEvent, { kind: "reviewed" }>;

/** A human decision as counted in the rows. */
type Counted = {
  readonly decision: PersonDecision;
  readonly approval: string;
  readonly isAlike: boolean;
  readonly isEditBlocked: boolean;
  readonly isDanger: boolean;
};

/** A compared action, while its outcome may still change. */
type Compared = Mutable<Omit<VerdictChange, "amount">> & {
  readonly amount: bigint | null;
  readonly toDigest: string;
  /** The candidate's approval terms, until those that code requested are known. */
  would: ApprovalTerms | null;
  row: Sum | null;
  counted: Counted | null;
};

type Sum = { from: string; to: string; count: number; started: number } & {
  readonly money: Map<string, bigint>;
  readonly amount: { micros: bigint; count: number };
};

type TallyOptions = {
  readonly since: number | null;
  /** Maximum number of listed changes. */
  readonly limit: number;
  /** Path of the argument to sum over the changes. */
  readonly amount: string | null;
};

export type BacktestTally = {
  readonly options: TallyOptions;
  readonly sought: AmountSearch | null;
  readonly counts: Mutable<Pick<BacktestReport, "actions" | "compared" | "changed" | "limited" | "byCode">> &
    Mutable<Omit<BacktestReport["missing"], "unreviewed">>;
  readonly sums: Map<string, Sum>;
  readonly people: Map<PersonDecision, Mutable<PeopleRow>>;
  /** The replay holds the keys while an action is open; nothing else does. */
  readonly compared: WeakMap<RecordedAction, Compared>;
  /** By approval: actions that people approved, and may have revoked. */
  readonly given: Map<string, Compared>;
  readonly changes: Compared[];
  readonly dangers: Compared[];
  readonly left: { changes: number; dangers: number };
};

export function openTally(options: TallyOptions): BacktestTally {
  const none = { erased: 0, gone: 0, partHistory: 0, beside: 0, decisions: 0 };
  const counts = { actions: 0, compared: 0, changed: 0, limited: 0, byCode: 0, ...none };
  const lists = { changes: [], dangers: [], left: { changes: 0, dangers: 0 } };
  const sought = options.amount === null ? null : startAmountSearch(options.amount);
  const kept = { sums: new Map(), people: new Map(), compared: new WeakMap(), given: new Map() };
  return { options, sought, counts, ...kept, ...lists };
}

const isCounted = ({ options }: BacktestTally, at: number): boolean =>
  options.since === null || at >= options.since;

export const isInPeriod = (tally: BacktestTally, action: RecordedAction): boolean =>
  isCounted(tally, action.proposedAt);

function sumOf(tally: BacktestTally, from: string, to: string): Sum {
  const key = `${from} > ${to}`;
  const amount = { micros: 0n, count: 0 };
  const known = tally.sums.get(key) ?? { from, to, count: 0, started: 0, money: new Map(), amount };
  tally.sums.set(key, known);
  return known;
}

const sideOf = ({ verdict, rule, reason }: PolicySide, revised: boolean): PolicySide => ({
  verdict,
  rule,
  reason,
  revised,
});

/** A workflow can require approval for a call even if a policy would let it through. */
const isAskedAnyway = (review: RecordedReview, candidate: Review): boolean =>
  candidate.verdict === "approve" && review.rule === "approvalRequired";

/** Rules of the program, not of a document. */
const OF_CODE: readonly string[] = ["policy", "approvalRequired"];

/** A compensation that no candidate rule matches stays as the program decided, not as another document did. */
const isLeftAlone = ({ rule }: RecordedReview, candidate: Review): boolean =>
  candidate.rule === UNDO_NOT_NAMED && candidate.revisions.length === 0 && OF_CODE.includes(rule);

/** A run's own limits refuse regardless of the policy. Default limits do too, unless the policy replaces them. */
function isLimited(review: RecordedReview, { candidate, countsCalls, limitsRun }: CandidateAnswer): boolean {
  const limit = limitIn(review, candidate);
  const isReplaced = limit?.rule === "limit:tool_calls" ? limitsRun : countsCalls;
  return limit?.of === "run" || (limit?.of === "usual" && !isReplaced);
}

/** A limit behind a policy's block applies once the policy no longer blocks. */
function limitIn({ limitOf, limitBehind, rule }: RecordedReview, candidate: Review): LimitBehind | undefined {
  if (limitOf !== undefined) return { of: limitOf, rule };
  return candidate.verdict === "block" ? undefined : limitBehind;
}

type InPlace = { readonly to: PolicySide; readonly digest: string; readonly isByCode?: true };

/** The effective result of the answer for this action. */
function inPlace({ review }: Reviewed, answer: CandidateAnswer): InPlace {
  const { candidate, digest } = answer;
  const revised = candidate.revisions.length > 0;
  if (isLeftAlone(review, candidate) || isLimited(review, answer))
    return { to: sideOf(review as PolicySide, review.revised), digest: review.argsDigest };
  if (isAskedAnyway(review, candidate))
    return { to: { verdict: "escalate", rule: review.rule, reason: review.reason, revised }, digest };
  return codeDecisionIn(review, answer) ?? { to: sideOf({ ...candidate, revised }, revised), digest };
}

/** Undefined if documents or a limit decided, or if the documents' answer of that time is unknown. */
function codeDecisionIn(review: RecordedReview, answer: CandidateAnswer): InPlace | undefined {
  const { candidate, digest, before, beforeDigest } = answer;
  if (before === null || before === "code" || limitIn(review, candidate) !== undefined) return undefined;
  const then = { review: before, digest: beforeDigest };
  if (!wasDecidedByCode(review, then)) return undefined;
  const found = combineWithCode(review, then, { review: candidate, digest });
  return found === undefined ? undefined : { ...found, isByCode: true };
}

function list(tally: BacktestTally, name: "changes" | "dangers", one: Compared): void {
  if (tally[name].length < tally.options.limit) tally[name].push(one);
  else tally.left[name] += 1;
}

export type CandidateAnswer = {
  readonly candidate: Review;
  /** Digest of the arguments that the candidate would have let run. */
  readonly digest: string;
  readonly isWhole: boolean;
  readonly args: Json;
  /** The candidate has its own limits for the tool. */
  readonly countsCalls: boolean;
  /** The candidate limits the total calls of a run. */
  readonly limitsRun: boolean;
  /** Review by the documents of that time: "code" if there were none, null if they cannot be evaluated any more. */
  readonly before: Review | "code" | null;
  /** Digest of the arguments that those documents would have let run. */
  readonly beforeDigest: string;
  /** All documents next to the one that the candidate replaces could be evaluated. */
  readonly isBesideWhole: boolean;
};

export function countReview(tally: BacktestTally, heard: Reviewed, answer: CandidateAnswer): void {
  const { action, review } = heard;
  const { isWhole, args } = answer;
  const from = { ...sideOf(review as PolicySide, review.revised), policy: review.policy };
  const { to, digest, isByCode: stays } = inPlace(heard, answer);
  const isSame = from.verdict === to.verdict && (to.verdict === "block" || digest === review.argsDigest);
  const { id, tool, agent, proposedAt: at, within } = action;
  const facts = { action: id, tool, agent, at, workflow: within?.workflow ?? null, from, to };
  const open = { person: null, edit: null, costs: null, amount: readAmount(tally.sought, args) };
  const asks = asksIn(heard, answer, to);
  const would = asks !== null && "would" in asks ? asks.would : null;
  const one: Compared = { ...facts, ...open, toDigest: digest, would, row: null, counted: null };
  tally.compared.set(action, one);
  tally.counts.compared += 1;
  if (!isWhole) tally.counts.partHistory += 1;
  if (!answer.isBesideWhole) tally.counts.beside += 1;
  if (isLimited(review, answer)) tally.counts.limited += 1;
  if (stays === true) tally.counts.byCode += 1;
  if (!isSame) countChange(tally, one);
  if (asks !== null && "others" in asks) countOthers(tally, one, asks.others);
}

/** The approvers of both sides, if both escalate: known now if documents escalated, with the request if code did. */
function asksIn(
  { review }: Reviewed,
  { candidate, before }: CandidateAnswer,
  to: PolicySide,
): { readonly others: ApproverDiff } | { readonly would: ApprovalTerms } | null {
  const isKept = review.verdict === "escalate" && candidate.verdict === "escalate";
  const isByCode = before !== "code" && before !== null && before.verdict !== "escalate";
  if (!isKept || (to.rule !== candidate.rule && !isByCode)) return null;
  if (before === "code" || isByCode) return { would: candidate };
  const others = before?.verdict === "escalate" ? diffApprovers(before, candidate) : undefined;
  return others === undefined ? null : { others };
}

/** An action that still escalates, but to other people or on other terms, also counts as changed. */
function countOthers(tally: BacktestTally, one: Compared, { from, to }: ApproverDiff): void {
  one.from = { ...one.from, asks: from };
  one.to = { ...one.to, asks: to };
  if (one.row === null) countChange(tally, one);
}

/** Uses the first request. Later ones are about an edit or a changed preview. */
function countAsked(tally: BacktestTally, { action, terms }: Extract<ReplayEvent, { kind: "asked" }>): void {
  const one = tally.compared.get(action);
  if (one === undefined || one.would === null) return;
  const others = diffApprovers(terms, combineWithCodeTerms(terms, one.would));
  one.would = null;
  if (others !== undefined) countOthers(tally, one, others);
}

function countChange(tally: BacktestTally, one: Compared): void {
  tally.counts.changed += 1;
  list(tally, "changes", one);
  const { from, to } = changeLabels(one);
  const row = sumOf(tally, from, to);
  one.row = row;
  row.count += 1;
  if (one.amount === null) return;
  row.amount.micros += one.amount;
  row.amount.count += 1;
}

export function countEdit(tally: BacktestTally, action: RecordedAction, candidate: Review): void {
  const one = tally.compared.get(action);
  const revised = candidate.revisions.length > 0;
  if (one !== undefined) one.edit = sideOf({ ...candidate, revised }, revised);
}

function personRow(tally: BacktestTally, decision: PersonDecision): Mutable<PeopleRow> {
  const counts = { total: 0, approve: 0, escalate: 0, block: 0, alike: 0, editBlocked: 0 };
  const row = tally.people.get(decision) ?? { decision, ...counts };
  tally.people.set(decision, row);
  return row;
}

function addTo(tally: BacktestTally, { to }: Compared, counted: Counted, change: 1 | -1): void {
  const row = personRow(tally, counted.decision);
  row.total += change;
  row[to.verdict] += change;
  if (counted.isEditBlocked) row.editBlocked += change;
  if (counted.isAlike) row.alike += change;
}

function endDanger(tally: BacktestTally, one: Compared): void {
  const at = tally.dangers.indexOf(one);
  if (at >= 0) tally.dangers.splice(at, 1);
  else tally.left.dangers -= 1;
}

/** Replaces what was counted for the action before. */
function countPerson(tally: BacktestTally, one: Compared, now: Counted): void {
  const before = one.counted;
  if (before !== null) {
    addTo(tally, one, before, -1);
    tally.given.delete(before.approval);
  }
  one.counted = now;
  addTo(tally, one, now, 1);
  if (now.decision === "approved") tally.given.set(now.approval, one);
  if (before?.isDanger === true && !now.isDanger) endDanger(tally, one);
  if (before?.isDanger !== true && now.isDanger) list(tally, "dangers", one);
}

function countDecision(tally: BacktestTally, heard: Extract<ReplayEvent, { kind: "decided" }>): void {
  const one = tally.compared.get(heard.action);
  // Withdrawn by a rule: another request replaces it.
  if (one === undefined || (heard.decision === "cancelled" && heard.by.includes("policy"))) return;
  const { by, reason, editedDigest, approval } = heard;
  // Approved with a person's edit in place of the proposal.
  const decision = heard.decision === "approved" && editedDigest !== null ? "edited" : heard.decision;
  one.person = { decision, by, reason };
  if (decision !== "edited") one.edit = null;
  const isLetThrough = one.to.verdict === "approve";
  const isAlike = decision === "edited" && isLetThrough && one.toDigest === editedDigest;
  const isDanger = isLetThrough && (decision === "rejected" || (decision === "edited" && !isAlike));
  const isEditBlocked = one.edit?.verdict === "block";
  countPerson(tally, one, { decision, approval, isAlike, isEditBlocked, isDanger });
}

/** A revoked approval counts as a no. */
function countRevoked(
  tally: BacktestTally,
  { approval, by, reason }: Extract<ReplayEvent, { kind: "revoked" }>,
): void {
  const one = tally.given.get(approval);
  if (one === undefined) return;
  one.person = { decision: "rejected", by, reason };
  const isDanger = one.to.verdict === "approve";
  const plain = { isAlike: false, isEditBlocked: false };
  countPerson(tally, one, { decision: "rejected", approval, ...plain, isDanger });
}

function countStart(
  tally: BacktestTally,
  { action, costs }: Extract<ReplayEvent, { kind: "started" }>,
): void {
  const one = tally.compared.get(action);
  if (one === undefined || one.row === null) return;
  const money = dearest(costs);
  one.costs = moneyList(money);
  one.row.started += 1;
  for (const [currency, micros] of money)
    one.row.money.set(currency, (one.row.money.get(currency) ?? 0n) + micros);
}

export function countEvent(tally: BacktestTally, heard: ReplayEvent): void {
  switch (heard.kind) {
    case "proposed":
      if (isCounted(tally, heard.at)) tally.counts.actions += 1;
      return;
    case "lost":
      if (!isCounted(tally, heard.at)) return;
      if (heard.what === "proposal") tally.counts.actions += 1;
      tally.counts[heard.what === "decision" ? "decisions" : "erased"] += 1;
      return;
    case "asked":
      countAsked(tally, heard);
      return;
    case "decided":
      countDecision(tally, heard);
      return;
    case "revoked":
      countRevoked(tally, heard);
      return;
    case "started":
      countStart(tally, heard);
  }
}

function changeOf(one: Compared): VerdictChange {
  const { toDigest: _digest, would: _would, row: _row, counted: _counted, amount, ...change } = one;
  return { ...change, amount: amount?.toString() ?? null };
}

function transitionOf({ from, to, count, started, money, amount }: Sum, field: string | null): Transition {
  const summed = { micros: amount.micros.toString(), count: amount.count };
  const row = { from, to, count, money: moneyList(money), withoutCost: count - started, amount: summed };
  return { ...row, sums: sumsText(row, field) };
}

export function reportOf(tally: BacktestTally, policy: BacktestReport["policy"]): BacktestReport {
  const { actions, compared, changed, limited, byCode, erased, gone, partHistory, beside, decisions } =
    tally.counts;
  const rows = [...tally.sums.values()].map((sum) => transitionOf(sum, tally.options.amount));
  return {
    policy,
    since: tally.options.since,
    actions,
    compared,
    changed,
    limited,
    byCode,
    transitions: rows.sort((a, b) => b.count - a.count || (a.from + a.to < b.from + b.to ? -1 : 1)),
    people: PERSON_DECISIONS.flatMap((decision) => tally.people.get(decision) ?? []).filter(
      ({ total }) => total > 0,
    ),
    dangers: tally.dangers.map(changeOf),
    changes: tally.changes.map(changeOf),
    leftOff: { ...tally.left },
    missing: { erased, gone, unreviewed: actions - compared - erased - gone, partHistory, beside, decisions },
  };
}
