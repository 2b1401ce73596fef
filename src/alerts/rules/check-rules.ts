/**
 * Checks of monitor rules, as a program passes them and as a file spells them (lower-case fields; times and money in
 * words). An unknown field is a fault and never ignored: a misspelt limit would be no limit.
 */

import type { z } from "zod";
import { durationMs } from "../../kernel/duration.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import { noField, rejectInput } from "../../kernel/fields.ts";
import { isJsonObject } from "../../kernel/json.ts";
import { parseMoney } from "../../kernel/money.ts";
import { didYouMean } from "../../kernel/spelling.ts";
import { displayValue } from "../../kernel/text.ts";
import type { PolicyFault } from "../../policy/rules/document.ts";
import { baseline, LONGEST_SPAN_MS, type MonitorRule, monitorName, RULES } from "./monitor-rule.ts";

type RuleKind = MonitorRule["kind"];

/** One, or at least one, of these fields. All others that a rule cannot do without are in its schema. */
const CHOICES: { readonly [kind in RuleKind]?: readonly ["one" | "at least one", readonly string[]] } = {
  rate: ["one", ["above", "baseline"]],
  errors: ["one", ["last", "windowMs"]],
  progress: ["at least one", ["fewerThan", "moreThan"]],
  resources: ["at least one", ["tokens", "cost", "operations", "elapsedMs", "apiCalls"]],
};

const isKind = (kind: unknown): kind is RuleKind => typeof kind === "string" && Object.hasOwn(RULES, kind);
const fieldsOfKind = (kind: RuleKind): readonly string[] => Object.keys(RULES[kind].shape);

type RuleInput = Readonly<Record<string, unknown>>;

/** Of several faults an unknown field, then a wrong value, then a missing one. */
function ruleFault(kind: RuleKind, rule: RuleInput, issues: readonly z.core.$ZodIssue[]): string {
  const shape: { readonly [field: string]: z.ZodType } = RULES[kind].shape;
  const extra = Object.keys(rule).find((field) => !Object.hasOwn(shape, field));
  if (extra !== undefined) return noField(extra, Object.keys(shape));
  const fields = issues.map(({ path: [field] }) => String(field));
  const wrong = fields.find((field) => rule[field] !== undefined);
  if (wrong !== undefined) return `: "${wrong}" ${shape[wrong]?.description}`;
  return fields.includes("name") ? " has a name" : ` needs "${fields[0]}"`;
}

function checkChoices(where: string, rule: MonitorRule): void {
  const given: RuleInput = rule;
  const [how, fields] = CHOICES[rule.kind] ?? ["at least one", ["name"]];
  const count = fields.filter((field) => given[field] !== undefined).length;
  if (count === 0 || (how === "one" && count > 1))
    rejectInput(`${where} has ${how} of ${fields.join(", ")}.`);
  if (rule.kind !== "errors") return;
  const { last = Number.POSITIVE_INFINITY, least = 5 } = rule;
  if (last < least)
    rejectInput(`${where}: the last ${last} outcomes are never as many as "least" wants, ${least}.`);
}

/** A copy: later changes by the program must not bypass the check. */
function checkRule(given: unknown, at: number): MonitorRule {
  if (typeof given !== "object" || given === null)
    return rejectInput(`Rule ${at + 1} is an object: { kind, name, … }.`);
  const { kind } = given as RuleInput;
  const kinds = Object.keys(RULES).join(", ");
  if (!isKind(kind))
    return rejectInput(`Rule ${at + 1} has a kind: one of ${kinds}, not "${displayValue(kind)}".`);
  const where = `Rule ${at + 1} (${kind})`;
  const read = RULES[kind].safeParse(given);
  if (!read.success) return rejectInput(`${where}${ruleFault(kind, given as RuleInput, read.error.issues)}.`);
  checkChoices(where, read.data);
  return read.data;
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
  const read = monitorName.safeParse(name);
  return read.success ? read.data : rejectInput(`The name of a monitor ${monitorName.description}.`);
}

type Path = PolicyFault["path"];

export type MonitorOptions = {
  /** Its position is stored under this name. Several processes with the same name are one monitor. */
  readonly name: string;
  readonly rules: readonly MonitorRule[];
  /** Only actions of these agents. A name may end in `*`. */
  readonly agents?: readonly string[];
  /** Only workflows of these names, and their calls. */
  readonly workflows?: readonly string[];
  /** Only calls of these tools. */
  readonly tools?: readonly string[];
};

type MonitorShaped =
  | { readonly ok: true; readonly monitor: MonitorOptions }
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
  if (ms !== undefined && ms > 0 && ms <= LONGEST_SPAN_MS) return ms;
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
    ? renameField(reading, path, value, Object.keys(baseline.shape))
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
  const kinds = Object.keys(RULES).filter((one) => one !== "when");
  const { kind } = given;
  if (kind === "when") return fault("kind", FUNCTION);
  if (!isKind(kind))
    return fault("kind", `kind is one of ${kinds.join(", ")}${didYouMean(String(kind ?? ""), kinds)}`);
  const before = reading.faults.length;
  const rule = renameField(reading, path, given, fieldsOfKind(kind));
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
  return { ok: true, monitor: Object.assign({ name, rules }, ...filters) as MonitorOptions };
}
