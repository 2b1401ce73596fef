/**
 * Checks of monitor rules, as a program passes them and as a file spells them (lower-case fields; times and money in
 * words). An unknown field is a fault and never ignored: a misspelt limit would be no limit.
 */

import { durationMs } from "../../kernel/duration.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import {
  checkNothing,
  functionCheck,
  noField,
  oneOfCheck,
  rejectInput,
  type ValueCheck,
} from "../../kernel/fields.ts";
import { isJsonObject } from "../../kernel/json.ts";
import { amountCheck, parseMoney } from "../../kernel/money.ts";
import { didYouMean } from "../../kernel/spelling.ts";
import { displayValue } from "../../kernel/text.ts";
import type { PolicyFault } from "../../policy/rules/document.ts";
import { BAD_OUTCOMES, type MonitorRule, PER, SEVERITIES } from "./monitor-rule.ts";

const MOST = 1_000;
const LONGEST_MS = 366 * 24 * 60 * 60 * 1000;

const whole = (least: number, most: number): ValueCheck => ({
  isRight: (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
  what: `is a whole number from ${least} to ${most}`,
});
const MS = whole(1, LONGEST_MS);
const COUNT = whole(1, MOST);
const AMOUNT = whole(0, Number.MAX_SAFE_INTEGER);
const SHARE: ValueCheck = {
  isRight: (value) => typeof value === "number" && value >= 0 && value < 1,
  what: "is a share from 0 to less than 1",
};
const POSITIVE: ValueCheck = {
  isRight: (value) => typeof value === "number" && Number.isFinite(value) && value > 0,
  what: "is a number above 0",
};

const BASELINE_FIELDS: Readonly<Record<string, ValueCheck>> = {
  deviations: POSITIVE,
  warmUp: COUNT,
  least: AMOUNT,
};

const COMMON_FIELDS: Readonly<Record<string, ValueCheck>> = {
  kind: checkNothing,
  name: {
    isRight: (value) =>
      typeof value === "string" && value.isWellFormed() && /^[^\s/#][^/#\n\r]{0,59}$/u.test(value),
    what: "is a text of 1 to 60 characters without / and #, and does not begin with a space",
  },
  severity: oneOfCheck(SEVERITIES),
  raise: oneOfCheck(["alert", "checkpoint"]),
};

/** Every field of every kind of rule. */
const RULE_FIELDS: { readonly [kind in MonitorRule["kind"]]: Readonly<Record<string, ValueCheck>> } = {
  rate: {
    of: oneOfCheck(["calls", "errors", "escalations"]),
    per: oneOfCheck(PER),
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
        Array.isArray(value) &&
        value.length > 0 &&
        value.every((one) => BAD_OUTCOMES.some((bad) => bad === one)),
      what: `is a list of ${BAD_OUTCOMES.join(", ")}`,
    },
    per: oneOfCheck(PER),
  },
  silence: { forMs: MS },
  progress: { withinMs: MS, fewerThan: COUNT, moreThan: COUNT },
  resources: {
    tokens: AMOUNT,
    cost: amountCheck,
    operations: AMOUNT,
    elapsedMs: MS,
    apiCalls: AMOUNT,
  },
  when: {
    condition: functionCheck,
    per: oneOfCheck(PER),
  },
};

/** A rule has exactly one, or at least one, of these fields. */
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
  return Object.entries(value).every(([field, one]) => BASELINE_FIELDS[field]?.isRight(one) === true);
}

function isKind(kind: unknown): kind is MonitorRule["kind"] {
  return typeof kind === "string" && Object.hasOwn(RULE_FIELDS, kind);
}

type RuleInput = Readonly<Record<string, unknown>>;

function checkRuleFields(where: string, kind: MonitorRule["kind"], rule: RuleInput): void {
  const fields = { ...COMMON_FIELDS, ...RULE_FIELDS[kind] };
  for (const [field, value] of Object.entries(rule)) {
    const check = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (check === undefined) rejectInput(`${where}${noField(field, Object.keys(fields))}.`);
    else if (value !== undefined && !check.isRight(value)) rejectInput(`${where}: "${field}" ${check.what}.`);
  }
}

