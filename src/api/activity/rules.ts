/**
 * Activity: what was asked, decided and done, counted by day, tool, agent and person from rows of the views.
 * - Days are UTC, and every one from `since` to `until` is there.
 * - Each thing counts on the day it happened: a question when asked, a decision when made, an outcome when known;
 *   a refusal and a verdict when the action was proposed.
 * - An action has one verdict: the last, or `escalate` where people were asked, whatever policy said of their edit.
 * - Waiting is from the question to people's decision; expired and cancelled approvals were decided by nobody.
 */

import { isQuestionEnd, QUESTION_ENDS, type QuestionEnd } from "../../approvals/state.ts";
import type { JsonObject } from "../../kernel/json.ts";

type ViewRow = {
  readonly stream: { readonly id: string };
  readonly bucket: string;
  readonly at: number;
  readonly data: JsonObject;
};

type ActivityDecision = (typeof QUESTION_ENDS)[QuestionEnd]["countsAs"];
const ACTIVITY_OUTCOMES = ["applied", "not_applied", "in_doubt", "refused"] as const;
type ActivityOutcome = (typeof ACTIVITY_OUTCOMES)[number];

const ACTIVITY_VERDICTS = ["approve", "revise", "block", "escalate"] as const;
type ActivityVerdict = (typeof ACTIVITY_VERDICTS)[number];

/** An approval. */
export type ApprovalFact = {
  readonly at: number;
  readonly tool: string | null;
  readonly agent: string;
  /** The action that it is about; null where it is a checkpoint, a question or an intent. */
  readonly action: string | null;
  readonly decision: ActivityDecision | null;
  readonly decidedAt: number | null;
  /** People who decided. */
  readonly people: readonly string[];
};

/** An action. */
export type ActionFact = {
  readonly id: string;
  readonly at: number;
  readonly tool: string;
  readonly agent: string;
  /** What policy said; null where it was not asked, or an older version wrote the row. */
  readonly verdict: ActivityVerdict | null;
  readonly outcome: ActivityOutcome | null;
  /** When it had that outcome; of a refusal, when it was proposed. */
  readonly endedAt: number;
};

const isOutcome = (value: string): value is ActivityOutcome =>
  (ACTIVITY_OUTCOMES as readonly string[]).includes(value);
const isVerdict = (value: unknown): value is ActivityVerdict =>
  (ACTIVITY_VERDICTS as readonly unknown[]).includes(value);

/** What was given and then used, lapsed or taken back had been decided all the same. */
function decisionIn({ bucket, data }: ViewRow): ActivityDecision | null {
  if (bucket === "pending") return null;
  if (isQuestionEnd(bucket)) return QUESTION_ENDS[bucket].countsAs;
  return data["edited"] === true ? "modified" : "approved";
}

const numberOrNull = (value: unknown): number | null => (typeof value === "number" ? value : null);

/** Of a row of `approvals`. */
export function approvalFact(row: ViewRow): ApprovalFact {
  const { at, data } = row;
  const isAction = data["about"] === "action";
  const by = Array.isArray(data["decidedBy"]) ? data["decidedBy"].map(String) : [];
  return {
    at,
    tool: isAction ? String(data["tool"]) : null,
    agent: String(data["agent"]),
    action: isAction ? String(data["action"]) : null,
    decision: decisionIn(row),
    decidedAt: numberOrNull(data["decidedAt"]),
    people: by.filter((who) => who.startsWith("person:")),
  };
}

/** Of a row of `actions`. */
export function actionFact({ stream, bucket, at, data }: ViewRow): ActionFact {
  const outcome = isOutcome(bucket) ? bucket : null;
  const verdict = isVerdict(data["verdict"]) ? data["verdict"] : null;
  const endedAt = numberOrNull(data["endedAt"]) ?? at;
  return {
    id: stream.id,
    at,
    tool: String(data["tool"]),
    agent: String(data["agent"]),
    verdict,
    outcome,
    endedAt,
  };
}

/** The value that so many of a hundred are at most, one of those that are there: the nearest rank. Null of nothing. */
export function percentile(values: readonly number[], percent: number): number | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const rank = Math.max(1, Math.ceil((percent / 100) * sorted.length));
  return sorted[rank - 1] ?? null;
}

type ActivityCounts = { readonly [Name in "asked" | "actions" | ActivityDecision | ActivityOutcome]: number };
type Counting = { -readonly [Name in keyof ActivityCounts]: number };
type Verdicts = { readonly [Name in ActivityVerdict]: number };

export type DayActivity = ActivityCounts & {
  /** `2026-05-04` */
  readonly day: string;
  /** Actions of that day about which nobody was asked. */
  readonly byPolicy: number;
  /** Of the actions of that day. */
  readonly verdicts: Verdicts;
  readonly waitedP50: number | null;
  readonly waitedP90: number | null;
};
type ActivityShare = ActivityCounts & { readonly name: string };
export type PersonActivity = {
  readonly person: string;
  readonly decided: number;
  readonly rejected: number;
  readonly p50: number | null;
  readonly hasty: number;
};
export type Activity = {
  readonly days: readonly DayActivity[];
  readonly tools: readonly ActivityShare[];
  readonly agents: readonly ActivityShare[];
  readonly people: readonly PersonActivity[];
};

type Counted = {
  readonly since: number;
  readonly until: number;
  readonly approvals: readonly ApprovalFact[];
  readonly actions: readonly ActionFact[];
};

export const DAY_MS = 86_400_000;
const HASTY_MS = 3_000;
/** Of tools, agents and people, those with the most to tell. */
const MOST_NAMES = 100;
const AT_A_TIME = 1_000;

const dayOf = (at: number): number => Math.floor(at / DAY_MS);
const dayText = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

