/** An approval in stages as one would do it by hand: who may decide, what time brings about, what reminders are due. */
import { NOON } from "../../src/testing/given.ts";

export const PEOPLE = ["person:a", "person:b", "person:c", "person:d", "person:e"];
export const STRANGER = "person:z";
const EVERYBODY = [...PEOPLE, STRANGER];
/** Times are counted in these, so that a last call has room. */
export const TICK = 20_000;

export type Rule = {
  readonly quorum: number;
  readonly from: readonly string[] | null;
  readonly also: readonly string[] | null;
  readonly every: number | null;
  readonly veto: boolean;
  readonly ms: number | null;
};
export type Setting = {
  readonly rules: readonly Rule[];
  readonly onTimeout: "expire" | "escalate" | "extend";
  readonly places: readonly (readonly [string, readonly string[]])[];
};
export type How = "approve" | "reject";
type Hand = { readonly by: string; readonly to: string; readonly stage: number };

export type Model = {
  readonly setting: Setting;
  status: string;
  now: number;
  stage: number;
  deadline: number | null;
  since: number;
  remindedUpTo: number;
  readonly reminders: string[];
  readonly cast: Map<string, { readonly how: How; readonly stage: number }>;
  readonly suspended: Set<string>;
  readonly handedOver: Set<number>;
  readonly extended: Set<number>;
  readonly widened: Set<number>;
  readonly places: Map<string, readonly string[]>;
  hands: Hand[];
};

export function modelOf(setting: Setting): Model {
  const ms = setting.rules[0]?.ms ?? null;
  return {
    setting,
    status: "pending",
    now: NOON,
    stage: 1,
    deadline: ms === null ? null : NOON + ms,
    since: NOON,
    remindedUpTo: NOON,
    reminders: [],
    cast: new Map(),
    suspended: new Set(),
    handedOver: new Set(),
    extended: new Set(),
    widened: new Set(),
    places: new Map(setting.places),
    hands: [],
  };
}

const ruleOf = (model: Model, stage = model.stage): Rule => model.setting.rules[stage - 1] as Rule;
const means = (model: Model, who: string, names: readonly string[]): boolean =>
  names.includes(who) || (model.places.get(who) ?? []).some((place) => names.includes(place));
const meant = (model: Model, names: readonly string[]) => EVERYBODY.filter((who) => means(model, who, names));
/** Whoever is not in the list of people is out, as there is one. */
const isOut = (model: Model, who: string) => !PEOPLE.includes(who) || model.suspended.has(who);

/** `wide`: with whoever may decide from half time on. */
function namesIn(model: Model, stage: number, wide = model.widened.has(stage)): readonly string[] | null {
  const { from, also } = ruleOf(model, stage);
  return from === null ? null : [...from, ...(wide ? (also ?? []) : [])];
}

/** Where somebody is there to decide, it is one of those, or one whom the stage names. */
function isDecider(model: Model, who: string, names: readonly string[] | null): boolean {
  const isThere = (one: string) => (model.places.get(one) ?? []).includes("role:admin");
  return !PEOPLE.some(isThere) || isThere(who) || (names !== null && means(model, who, names));
}

type Looking = { readonly stage?: number; readonly wide?: boolean; readonly hands?: readonly Hand[] };

export function mayDecide(model: Model, who: string, looking: Looking = {}): boolean {
  const { stage = model.stage, wide, hands = model.hands } = looking;
  const names = namesIn(model, stage, wide);
  const own = hands.filter((one) => one.stage === stage);
  const isSeated = (person: string): boolean =>
    !isOut(model, person) &&
    isDecider(model, person, names) &&
    (names === null ||
      means(model, person, names) ||
      own.some(({ by, to }) => to === person && isSeated(by)));
  return !own.some(({ by }) => by === who) && isSeated(who);
}

const isLate = ({ status, deadline, now }: Model): boolean =>
  status === "pending" && deadline !== null && now >= deadline;