function checkNeeds(where: string, kind: MonitorRule["kind"], rule: RuleInput): void {
  if (rule["name"] === undefined) rejectInput(`${where} has a name.`);
  for (const [how, needed] of NEEDS[kind]) {
    const count = needed.filter((field) => rule[field] !== undefined).length;
    if (count === 0 && needed.length === 1) rejectInput(`${where} needs "${needed[0]}".`);
    if (count === 0 || (how === "one" && count > 1))
      rejectInput(`${where} has ${how === "one" ? "one" : "at least one"} of ${needed.join(", ")}.`);
  }
  const { last = MOST, least = 5 } = rule as { readonly last?: number; readonly least?: number };
  if (kind === "errors" && last < least)
    rejectInput(`${where}: the last ${last} outcomes are never as many as "least" wants, ${least}.`);
}

function checkRule(given: unknown, at: number): MonitorRule {
  if (typeof given !== "object" || given === null)
    return rejectInput(`Rule ${at + 1} is an object: { kind, name, … }.`);
  const rule = given as RuleInput;
  const { kind } = rule;
  const kinds = Object.keys(RULE_FIELDS).join(", ");
  if (!isKind(kind))
    return rejectInput(`Rule ${at + 1} has a kind: one of ${kinds}, not "${displayValue(kind)}".`);
  const where = `Rule ${at + 1} (${kind})`;
  checkRuleFields(where, kind, rule);
  checkNeeds(where, kind, rule);
  // A copy: later changes by the program must not bypass the check.
  return { ...rule } as unknown as MonitorRule;
}

export function checkRules(given: unknown): readonly MonitorRule[] {
  if (!Array.isArray(given) || given.length === 0) return rejectInput("A monitor has a list of rules.");
  const rules = given.map(checkRule);
  const names = rules.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) rejectInput(`Two rules are named "${twice}".`);
  return rules;
}

export function checkMonitorName(name: unknown): string {
  if (COMMON_FIELDS["name"]?.isRight(name) === true) return name as string;
  return rejectInput(`The name of a monitor ${COMMON_FIELDS["name"]?.what}.`);
}

type Path = PolicyFault["path"];

export type WrittenMonitor = {
  readonly name: string;
  readonly rules: readonly MonitorRule[];
  readonly agents?: readonly string[];
  readonly workflows?: readonly string[];
  readonly tools?: readonly string[];
};

type MonitorShaped =
  | { readonly ok: true; readonly monitor: WrittenMonitor }
  | { readonly ok: false; readonly faults: readonly PolicyFault[] };

/** Fields that have a different name in a file. */
export const WRITTEN_FIELDS: Readonly<Record<string, string>> = {
  windowMs: "window",
  forMs: "for",
  withinMs: "within",
  elapsedMs: "elapsed",
  fewerThan: "fewer_than",
  moreThan: "more_than",
  apiCalls: "api_calls",
  warmUp: "warm_up",
};
const SPAN_FIELDS: ReadonlySet<string> = new Set(["windowMs", "forMs", "withinMs", "elapsedMs"]);
const KEYS = ["monitor", "description", "agents", "workflows", "tools", "rules"];
const writtenName = (field: string): string => WRITTEN_FIELDS[field] ?? field;

type Reading = { readonly faults: PolicyFault[] };

function unknownKey({ faults }: Reading, path: Path, key: string, known: readonly string[]): void {
  const meant = didYouMean(key, known) || `; there are ${known.join(", ")}`;
  const message = `${key} is not a key here${meant}`;
  faults.push({ path: [...path, key], message });
}

function spanOf({ faults }: Reading, path: Path, value: unknown): unknown {
  const ms = typeof value === "string" ? durationMs(value) : undefined;
  if (ms !== undefined && ms > 0 && ms <= LONGEST_MS) return ms;
  const message = `${path.at(-1)} is not a length of time like "90s", "30m", "24h" or "7d", of at most 366d`;
  faults.push({ path, message });
  return undefined;
}

function moneyOf({ faults }: Reading, path: Path, value: unknown): unknown {
  const money = typeof value === "string" ? parseMoney(value.trim()) : undefined;
  if (money !== undefined) return money;
  faults.push({ path, message: `${path.at(-1)} is not an amount of money like "50 USD"` });
  return undefined;
}

/** The same object with the names used in code. */
function renameField(reading: Reading, path: Path, given: RuleInput, fields: readonly string[]): RuleInput {
  const byName = new Map(fields.map((field) => [writtenName(field), field]));
  const entries = Object.entries(given).flatMap(([key, value]) => {
    const field = byName.get(key);
    if (field !== undefined) return [[field, nestedPart(reading, [...path, key], field, value)] as const];
    unknownKey(reading, path, key, [...byName.keys()]);
    return [];
  });
  return Object.fromEntries(entries);
}

