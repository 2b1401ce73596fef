/**
 * What was asked, decided and done: counted by day, tool, agent and person.
 *
 * C1. Days are those of UTC, and every one from `since` to `until` is there.
 * C2. Each thing counts on the day on which it happened: a question when it was asked, a decision when it was made, an outcome
 *     when it was known; a refusal and a verdict when the action was proposed.
 * C3. An action has one verdict: the last one, and `escalate` where people were asked whatever was said of their edit.
 * C4. Waiting is from the question to people's decision. What expired or was cancelled nobody decided.
 */
import type { ActionFact, AskedFact, Decision, Outcome, Verdict } from "./activity-facts.ts";
import { percentile } from "./percentile.ts";

export type Counts = { readonly [Name in "asked" | "actions" | Decision | Outcome]: number };
type Counting = { -readonly [Name in keyof Counts]: number };
type Verdicts = { readonly [Name in Verdict]: number };

export type DayActivity = Counts & {
  /** `2026-05-04` */
  readonly day: string;
  /** Actions of that day about which nobody was asked. */
  readonly byPolicy: number;
  /** Of the actions of that day. */
  readonly verdicts: Verdicts;
  readonly waitedP50: number | null;
  readonly waitedP90: number | null;
};
export type Share = Counts & { readonly name: string };
export type PersonActivity = {
  readonly person: string;
  readonly decided: number;
  readonly rejected: number;
  readonly p50: number | null;
  readonly hasty: number;
};
export type Activity = {
  readonly days: readonly DayActivity[];
  readonly tools: readonly Share[];
  readonly agents: readonly Share[];
  readonly people: readonly PersonActivity[];
};

type Counted = {
  readonly since: number;
  readonly until: number;
  readonly approvals: readonly AskedFact[];
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
  readonly verdicts: { -readonly [Name in Verdict]: number };
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

function add(where: readonly Counting[], what: keyof Counts): void {
  for (const counts of where) counts[what] += 1;
}

const nobody = (): Person => ({ decided: 0, rejected: 0, hasty: 0, waits: [] });

function countPeople(book: Book, { people, decision, at, decidedAt }: AskedFact): void {
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

const isByPeople = ({ decision }: AskedFact): boolean =>
  decision === "approved" || decision === "modified" || decision === "rejected";

function countAsked(book: Book, fact: AskedFact): void {
  const { at, tool, agent, decision, decidedAt } = fact;
  const shares = sharesOf(book, tool, agent);
  add([dayIn(book, at).counts, ...shares], "asked");
  if (decision !== null) add([dayIn(book, decidedAt ?? at).counts, ...shares], decision);
  if (isByPeople(fact)) countPeople(book, fact);
}

/** Of what people changed, policy may have said that it needs nobody. */
function verdictOn({ verdict }: ActionFact, isAsked: boolean): Verdict | null {
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

const sharesIn = (map: ReadonlyMap<string, Counting>): readonly Share[] =>
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
export function* activityOf(counted: Counted): Generator<void, Activity> {
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