function startAt(model: Model, at: number): void {
  model.since = at;
  model.remindedUpTo = at;
}

function begin(model: Model, at: number): void {
  model.stage++;
  startAt(model, at);
  const { ms } = ruleOf(model);
  model.deadline = ms === null ? null : at + ms;
}

const halfOf = ({ since, deadline }: Model): number | null =>
  deadline === null ? null : since + Math.floor((deadline - since) / 2);

/** The moment from which others may decide, if it is still to come. */
function wideningOf(model: Model): number | null {
  const { also, from } = ruleOf(model);
  const isOne =
    model.status === "pending" && also !== null && from !== null && !model.widened.has(model.stage);
  return isOne ? halfOf(model) : null;
}

export function passTime(model: Model): void {
  while (isLate(model)) {
    const { onTimeout, rules } = model.setting;
    const at = model.deadline as number;
    if (onTimeout === "extend" && !model.extended.has(model.stage)) {
      if (wideningOf(model) !== null) model.widened.add(model.stage);
      model.extended.add(model.stage);
      model.deadline = at + (ruleOf(model).ms as number);
      startAt(model, at);
    } else if (onTimeout === "escalate" && model.stage < rules.length) {
      model.handedOver.add(model.stage);
      begin(model, at);
    } else model.status = "expired";
  }
  const half = wideningOf(model);
  if (half !== null && model.now >= half) model.widened.add(model.stage);
}

/** Every moment of this stage at which people are to be reminded, and why. */
function moments(model: Model): readonly (readonly [number, string])[] {
  const { since, deadline } = model;
  const { every } = ruleOf(model);
  const end = deadline ?? model.now + 10 * (every ?? 1) + 1;
  const list: (readonly [number, string])[] = [];
  for (let at = since + (every ?? Number.POSITIVE_INFINITY); at < end; at += every ?? 1)
    list.push([at, "interval"]);
  const half = halfOf(model);
  if (deadline === null || half === null || deadline - since < 60_000) return list;
  const last = deadline - Math.min(Math.max(Math.floor((deadline - since) / 10), 60_000), 86_400_000);
  if (half < last || last <= since) list.push([half, "half_time"]);
  if (last > since) list.push([last, "last_call"]);
  return list;
}

const WEIGHT = ["interval", "half_time", "last_call"];

export function sweep(model: Model): void {
  passTime(model);
  if (model.status !== "pending") return;
  const due = moments(model)
    .filter(([at]) => at > model.remindedUpTo && at <= model.now)
    .toSorted(([a, why], [b, other]) => a - b || WEIGHT.indexOf(why) - WEIGHT.indexOf(other));
  const last = due.at(-1);
  if (last === undefined) return;
  model.remindedUpTo = last[0];
  model.reminders.push(`${last[1]} ${last[0]}`);
}

/** When somebody has to look next. */
export function dueOf(model: Model): number | null {
  if (model.status !== "pending") return null;
  const after = moments(model).flatMap(([at]) => (at > model.remindedUpTo ? [at] : []));
  const all = [...after, ...[model.deadline, wideningOf(model)].filter((at) => at !== null)];
  return all.length === 0 ? null : Math.min(...all);
}

function agreed(model: Model, stage: number): number {
  return [...model.cast].filter(
    ([who, vote]) => vote.how === "approve" && vote.stage === stage && mayDecide(model, who, { stage }),
  ).length;
}

export const allMet = (model: Model): boolean =>
  model.setting.rules.every(
    (rule, index) => model.handedOver.has(index + 1) || agreed(model, index + 1) >= rule.quorum,
  );

export function conclude(model: Model): void {
  if (agreed(model, model.stage) < ruleOf(model).quorum) return;
  if (model.stage < model.setting.rules.length) begin(model, model.now);
  else if (allMet(model)) model.status = "approved";
}