function nestedPart(reading: Reading, path: Path, field: string, value: unknown): unknown {
  if (SPAN_FIELDS.has(field)) return spanOf(reading, path, value);
  if (field === "cost") return moneyOf(reading, path, value);
  return field === "baseline" && isJsonObject(value)
    ? renameField(reading, path, value, Object.keys(BASELINE_FIELDS))
    : value;
}

/** With the names used in files, and without the rule number: the line identifies the rule. */
function asWritten(message: string): string {
  const names = Object.entries(WRITTEN_FIELDS);
  return names
    .reduce((text, [field, name]) => text.replace(new RegExp(`\\b${field}\\b`, "g"), name), message)
    .replace(/^Rule 1 \(\w+\):? /, "");
}

function checkWritten<Answer>({ faults }: Reading, path: Path, check: () => Answer): Answer | undefined {
  try {
    return check();
  } catch (error) {
    if (!isHoldpointError(error, "invalid_input")) throw error;
    const message = asWritten(error.what).replace(/\.$/, "");
    const [, key] = /^"(\w+)" is /.exec(message) ?? [];
    faults.push({ path: key === undefined ? path : [...path, key], message });
    return undefined;
  }
}

const FUNCTION =
  "a rule of kind when has a function, which a file cannot hold; write this monitor as a module";

function ruleOf(reading: Reading, given: unknown, index: number): MonitorRule | undefined {
  const path = ["rules", index];
  const fault = (key: string, message: string): undefined => {
    reading.faults.push({ path: key === "" ? path : [...path, key], message });
  };
  if (!isJsonObject(given)) return fault("", "a rule is an object: { kind, name, … }");
  const kinds = Object.keys(RULE_FIELDS).filter((one) => one !== "when");
  const { kind } = given;
  if (kind === "when") return fault("kind", FUNCTION);
  if (typeof kind !== "string" || !kinds.includes(kind))
    return fault("kind", `kind is one of ${kinds.join(", ")}${didYouMean(String(kind ?? ""), kinds)}`);
  const fields = [...Object.keys(COMMON_FIELDS), ...Object.keys(RULE_FIELDS[kind as MonitorRule["kind"]])];
  const before = reading.faults.length;
  const rule = renameField(reading, path, given, fields);
  return reading.faults.length > before
    ? undefined
    : checkWritten(reading, path, () => checkRules([rule])[0]);
}

function rulesOf(reading: Reading, given: unknown): readonly MonitorRule[] {
  if (!Array.isArray(given) || given.length === 0) {
    reading.faults.push({ path: ["rules"], message: "rules is a list of at least one rule" });
    return [];
  }
  const rules = given.map((one, index) => ruleOf(reading, one, index));
  const names = rules.map((rule) => rule?.name);
  for (const [index, name] of names.entries())
    if (name !== undefined && names.indexOf(name) < index)
      reading.faults.push({ path: ["rules", index, "name"], message: `another rule is named ${name}` });
  return rules.filter((rule) => rule !== undefined);
}

function namesOf({ faults }: Reading, given: RuleInput, key: "agents" | "workflows" | "tools") {
  const names = given[key];
  if (names === undefined) return {};
  if (Array.isArray(names) && names.length > 0 && names.every((one) => typeof one === "string" && one !== ""))
    return { [key]: names as readonly string[] };
  faults.push({ path: [key], message: `${key} is a list of names` });
  return {};
}

export function readMonitorDocument(document: unknown): MonitorShaped {
  const reading: Reading = { faults: [] };
  if (!isJsonObject(document))
    return { ok: false, faults: [{ path: [], message: "a monitor is an object: { monitor, rules }" }] };
  for (const key of Object.keys(document)) if (!KEYS.includes(key)) unknownKey(reading, [], key, KEYS);
  if (document["monitor"] === undefined)
    reading.faults.push({ path: [], message: "monitor is missing: the name under which its place is kept" });
  const name =
    document["monitor"] === undefined
      ? undefined
      : checkWritten(reading, ["monitor"], () => checkMonitorName(document["monitor"]));
  const rules = rulesOf(reading, document["rules"]);
  const filters = (["agents", "workflows", "tools"] as const).map((key) => namesOf(reading, document, key));
  if (name === undefined || reading.faults.length > 0) return { ok: false, faults: reading.faults };
  return { ok: true, monitor: Object.assign({ name, rules }, ...filters) as WrittenMonitor };
}