const noCounts = (): Counting => ({
  ...{ asked: 0, actions: 0, approved: 0, modified: 0, rejected: 0, expired: 0, cancelled: 0 },
  ...{ applied: 0, not_applied: 0, in_doubt: 0, refused: 0 },
});

type Day = {
  readonly counts: Counting;
  byPolicy: number;
  readonly verdicts: { -readonly [Name in ActivityVerdict]: number };
  readonly waits: number[];
};
type Person = { decided: number; rejected: number; hasty: number; readonly waits: number[] };

type Book = {
  readonly first: number;
  readonly days: readonly Day[];
  readonly tools: Map<string, Counting>;
  readonly agents: Map<string, Counting>;
  readonly people: Map<string, Person>;
};

function openBook({ since, until }: Counted): Book {
  const first = dayOf(since);
  const length = Math.max(1, dayOf(until) - first + 1);
  const days = Array.from({ length }, () => {
    const verdicts = { approve: 0, revise: 0, block: 0, escalate: 0 };
    return { counts: noCounts(), byPolicy: 0, verdicts, waits: [] };
  });
  return { first, days, tools: new Map(), agents: new Map(), people: new Map() };
}

/** A clock that was set back puts things behind the last day: they count there. */
const dayIn = ({ first, days }: Book, at: number): Day =>
  days[Math.min(Math.max(dayOf(at) - first, 0), days.length - 1)] as Day;

function named<Value>(map: Map<string, Value>, name: string, make: () => Value): Value {
  const found = map.get(name) ?? make();
  map.set(name, found);
  return found;
}

const sharesOf = (book: Book, tool: string | null, agent: string): readonly Counting[] => [
  ...(tool === null ? [] : [named(book.tools, tool, noCounts)]),
  named(book.agents, agent, noCounts),
];

function add(where: readonly Counting[], what: keyof ActivityCounts): void {
  for (const counts of where) counts[what] += 1;
}

const nobody = (): Person => ({ decided: 0, rejected: 0, hasty: 0, waits: [] });

function countPeople(book: Book, { people, decision, at, decidedAt }: ApprovalFact): void {
  if (decidedAt === null) return;
  const waited = Math.max(0, decidedAt - at);
  dayIn(book, decidedAt).waits.push(waited);
  for (const name of people) {
    const person = named(book.people, name, nobody);
    person.decided += 1;
    if (decision === "rejected") person.rejected += 1;
    if (waited <= HASTY_MS) person.hasty += 1;
    person.waits.push(waited);
  }
}

const isByPeople = ({ decision }: ApprovalFact): boolean =>
  decision === "approved" || decision === "modified" || decision === "rejected";

function countAsked(book: Book, fact: ApprovalFact): void {
  const { at, tool, agent, decision, decidedAt } = fact;
  const shares = sharesOf(book, tool, agent);
  add([dayIn(book, at).counts, ...shares], "asked");
  if (decision !== null) add([dayIn(book, decidedAt ?? at).counts, ...shares], decision);
  if (isByPeople(fact)) countPeople(book, fact);
}

/** Of what people changed, policy may have said that it needs nobody. */
function verdictOn({ verdict }: ActionFact, isAsked: boolean): ActivityVerdict | null {
  return isAsked && verdict !== "block" ? "escalate" : verdict;
}

function countAction(book: Book, fact: ActionFact, isAsked: boolean): void {
  const { at, tool, agent, outcome, endedAt } = fact;
  const shares = sharesOf(book, tool, agent);
  const day = dayIn(book, at);
  add([day.counts, ...shares], "actions");
  if (!isAsked) day.byPolicy += 1;
  const verdict = verdictOn(fact, isAsked);
  if (verdict !== null) day.verdicts[verdict] += 1;
  if (outcome !== null) add([dayIn(book, endedAt).counts, ...shares], outcome);
}

function mostOf<Value>(map: ReadonlyMap<string, Value>, weight: (value: Value) => number) {
  const byWeight = [...map].sort(([a, x], [b, y]) => weight(y) - weight(x) || (a < b ? -1 : 1));
  return byWeight.slice(0, MOST_NAMES);
}

const sharesIn = (map: ReadonlyMap<string, Counting>): readonly ActivityShare[] =>
  mostOf(map, ({ actions, asked }) => actions + asked).map(([name, counts]) => ({ name, ...counts }));

function* written({ first, days, tools, agents, people }: Book): Generator<void, Activity> {
  const written: DayActivity[] = [];
  for (const [index, { counts, byPolicy, verdicts, waits }] of days.entries()) {
    const [waitedP50, waitedP90] = [percentile(waits, 50), percentile(waits, 90)];
    written.push({ day: dayText(first + index), ...counts, byPolicy, verdicts, waitedP50, waitedP90 });
    yield;
  }
  const persons: PersonActivity[] = [];
  for (const [person, { waits, ...counts }] of mostOf(people, ({ decided }) => decided)) {
    persons.push({ person, ...counts, p50: percentile(waits, 50) });
    yield;
  }
  return { days: written, tools: sharesIn(tools), agents: sharesIn(agents), people: persons };
}

/** Times in milliseconds. Step by step: whoever takes the steps may do something else between them. */
export function* countActivity(counted: Counted): Generator<void, Activity> {
  const { since, approvals, actions } = counted;
  const book = openBook(counted);
  const asked = new Set<string>();
  for (const [index, fact] of approvals.entries()) {
    if (fact.action !== null) asked.add(fact.action);
    if (fact.at >= since) countAsked(book, fact);
    if (index % AT_A_TIME === 0) yield;
  }
  for (const [index, fact] of actions.entries()) {
    if (fact.at >= since) countAction(book, fact, asked.has(fact.id));
    if (index % AT_A_TIME === 0) yield;
  }
  return yield* written(book);
}
