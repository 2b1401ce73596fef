/**
 * Counts the events of a back-test, and makes its report.
 * - Every action is counted once: compared, erased, gone, or never reviewed.
 * - Lists are bounded; counts are not.
 * - If approval is requested again, for example after a changed preview, the last decision counts.
 * - Actions that people rejected or changed, and that would now be let through, are listed separately as dangers.
 * - The argument to sum is found by its path. A path that no action has is an error, because a sum of nothing would look
 *   like a result.
 */

import { HoldpointError } from "../../../kernel/errors.ts";
import { isJsonObject, type Json } from "../../../kernel/json.ts";
import { dearest, moneyList } from "../../../kernel/money.ts";
import { closestName } from "../../../kernel/spelling.ts";
import type { Review } from "../../rules/review.ts";
import type { ApprovalTerms } from "../../rules/stages.ts";
import {
  type BacktestReport,
  changeLabels,
  PERSON_DECISIONS,
  type PeopleRow,
  type PersonDecision,
  sumsText,
  type Transition,
  type VerdictChange,
} from "./answers.ts";
import {
  type ApproverDiff,
  asksIn,
  type CandidateAnswer,
  candidateSide,
  combineWithCodeTerms,
  diffApprovers,
  effectOf,
  recordedSide,
} from "./compare-answers.ts";
import type { RecordedAction, ReplayEvent } from "./replay.ts";

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };
type EventOf<Kind extends ReplayEvent["kind"]> = Extract<ReplayEvent, { kind: Kind }>;

/** A human decision as counted in the rows. */
type Counted = {
  readonly decision: PersonDecision;
  readonly approval: string;
  readonly isAlike: boolean;
  readonly isEditBlocked: boolean;
  readonly isDanger: boolean;
};

/** A compared action, while its outcome may still change. */
type Compared = {
  readonly change: Mutable<VerdictChange>;
  readonly toDigest: string;
  /** The candidate's approval terms, until those that code requested are known. */
  would: ApprovalTerms | null;
  row: Sum | null;
  counted: Counted | null;
};

type Sum = Mutable<Omit<Transition, "money" | "withoutCost" | "amount" | "sums">> & {
  started: number;
  readonly money: Map<string, bigint>;
  readonly amount: { micros: bigint; count: number };
};

type TallyOptions = {
  readonly since: number | null;
  /** Maximum number of listed changes. */
  readonly limit: number;
  /** The argument to sum over the changes. */
  readonly sought: AmountSearch | null;
};

export type BacktestTally = {
  readonly options: TallyOptions;
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
  readonly leftOff: { changes: number; dangers: number };
};

export function openTally(options: TallyOptions): BacktestTally {
  const none = { erased: 0, gone: 0, partHistory: 0, beside: 0, decisions: 0 };
  const counts = { actions: 0, compared: 0, changed: 0, limited: 0, byCode: 0, ...none };
  const lists = { changes: [], dangers: [], leftOff: { changes: 0, dangers: 0 } };
  const kept = { sums: new Map(), people: new Map(), compared: new WeakMap(), given: new Map() };
  return { options, counts, ...kept, ...lists };
}

/** `at`: when the action was proposed. */
export const isInPeriod = ({ options }: BacktestTally, at: number): boolean =>
  options.since === null || at >= options.since;

function list(tally: BacktestTally, name: "changes" | "dangers", one: Compared): void {
  if (tally[name].length < tally.options.limit) tally[name].push(one);
  else tally.leftOff[name] += 1;
}

/** The amount to sum, and whether all that the policy read could be given to it. */
type JudgedWith = {
  readonly amount: bigint | null;
  readonly isWhole: boolean;
  /** All documents next to the one that the candidate replaces could be evaluated. */
  readonly isBesideWhole: boolean;
};

