/**
 * A verdict as a policy in code answers it, at a definition or at run time.
 *
 * B1. It is held to what a policy file is held to: an unknown field, a value of the wrong type and a field that belongs to
 *     another verdict are faults. A verdict with a fault blocks; it never asks fewer people than its author wrote.
 * B2. What is checked is what is used: the answer is a copy, and nothing reads the object that the policy handed over again.
 */

import { copyJson } from "../../kernel/canonical-json.ts";
import { dataFault, fullDataFault, isPlainObject } from "../../kernel/fields.ts";
import { isJsonObject } from "../../kernel/json.ts";
import { didYouMean } from "../../kernel/spelling.ts";
import { displayValue } from "../../kernel/text.ts";

import { writtenTerms } from "../stages.ts";
import { RISK_LEVELS, type Verdict } from "../verdict.ts";

type Kind = Verdict["verdict"];
type FieldOf<Word extends Kind> = keyof Extract<Verdict, { readonly verdict: Word }>;

const REMARKS = { verdict: true, reason: true, rule: true, risk: true, risks: true, shadow: true } as const;
const FIELDS: { readonly [Word in Kind]: { readonly [field in FieldOf<Word>]-?: true } } = {
  approve: REMARKS,
  block: { ...REMARKS, limitOf: true, limitBehind: true },
  revise: { ...REMARKS, set: true },
  escalate: {
    ...REMARKS,
    ...{ approvers: true, stages: true, decideWithinMs: true, onTimeout: true, executeWithinMs: true },
  },
};
const KINDS = Object.keys(FIELDS);
/** By verdict, as lists: this is looked up for each call. */
const NAMES = new Map<unknown, readonly string[]>(
  Object.entries(FIELDS).map(([kind, fields]) => [kind, Object.keys(fields)]),
);
const EVERY_NAME = [...new Set([...NAMES.values()].flat())];

const RISK = ["score", "level", "conditions", "document"];
const SHADOW = ["rule", "verdict", "reason", "document"];
const BEHIND = ["of", "rule"];

const isText = (value: unknown): boolean => typeof value === "string" && value.isWellFormed();
const isOptionalText = (value: unknown): boolean => value === undefined || isText(value);
const isLimit = (value: unknown): boolean => value === "run" || value === "usual";

function riskFault(what: string, given: unknown): string | undefined {
  const fault = fullDataFault(what, given, RISK);
  if (fault !== undefined) return fault;
  const { score, level, conditions = [], document } = given as Readonly<Record<string, unknown>>;
  if (!Number.isFinite(score)) return `${what}.score is not a number`;
  if (!RISK_LEVELS.some((one) => one === level))
    return `${what}.level is not one of ${RISK_LEVELS.join(", ")}${didYouMean(String(level), RISK_LEVELS)}`;
  if (!Array.isArray(conditions) || !conditions.every(isText))
    return `${what}.conditions is not a list of names`;
  return isOptionalText(document) ? undefined : `${what}.document is not text`;
}

function shadowFault(what: string, given: unknown): string | undefined {
  const fault = fullDataFault(what, given, SHADOW);
  if (fault !== undefined) return fault;
  const odd = Object.entries(given as object).find(([, value]) => !isText(value));
  return odd === undefined ? undefined : `${what}.${odd[0]} is not text`;
}

type PartFault = (what: string, given: unknown) => string | undefined;

function listFault(what: string, given: unknown, each: PartFault): string | undefined {
  if (!Array.isArray(given)) return `${what} is not a list`;
  for (const [index, one] of given.entries()) {
    const fault = each(`${what}[${index}]`, one);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function behindFault(what: string, given: unknown): string | undefined {
  const fault = fullDataFault(what, given, BEHIND);
  if (fault !== undefined) return fault;
  const { of, rule } = given as Readonly<Record<string, unknown>>;
  return isLimit(of) && isText(rule) ? undefined : `${what} is not { of: "run" or "usual", rule }`;
}

const textFault: PartFault = (what, given) => (isText(given) ? undefined : `${what} is not text`);

/** Field by field. The fields that say who is asked, and until when, are checked together by `writtenTerms`. */
const PARTS: { readonly [field: string]: PartFault } = {
  rule: textFault,
  reason: textFault,
  risk: riskFault,
  risks: (what, given) => listFault(what, given, riskFault),
  shadow: (what, given) => listFault(what, given, shadowFault),
  set: (what, given) => (isJsonObject(given) ? undefined : `${what} is not an object of values`),
  limitOf: (what, given) => (isLimit(given) ? undefined : `${what} is not run or usual`),
  limitBehind: behindFault,
};

/** A misspelt verdict, or a field of another one. */
function nameFault(kind: unknown, given: object): string | undefined {
  const names = NAMES.get(kind);
  if (names === undefined)
    return `verdict is not one of ${KINDS.join(", ")}${typeof kind === "string" ? didYouMean(kind, KINDS) : ""}`;
  const fault = dataFault("the verdict", given, names);
  if (fault === undefined) return undefined;
  const foreign = Object.keys(given).find((field) => !names.includes(field) && EVERY_NAME.includes(field));
  return foreign === undefined ? fault : `"${foreign}" does not belong to ${String(kind)}`;
}

function partsFault(given: object): string | undefined {
  for (const [field, value] of Object.entries(given)) {
    const fault = value === undefined ? undefined : PARTS[field]?.(field, value);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function notOne(given: unknown): string {
  if (typeof given !== "string") return "it is not a verdict";
  return `"${displayValue(given)}" is not a verdict${didYouMean(given, ["approve", "escalate", "block"])}`;
}

function verdictFault(kind: unknown, given: object): string | undefined {
  const fault = nameFault(kind, given) ?? partsFault(given);
  if (fault !== undefined) return fault;
  if (kind === "revise" && Reflect.get(given, "set") === undefined) return "it revises without a set";
  const terms = kind === "escalate" ? writtenTerms(given) : undefined;
  return typeof terms === "string" ? terms : undefined;
}

/** A copy of the verdict; or the fault in it, as a clause. Throws where the value cannot be read as JSON. */
export function readVerdict(given: unknown): Verdict | string {
  if (!isPlainObject(given)) return notOne(given);
  // The copy comes first: nothing of the object is believed before it was read as plain data.
  const verdict = copyJson(given) as unknown as Verdict;
  return verdictFault(verdict.verdict, given) ?? verdict;
}
