/**
 * Activity: requests, decisions and outcomes, counted by day, tool, agent and person from rows of the views.
 * - Days are UTC, and every day from `since` to `until` is listed.
 * - Each thing counts on the day it happened: an approval when requested, a decision when made, an outcome when known;
 *   a refusal and a verdict when the action was proposed.
 * - An action has one verdict: the last, or `escalate` if people were asked, even if the policy passed their edit.
 * - Waiting time runs from the request to the decision; expired and cancelled approvals have no deciding person.
 */

import { z } from "zod";
import { isQuestionEnd, QUESTION_ENDS, type QuestionEnd } from "../../approvals/state.ts";
import { viewCodec } from "../../kernel/codec.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { timestamp } from "../../kernel/values.ts";

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

export type ApprovalFact = {
  readonly at: number;
  readonly tool: string | null;
  readonly agent: string;
  /** The action that it is about; null for a checkpoint, a question or an intent. */
  readonly action: string | null;
  readonly decision: ActivityDecision | null;
  readonly decidedAt: number | null;
  readonly people: readonly string[];
};

export type ActionFact = {
  readonly id: string;
  readonly at: number;
  readonly tool: string;
  readonly agent: string;
  /** Verdict of the policy; null if none was requested, or if an older version wrote the row. */
  readonly verdict: ActivityVerdict | null;
  readonly outcome: ActivityOutcome | null;
  /** When it had that outcome; for a refusal, when it was proposed. */
  readonly endedAt: number;
};

const isOutcome = (value: string): value is ActivityOutcome =>
  (ACTIVITY_OUTCOMES as readonly string[]).includes(value);
const isVerdict = (value: unknown): value is ActivityVerdict =>
  (ACTIVITY_VERDICTS as readonly unknown[]).includes(value);

/** An approval that was granted and then used, lapsed or revoked still counts as decided. */
function decisionIn({ bucket, data }: ViewRow): ActivityDecision | null {
  if (bucket === "pending") return null;
  if (isQuestionEnd(bucket)) return QUESTION_ENDS[bucket].countsAs;
  return data["edited"] === true ? "modified" : "approved";
}

const numberOrNull = (value: unknown): number | null => (typeof value === "number" ? value : null);

/** From a row of `approvals`. */
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

/** From a row of `actions`. */
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

/** Percentile by the nearest-rank method, so the result is one of the values; null if there are none. */
export function percentile(values: readonly number[], percent: number): number | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const rank = Math.max(1, Math.ceil((percent / 100) * sorted.length));
  return sorted[rank - 1] ?? null;
}

const count = z.int().min(0);
const decided = {
  approved: count,
  modified: count,
  rejected: count,
  expired: count,
  cancelled: count,
};
const done = { applied: count, not_applied: count, in_doubt: count, refused: count };

const day = z.object({
  day: z.iso.date().meta({ description: "in UTC" }),
  asked: count.meta({ description: "approvals that were asked for" }),
  ...decided,
  waitedP50Seconds: z.number().nullable().meta({ description: "from the question to people's decision" }),
  waitedP90Seconds: z.number().nullable(),
  actions: count.meta({ description: "actions that were proposed" }),
  byPolicy: count.meta({ description: "of those, decided without asking anybody" }),
  verdicts: z
    .object({ approve: count, revise: count, block: count, escalate: count })
    .meta({ description: "what policy said of them; revise: it changed the arguments, then approved" }),
  ...done,
});

const share = z.object({ name: z.string(), actions: count, asked: count, ...decided, ...done });

const person = z.object({
  person: z.string(),
  decided: count,
  rejected: count,
  p50Seconds: z.number().nullable().meta({ description: "from the question to their decision" }),
  hasty: count.meta({ description: "decided within three seconds of the question" }),
});

const counted = z.object({
  days: z.array(day).meta({ description: "every day, oldest first, those without anything too" }),
  tools: z.array(share).meta({ description: "the hundred with the most to tell; so with agents and people" }),
  agents: z.array(share),
  people: z.array(person).meta({ description: "empty without the scope people:read" }),
});