/** By trying every way of giving the seats to people; null is whoever comes. */
function seatable(seats: readonly (readonly string[])[], free: readonly string[]): boolean {
  const [first, ...rest] = seats;
  if (first === undefined) return true;
  return first.some(
    (who) =>
      free.includes(who) &&
      seatable(
        rest,
        free.filter((one) => one !== who),
      ),
  );
}

const seatsOf = (model: Model, rules: readonly Rule[], wide: boolean): readonly (readonly string[])[] =>
  rules.flatMap(({ from, also, quorum, ms }) => {
    if (from === null) return [];
    const names = [...from, ...(wide && ms !== null ? (also ?? []) : [])];
    return Array.from({ length: quorum }, () => meant(model, names));
  });

const unused = (model: Model) => EVERYBODY.filter((who) => !model.cast.has(who));
const later = (model: Model): readonly Rule[] => model.setting.rules.slice(model.stage);

/** Everybody could be found who is asked for, at the beginning. */
export const isMeetable = (model: Model): boolean =>
  seatable(seatsOf(model, model.setting.rules, false), EVERYBODY);

export function isNeededLater(model: Model, who: string): boolean {
  const seats = seatsOf(model, later(model), false);
  const free = unused(model).filter((one) => !model.suspended.has(one));
  return (
    seatable(seats, free) &&
    !seatable(
      seats,
      free.filter((one) => one !== who),
    )
  );
}

function left(model: Model, hands = model.hands): number | null {
  if (ruleOf(model).from === null) return null;
  const wide = model.deadline !== null || model.widened.has(model.stage);
  return EVERYBODY.filter((who) => {
    const vote = model.cast.get(who);
    const isFree = vote === undefined || (vote.how === "approve" && vote.stage === model.stage);
    return isFree && mayDecide(model, who, { wide, hands });
  }).length;
}

export function isHopeless(model: Model): boolean {
  const { veto, quorum } = ruleOf(model);
  if (veto || !seatable(seatsOf(model, later(model), true), unused(model))) return true;
  return (left(model) ?? quorum) < quorum;
}

export function delegate(model: Model, by: string, to: string): void {
  passTime(model);
  const { stage, hands, cast } = model;
  const own = hands.filter((one) => one.stage === stage);
  const before = (who: string): readonly string[] =>
    own.filter((one) => one.to === who).flatMap((one) => [one.by, ...before(one.by)]);
  const depth = (who: string): number =>
    Math.max(0, ...own.filter((one) => one.to === who).map((one) => 1 + depth(one.by)));
  const isFree = !isOut(model, to) && !cast.has(to) && !own.some((one) => one.by === to) && to !== by;
  if (model.status !== "pending" || !mayDecide(model, by) || cast.has(by) || !isFree) return;
  if (
    !isDecider(model, to, namesIn(model, stage)) ||
    before(by).includes(to) ||
    depth(by) > 2 ||
    isNeededLater(model, to)
  )
    return;
  const after = [...hands, { by, to, stage }];
  const { quorum } = ruleOf(model);
  if ((left(model) ?? 0) >= quorum && (left(model, after) ?? quorum) < quorum) return;
  model.hands = after;
}

export function takeBack(model: Model, by: string): void {
  passTime(model);
  const { stage } = model;
  const next = (who: string) => model.hands.find((one) => one.by === who && one.stage === stage);
  if (model.status !== "pending" || next(by) === undefined) return;
  for (let hand = next(by); hand !== undefined; hand = next(hand.to)) if (model.cast.has(hand.to)) return;
  const drop = (who: string) => {
    model.hands = model.hands.filter((one) => one.by !== who || one.stage !== stage);
  };
  drop(by);
  const names = namesIn(model, stage);
  for (;;) {
    const idle = model.hands.find(
      (one) =>
        one.stage === stage &&
        !(names === null || means(model, one.by, names)) &&
        !model.hands.some(({ to, stage: other }) => other === stage && to === one.by),
    );
    if (idle === undefined) return;
    drop(idle.by);
  }
}