export function countReview(
  tally: BacktestTally,
  { action, review }: EventOf<"reviewed">,
  answer: CandidateAnswer,
  { amount, isWhole, isBesideWhole }: JudgedWith,
): void {
  const { counts } = tally;
  const { to, digest, isLimited, isByCode } = effectOf(review, answer);
  const asks = asksIn(review, answer, to);
  const { id, tool, agent, proposedAt: at, within } = action;
  const from = { ...recordedSide(review), policy: review.policy };
  const facts = { action: id, tool, agent, at, workflow: within?.workflow ?? null, from, to };
  const one: Compared = {
    change: { ...facts, person: null, edit: null, costs: null, amount: amount?.toString() ?? null },
    toDigest: digest,
    would: asks !== null && "would" in asks ? asks.would : null,
    ...{ row: null, counted: null },
  };
  tally.compared.set(action, one);
  counts.compared += 1;
  counts.partHistory += Number(!isWhole);
  counts.beside += Number(!isBesideWhole);
  counts.limited += Number(isLimited);
  counts.byCode += Number(isByCode);
  const isSame = from.verdict === to.verdict && (to.verdict === "block" || digest === review.argsDigest);
  if (!isSame) countChange(tally, one);
  if (asks !== null && "others" in asks) countOthers(tally, one, asks.others);
}

/** An action that still escalates, but to other people or on other terms, also counts as changed. */
function countOthers(tally: BacktestTally, one: Compared, { from, to }: ApproverDiff): void {
  const { change } = one;
  change.from = { ...change.from, asks: from };
  change.to = { ...change.to, asks: to };
  if (one.row === null) countChange(tally, one);
}

/** Uses the first request. Later ones are about an edit or a changed preview. */
function countAsked(tally: BacktestTally, { action, terms }: EventOf<"asked">): void {
  const one = tally.compared.get(action);
  if (one === undefined || one.would === null) return;
  const others = diffApprovers(terms, combineWithCodeTerms(terms, one.would));
  one.would = null;
  if (others !== undefined) countOthers(tally, one, others);
}

function countChange(tally: BacktestTally, one: Compared): void {
  const { change } = one;
  tally.counts.changed += 1;
  list(tally, "changes", one);
  const { from, to } = changeLabels(change);
  const key = `${from} > ${to}`;
  const fresh = { from, to, count: 0, started: 0, money: new Map(), amount: { micros: 0n, count: 0 } };
  const row: Sum = tally.sums.get(key) ?? fresh;
  tally.sums.set(key, row);
  one.row = row;
  row.count += 1;
  if (change.amount === null) return;
  row.amount.micros += BigInt(change.amount);
  row.amount.count += 1;
}

export function countEdit(tally: BacktestTally, action: RecordedAction, candidate: Review): void {
  const one = tally.compared.get(action);
  if (one !== undefined) one.change.edit = candidateSide(candidate);
}

function addTo(tally: BacktestTally, { change: { to } }: Compared, counted: Counted, by: 1 | -1): void {
  const { decision } = counted;
  const none = { decision, total: 0, approve: 0, escalate: 0, block: 0, alike: 0, editBlocked: 0 };
  const row = tally.people.get(decision) ?? none;
  tally.people.set(decision, row);
  row.total += by;
  row[to.verdict] += by;
  if (counted.isEditBlocked) row.editBlocked += by;
  if (counted.isAlike) row.alike += by;
}