const activity = z.object({
  /** Later than requested if there were more rows than the limit. */
  since: timestamp.meta({ description: "later than was asked for where there was more than is counted" }),
  until: timestamp,
  isAll: z.boolean(),
  ...counted.shape,
  now: z.object({ pending: count, inDoubt: count, oldestPendingAt: timestamp.nullable() }),
});
export const activityOnWire = viewCodec(activity);

type ActivityCounts = Omit<z.output<typeof share>, "name">;
type DayActivity = z.output<typeof day>;
type PersonActivity = z.output<typeof person>;
type CountedActivity = z.output<typeof counted>;
export type Activity = z.output<typeof activity>;

type Counted = {
  readonly since: number;
  readonly until: number;
  readonly approvals: readonly ApprovalFact[];
  readonly actions: readonly ActionFact[];
};

export const DAY_MS = 86_400_000;
const HASTY_MS = 3_000;
/** Only the tools, agents and people with the highest counts are listed. */
const MOST_NAMES = 100;
const AT_A_TIME = 1_000;

const dayOf = (at: number): number => Math.floor(at / DAY_MS);
const dayText = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

const noCounts = (): ActivityCounts => ({
  ...{ asked: 0, actions: 0, approved: 0, modified: 0, rejected: 0, expired: 0, cancelled: 0 },
  ...{ applied: 0, not_applied: 0, in_doubt: 0, refused: 0 },
});

type Day = {
  readonly counts: ActivityCounts;
  byPolicy: number;
  readonly verdicts: DayActivity["verdicts"];
  readonly waits: number[];
};
type Person = { decided: number; rejected: number; hasty: number; readonly waits: number[] };

type Book = {
  readonly first: number;
  readonly days: readonly Day[];
  readonly tools: Map<string, ActivityCounts>;
  readonly agents: Map<string, ActivityCounts>;
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

/** If the clock was set back, times outside the range count on the nearest day. */
const dayIn = ({ first, days }: Book, at: number): Day =>
  days[Math.min(Math.max(dayOf(at) - first, 0), days.length - 1)] as Day;

function named<Value>(map: Map<string, Value>, name: string, make: () => Value): Value {
  const found = map.get(name) ?? make();
  map.set(name, found);
  return found;
}

const sharesOf = (book: Book, tool: string | null, agent: string): readonly ActivityCounts[] => [
  ...(tool === null ? [] : [named(book.tools, tool, noCounts)]),
  named(book.agents, agent, noCounts),
];

function add(where: readonly ActivityCounts[], what: keyof ActivityCounts): void {
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

/** After people edited an action, the policy may have passed it: it still counts as escalated. */
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

const sharesIn = (map: ReadonlyMap<string, ActivityCounts>) =>
  mostOf(map, ({ actions, asked }) => actions + asked).map(([name, counts]) => ({ name, ...counts }));

function secondsAt(waits: readonly number[], percent: number): number | null {
  const ms = percentile(waits, percent);
  return ms === null ? null : ms / 1_000;
}

function* written({ first, days, tools, agents, people }: Book): Generator<void, CountedActivity> {
  const written: DayActivity[] = [];
  for (const [index, { counts, byPolicy, verdicts, waits }] of days.entries()) {
    const waited = {
      waitedP50Seconds: secondsAt(waits, 50),
      waitedP90Seconds: secondsAt(waits, 90),
    };
    written.push({ day: dayText(first + index), ...counts, verdicts, byPolicy, ...waited });
    yield;
  }
  const persons: PersonActivity[] = [];
  for (const [person, { waits, ...counts }] of mostOf(people, ({ decided }) => decided)) {
    persons.push({ person, ...counts, p50Seconds: secondsAt(waits, 50) });
    yield;
  }
  return { days: written, tools: sharesIn(tools), agents: sharesIn(agents), people: persons };
}

/** A generator, so that the caller can do other work between steps. */
export function* countActivity(counted: Counted): Generator<void, CountedActivity> {
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
