/**
 * A monitor as people write it in a file: the rules that a program would hand over, their fields in lower case, with lengths
 * of time and money in words. What is not known is a fault, never ignored: a misspelt limit would be no limit.
 */

import { durationMs } from "../../kernel/duration.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import { didYouMean } from "../../kernel/spelling.ts";

import type { PolicyFault } from "../../policy/rules/document.ts";

import { checkMonitorName, checkRules, RULE_FIELDS } from "./check-rules.ts";
import type { MonitorRule } from "./rules.ts";

type Path = PolicyFault["path"];
type Given = Readonly<Record<string, unknown>>;

export type WrittenMonitor = {
  readonly name: string;
  readonly rules: readonly MonitorRule[];
  readonly agents?: readonly string[];
  readonly workflows?: readonly string[];
  readonly tools?: readonly string[];
};

export type MonitorShaped =
  | { readonly ok: true; readonly monitor: WrittenMonitor }
  | { readonly ok: false; readonly faults: readonly PolicyFault[] };

/** Fields of code whose name in a file is another. */
export const WRITTEN: Readonly<Record<string, string>> = {
  windowMs: "window",
  forMs: "for",
  withinMs: "within",
  elapsedMs: "elapsed",
  fewerThan: "fewer_than",
  moreThan: "more_than",
  apiCalls: "api_calls",
  warmUp: "warm_up",
};
const SPANS: ReadonlySet<string> = new Set(["windowMs", "forMs", "withinMs", "elapsedMs"]);
const LONGEST_MS = 366 * 86_400_000;
const KEYS = ["monitor", "description", "agents", "workflows", "tools", "rules"];
const COMMON = ["kind", "name", "severity", "raise"];
const BASELINE = ["deviations", "warmUp", "least"];
const MONEY = /^(\d{1,15})(?:\.(\d{1,6}))?\s+([A-Z]{3,12})$/;

const written = (field: string): string => WRITTEN[field] ?? field;

const isObject = (value: unknown): value is Given =>
  typeof value === "object" && value !== null && !Array.isArray(value);

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
  const [, whole, rest = "", currency] = MONEY.exec(typeof value === "string" ? value.trim() : "") ?? [];
  if (whole !== undefined && currency !== undefined)
    return { currency, micros: BigInt(whole + rest.padEnd(6, "0")) };
  faults.push({ path, message: `${path.at(-1)} is not an amount of money like "50 USD"` });
  return undefined;
}

/** The same object by the names of code. */
function renamed(reading: Reading, path: Path, given: Given, fields: readonly string[]): Given {
  const byName = new Map(fields.map((field) => [written(field), field]));
  const entries = Object.entries(given).flatMap(([key, value]) => {
    const field = byName.get(key);
    if (field !== undefined) return [[field, partOf(reading, [...path, key], field, value)] as const];
    unknownKey(reading, path, key, [...byName.keys()]);
    return [];
  });
  return Object.fromEntries(entries);
}

function partOf(reading: Reading, path: Path, field: string, value: unknown): unknown {
  if (SPANS.has(field)) return spanOf(reading, path, value);
  if (field === "cost") return moneyOf(reading, path, value);
  return field === "baseline" && isObject(value) ? renamed(reading, path, value, BASELINE) : value;
}

/** In the names of the file, and without the number that the line says. */
function asWritten(message: string): string {
  const names = Object.entries(WRITTEN);
  return names
    .reduce((text, [field, name]) => text.replace(new RegExp(`\\b${field}\\b`, "g"), name), message)
    .replace(/^Rule 1 \(\w+\):? /, "");
}

function attempt<Answer>({ faults }: Reading, path: Path, check: () => Answer): Answer | undefined {
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
  if (!isObject(given)) return fault("", "a rule is an object: { kind, name, … }");
  const kinds = Object.keys(RULE_FIELDS).filter((one) => one !== "when");
  const { kind } = given;
  if (kind === "when") return fault("kind", FUNCTION);
  if (typeof kind !== "string" || !kinds.includes(kind))
    return fault("kind", `kind is one of ${kinds.join(", ")}${didYouMean(String(kind ?? ""), kinds)}`);
  const fields = [...COMMON, ...Object.keys(RULE_FIELDS[kind as MonitorRule["kind"]])];
  const before = reading.faults.length;
  const rule = renamed(reading, path, given, fields);
  return reading.faults.length > before ? undefined : attempt(reading, path, () => checkRules([rule])[0]);
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

function namesOf({ faults }: Reading, given: Given, key: "agents" | "workflows" | "tools") {
  const names = given[key];
  if (names === undefined) return {};
  if (Array.isArray(names) && names.length > 0 && names.every((one) => typeof one === "string" && one !== ""))
    return { [key]: names as readonly string[] };
  faults.push({ path: [key], message: `${key} is a list of names` });
  return {};
}

export function monitorIn(document: unknown): MonitorShaped {
  const reading: Reading = { faults: [] };
  if (!isObject(document))
    return { ok: false, faults: [{ path: [], message: "a monitor is an object: { monitor, rules }" }] };
  for (const key of Object.keys(document)) if (!KEYS.includes(key)) unknownKey(reading, [], key, KEYS);
  if (document["monitor"] === undefined)
    reading.faults.push({ path: [], message: "monitor is missing: the name under which its place is kept" });
  const name =
    document["monitor"] === undefined
      ? undefined
      : attempt(reading, ["monitor"], () => checkMonitorName(document["monitor"]));
  const rules = rulesOf(reading, document["rules"]);
  const filters = (["agents", "workflows", "tools"] as const).map((key) => namesOf(reading, document, key));
  if (name === undefined || reading.faults.length > 0) return { ok: false, faults: reading.faults };
  return { ok: true, monitor: Object.assign({ name, rules }, ...filters) as WrittenMonitor };
}