function endDanger(tally: BacktestTally, one: Compared): void {
  const at = tally.dangers.indexOf(one);
  if (at >= 0) tally.dangers.splice(at, 1);
  else tally.leftOff.dangers -= 1;
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

function countDecision(tally: BacktestTally, heard: EventOf<"decided">): void {
  const one = tally.compared.get(heard.action);
  if (one === undefined) return;
  const { by, reason, editedDigest, approval } = heard;
  const { change } = one;
  // Approved with a person's edit in place of the proposal.
  const decision = heard.decision === "approved" && editedDigest !== null ? "edited" : heard.decision;
  change.person = { decision, by, reason };
  if (decision !== "edited") change.edit = null;
  const isLetThrough = change.to.verdict === "approve";
  const isAlike = decision === "edited" && isLetThrough && one.toDigest === editedDigest;
  const isDanger = isLetThrough && (decision === "rejected" || (decision === "edited" && !isAlike));
  const isEditBlocked = change.edit?.verdict === "block";
  countPerson(tally, one, { decision, approval, isAlike, isEditBlocked, isDanger });
}

/** A revoked approval counts as a no. */
function countRevoked(tally: BacktestTally, { approval, by, reason }: EventOf<"revoked">): void {
  const one = tally.given.get(approval);
  if (one === undefined) return;
  one.change.person = { decision: "rejected", by, reason };
  const isDanger = one.change.to.verdict === "approve";
  const plain = { isAlike: false, isEditBlocked: false };
  countPerson(tally, one, { decision: "rejected", approval, ...plain, isDanger });
}

function countStart(tally: BacktestTally, { action, costs }: EventOf<"started">): void {
  const one = tally.compared.get(action);
  if (one === undefined || one.row === null) return;
  const money = dearest(costs);
  one.change.costs = moneyList(money);
  one.row.started += 1;
  for (const [currency, micros] of money)
    one.row.money.set(currency, (one.row.money.get(currency) ?? 0n) + micros);
}

export function countEvent(tally: BacktestTally, heard: ReplayEvent): void {
  switch (heard.kind) {
    case "proposed":
      if (isInPeriod(tally, heard.at)) tally.counts.actions += 1;
      return;
    case "lost":
      if (!isInPeriod(tally, heard.at)) return;
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

function transitionOf({ from, to, count, started, money, amount }: Sum, field: string | null): Transition {
  const summed = { micros: amount.micros.toString(), count: amount.count };
  const row = { from, to, count, money: moneyList(money), withoutCost: count - started, amount: summed };
  return { ...row, sums: sumsText(row, field) };
}

export function reportOf(tally: BacktestTally, policy: BacktestReport["policy"]): BacktestReport {
  const { options, sums, people, leftOff } = tally;
  const { actions, compared, changed, limited, byCode, erased, gone, ...missing } = tally.counts;
  const rows = [...sums.values()].map((sum) => transitionOf(sum, options.sought?.path ?? null));
  return {
    policy,
    since: options.since,
    ...{ actions, compared, changed, limited, byCode },
    transitions: rows.sort((a, b) => b.count - a.count || (a.from + a.to < b.from + b.to ? -1 : 1)),
    people: PERSON_DECISIONS.flatMap((decision) => people.get(decision) ?? []).filter(
      ({ total }) => total > 0,
    ),
    dangers: tally.dangers.map(({ change }) => change),
    changes: tally.changes.map(({ change }) => change),
    leftOff,
    missing: { erased, gone, unreviewed: actions - compared - erased - gone, ...missing },
  };
}

const DEEPEST = 4;
const MOST_PATHS = 200;
const MOST_NAMED = 12;

/** The path to find and, until it is found, the paths that exist. */
type AmountSearch = { readonly path: string; isThere: boolean; readonly others: Set<string> };

export const startAmountSearch = (path: string): AmountSearch => ({
  path,
  isThere: false,
  others: new Set(),
});

/** A key may contain dots. */
function valueAt(args: Json, path: string): Json | undefined {
  if (!isJsonObject(args)) return undefined;
  if (Object.hasOwn(args, path)) return args[path];
  const dot = path.indexOf(".");
  const key = path.slice(0, dot);
  if (dot < 0 || !Object.hasOwn(args, key)) return undefined;
  return valueAt(args[key] ?? null, path.slice(dot + 1));
}

function note(others: Set<string>, args: Json, before = "", depth = 1): void {
  if (!isJsonObject(args) || depth > DEEPEST) return;
  for (const [key, value] of Object.entries(args)) {
    if (others.size >= MOST_PATHS) return;
    if (typeof value === "number") others.add(before + key);
    else note(others, value ?? null, `${before + key}.`, depth + 1);
  }
}

/** In millionths of its unit. */
export function readAmount(sought: AmountSearch | null, args: Json): bigint | null {
  if (sought === null) return null;
  const value = valueAt(args, sought.path);
  if (typeof value !== "number") {
    if (!sought.isThere) note(sought.others, args);
    return null;
  }
  sought.isThere = true;
  const micros = Math.round(value * 1e6);
  return Number.isSafeInteger(micros) ? BigInt(micros) : null;
}

function namesOf({ path, others }: AmountSearch): string {
  if (others.size === 0) return "None of them has a number among its arguments; leave the amount out.";
  const meant = closestName(path, others);
  const list = [...others].filter((one) => one !== meant).toSorted();
  const named = (meant === undefined ? list : [meant, ...list]).slice(0, MOST_NAMED);
  const left = others.size - named.length;
  return `There are: ${named.join(", ")}${left > 0 ? `, and ${left} more` : ""}.`;
}

export function checkAmountFound(sought: AmountSearch | null, compared: number): void {
  if (sought === null || sought.isThere || compared === 0) return;
  const meant = closestName(sought.path, sought.others);
  const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
  const what = `None of ${compared} recorded actions has a number "${sought.path}" among its arguments.${hint}`;
  throw new HoldpointError("invalid_input", what, { next: namesOf(sought) });
}
