/** The rules that a program hands to a monitor, checked before it begins: a misspelt field would be a rule that says nothing. */

import { HoldpointError } from "../../kernel/errors.ts";
import { noField } from "../../kernel/fields.ts";
import { displayValue } from "../../kernel/text.ts";

import { type MonitorRule, OUTCOMES, PER, SEVERITIES } from "./rules.ts";

type Check = { readonly isRight: (value: unknown) => boolean; readonly what: string };

const MOST = 1_000;
const LONGEST_MS = 366 * 24 * 60 * 60 * 1000;

const oneOf = (list: readonly string[]): Check => ({
  isRight: (value) => list.some((one) => one === value),
  what: `is one of ${list.join(", ")}`,
});
const whole = (least: number, most: number): Check => ({
  isRight: (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
  what: `is a whole number from ${least} to ${most}`,
});
const MS = whole(1, LONGEST_MS);
const COUNT = whole(1, MOST);
const AMOUNT = whole(0, Number.MAX_SAFE_INTEGER);
const SHARE: Check = {
  isRight: (value) => typeof value === "number" && value >= 0 && value < 1,
  what: "is a share from 0 to less than 1",
};
const POSITIVE: Check = {
  isRight: (value) => typeof value === "number" && Number.isFinite(value) && value > 0,
  what: "is a number above 0",
};

const BASELINE: Readonly<Record<string, Check>> = { deviations: POSITIVE, warmUp: COUNT, least: AMOUNT };

const isMoney = (value: unknown): boolean => {
  const { currency, micros, ...more } = (value ?? {}) as { currency?: unknown; micros?: unknown };
  return (
    typeof currency === "string" &&
    /^[A-Z]{3,12}$/.test(currency) &&
    typeof micros === "bigint" &&
    micros >= 0n &&
    Object.keys(more).length === 0
  );
};

const COMMON: Readonly<Record<string, Check>> = {
  kind: { isRight: () => true, what: "" },
  name: {
    isRight: (value) =>
      typeof value === "string" && value.isWellFormed() && /^[^\s/#][^/#\n\r]{0,59}$/u.test(value),
    what: "is a text of 1 to 60 characters without / and #, and does not begin with a space",
  },
  severity: oneOf(SEVERITIES),
  raise: oneOf(["alert", "checkpoint"]),
};

/** Every field of every kind of rule. */
export const RULE_FIELDS: { readonly [kind in MonitorRule["kind"]]: Readonly<Record<string, Check>> } = {
  rate: {
    of: oneOf(["calls", "errors", "escalations"]),
    per: oneOf(PER),
    windowMs: MS,
    above: whole(0, MOST),
    baseline: { isRight: isBaseline, what: "is an object of deviations, warmUp and least" },
  },
  errors: {
    above: SHARE,
    last: COUNT,
    windowMs: MS,
    least: COUNT,
    of: {
      isRight: (value) =>
        Array.isArray(value) && value.length > 0 && value.every((one) => OUTCOMES.some((bad) => bad === one)),
      what: `is a list of ${OUTCOMES.join(", ")}`,
    },
    per: oneOf(PER),
  },
  silence: { forMs: MS },
  progress: { withinMs: MS, fewerThan: COUNT, moreThan: COUNT },
  resources: {
    tokens: AMOUNT,
    cost: { isRight: isMoney, what: "is { currency, micros } with micros as a bigint of at least 0" },
    operations: AMOUNT,
    elapsedMs: MS,
    apiCalls: AMOUNT,
  },
  when: {
    condition: { isRight: (value) => typeof value === "function", what: "is a function" },
    per: oneOf(PER),
  },
};

/** Of these fields a rule has exactly one, or at least one. */
const NEEDS: {
  readonly [kind in MonitorRule["kind"]]: readonly (readonly ["one" | "some", readonly string[]])[];
} = {
  rate: [
    ["one", ["above", "baseline"]],
    ["one", ["of"]],
    ["one", ["windowMs"]],
  ],
  errors: [
    ["one", ["last", "windowMs"]],
    ["one", ["above"]],
  ],
  silence: [["one", ["forMs"]]],
  progress: [
    ["some", ["fewerThan", "moreThan"]],
    ["one", ["withinMs"]],
  ],
  resources: [["some", ["tokens", "cost", "operations", "elapsedMs", "apiCalls"]]],
  when: [["one", ["condition"]]],
};

function isBaseline(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).every(([field, one]) => BASELINE[field]?.isRight(one) === true);
}

function wrong(what: string): never {
  throw new HoldpointError("invalid_input", what);
}

function isKind(kind: unknown): kind is MonitorRule["kind"] {
  return typeof kind === "string" && Object.hasOwn(RULE_FIELDS, kind);
}

type Given = Readonly<Record<string, unknown>>;

function checkFieldsOf(where: string, kind: MonitorRule["kind"], rule: Given): void {
  const fields = { ...COMMON, ...RULE_FIELDS[kind] };
  for (const [field, value] of Object.entries(rule)) {
    const check = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (check === undefined) wrong(`${where}${noField(field, Object.keys(fields))}.`);
    else if (value !== undefined && !check.isRight(value)) wrong(`${where}: "${field}" ${check.what}.`);
  }
}

function checkNeeds(where: string, kind: MonitorRule["kind"], rule: Given): void {
  if (rule["name"] === undefined) wrong(`${where} has a name.`);
  for (const [how, needed] of NEEDS[kind]) {
    const count = needed.filter((field) => rule[field] !== undefined).length;
    if (count === 0 && needed.length === 1) wrong(`${where} needs "${needed[0]}".`);
    if (count === 0 || (how === "one" && count > 1))
      wrong(`${where} has ${how === "one" ? "one" : "at least one"} of ${needed.join(", ")}.`);
  }
  const { last = MOST, least = 5 } = rule as { readonly last?: number; readonly least?: number };
  if (kind === "errors" && last < least)
    wrong(`${where}: the last ${last} outcomes are never as many as "least" wants, ${least}.`);
}

function checkRule(given: unknown, at: number): MonitorRule {
  if (typeof given !== "object" || given === null)
    return wrong(`Rule ${at + 1} is an object: { kind, name, … }.`);
  const rule = given as Given;
  const { kind } = rule;
  const kinds = Object.keys(RULE_FIELDS).join(", ");
  if (!isKind(kind)) return wrong(`Rule ${at + 1} has a kind: one of ${kinds}, not "${displayValue(kind)}".`);
  const where = `Rule ${at + 1} (${kind})`;
  checkFieldsOf(where, kind, rule);
  checkNeeds(where, kind, rule);
  // A copy: what the program changes later is not what was checked.
  return { ...rule } as unknown as MonitorRule;
}

export function checkRules(given: unknown): readonly MonitorRule[] {
  if (!Array.isArray(given) || given.length === 0) return wrong("A monitor has a list of rules.");
  const rules = given.map(checkRule);
  const names = rules.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) wrong(`Two rules are named "${twice}".`);
  return rules;
}

export function checkMonitorName(name: unknown): string {
  if (COMMON["name"]?.isRight(name) === true) return name as string;
  return wrong(`The name of a monitor ${COMMON["name"]?.what}.`);
}
