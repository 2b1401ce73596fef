/**
 * Reviews one action by its policy, and validates the verdict of a policy in code.
 * - A revision is validated and reviewed again, five times at most; a sixth blocks. A policy that throws blocks. So
 *   does a quorum that its eligible people cannot meet.
 * - A verdict from code follows the same rules as a policy file: an unknown field, a wrong type or a field of another
 *   verdict is a fault and blocks. It never asks fewer people than its author wrote.
 * - The checked copy is what is used. The object that the policy returned is not read again.
 */

import { copyJson } from "../../kernel/canonical-json.ts";
import { dataFault, fullDataFault, isPlainObject } from "../../kernel/fields.ts";
import { isJsonObject, type Json } from "../../kernel/json.ts";
import { didYouMean } from "../../kernel/spelling.ts";
import { displayValue, errorText } from "../../kernel/text.ts";
import { mergeNotes, withNotesOf } from "./combine-verdicts.ts";
import { type ApprovalTerms, approvalTerms, checkWrittenTerms, whyUnmeetable } from "./stages.ts";
import type { ToolRules } from "./tool-rules.ts";
import {
  type LimitBehind,
  type PolicyInput,
  RISK_LEVELS,
  type Risk,
  type RunLimitOf,
  type ShadowVerdict,
  type Verdict,
} from "./verdict.ts";

type VerdictKind = Verdict["verdict"];
type VerdictField<Word extends VerdictKind> = keyof Extract<Verdict, { readonly verdict: Word }>;

const REMARKS = { verdict: true, reason: true, rule: true, risk: true, risks: true, shadow: true } as const;
const FIELDS: { readonly [Word in VerdictKind]: { readonly [field in VerdictField<Word>]-?: true } } = {
  approve: REMARKS,
  block: { ...REMARKS, limitOf: true, limitBehind: true },
  revise: { ...REMARKS, set: true },
  escalate: {
    ...REMARKS,
    ...{ approvers: true, stages: true, decideWithinMs: true, onTimeout: true, executeWithinMs: true },
  },
};
const KINDS = Object.keys(FIELDS);
/** As lists by verdict, for a fast lookup per call. */
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

/** Checks of single fields. `checkWrittenTerms` checks the fields for approvers and deadlines together. */
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

/** Finds a misspelt verdict, or a field of another verdict. */
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
  const terms = kind === "escalate" ? checkWrittenTerms(given) : undefined;
  return typeof terms === "string" ? terms : undefined;
}

/** A copy of the verdict, or its fault as a clause. Throws if the value cannot be read as JSON. */
export function readVerdict(given: unknown): Verdict | string {
  if (!isPlainObject(given)) return notOne(given);
  // Copy first: the object is not trusted before it was read as plain data.
  const verdict = copyJson(given) as unknown as Verdict;
  return verdictFault(verdict.verdict, given) ?? verdict;
}

const MAX_ROUNDS = 5;

/** The parts of a tool that a review needs. */
type Reviewer = Pick<ToolRules, "policy" | "validate">;

type Revision = { readonly args: Json; readonly reason: string; readonly rule: string };

export type Review = {
  /** The arguments after all revisions. */
  readonly args: Json;
  readonly revisions: readonly Revision[];
  readonly rule: string;
  readonly reason: string;
  /** null if the policy does not score. */
  readonly risk: Risk | null;
  /** All risks if several policies score, else empty. */
  readonly risks: readonly Risk[];
  readonly shadow: readonly ShadowVerdict[];
} & (
  | { readonly verdict: "approve" }
  | {
      readonly verdict: "block";
      readonly invalidRevision: boolean;
      /** Set if a limit of the supervised run itself blocked the call. */
      readonly limitOf?: RunLimitOf;
      /** Set if a policy blocked the call and a limit of the run would have too. */
      readonly limitBehind?: LimitBehind;
    }
  | (ApprovalTerms & { readonly verdict: "escalate" })
);

function block(reason: string, rule = "policy"): Verdict {
  return { verdict: "block", reason, rule };
}

function escalationFault(
  verdict: Extract<Verdict, { verdict: "escalate" }>,
  input: PolicyInput,
): string | undefined {
  const terms = approvalTerms(verdict);
  return typeof terms === "string" ? terms : whyUnmeetable(terms, input.requester);
}

/** A block for an answer that is not a valid verdict. The reason names the fault. */
export function notAVerdictReason(fault: string, whose = "the policy"): Verdict {
  return block(`${whose} did not answer a verdict that can be used: ${fault}`);
}

function ask(rules: Reviewer, input: PolicyInput): Verdict {
  try {
    const answer = readVerdict(rules.policy(input));
    if (typeof answer === "string") return notAVerdictReason(answer);
    if (answer.verdict !== "escalate") return answer;
    const fault = escalationFault(answer, input);
    if (fault === undefined) return answer;
    return withNotesOf(block(`the policy asks for the impossible: ${fault}`), answer);
  } catch (error) {
    return block(`the policy failed: ${errorText(error)}`);
  }
}

type Limited = { readonly limitOf?: RunLimitOf; readonly limitBehind?: LimitBehind };

const limitIn = ({ limitOf, limitBehind }: Limited): Limited => ({
  ...(limitOf === undefined ? {} : { limitOf }),
  ...(limitOf !== undefined || limitBehind === undefined ? {} : { limitBehind }),
});

function conclude(
  verdict: Exclude<Verdict, { verdict: "revise" }>,
  args: Json,
  revisions: readonly Revision[],
): Review {
  const { rule = "policy", reason = "", risk = null, risks = [], shadow = [] } = verdict;
  const said = { args, revisions, rule, reason, risk, risks, shadow };
  switch (verdict.verdict) {
    case "approve":
      return { ...said, verdict: "approve" };
    case "block":
      return { ...said, verdict: "block", invalidRevision: false, ...limitIn(verdict) };
    case "escalate":
      return { ...said, ...(approvalTerms(verdict) as ApprovalTerms), verdict: "escalate" };
  }
}

/** The same call with other arguments. History stays a getter: it is loaded only for a policy that reads it. */
function roundOf(input: PolicyInput, args: Json): PolicyInput {
  const { tool, effectClass, agent, requester, requestId, workflow, now } = input;
  return {
    ...{ tool, effectClass, agent, requestId, workflow, now, args },
    requester: [...requester],
    get history() {
      return input.history;
    },
  };
}

/** A sixth revision is not applied: no review would follow it. */
function stillRevising(verdict: Verdict): Exclude<Verdict, { verdict: "revise" }> {
  const reason = `the policy was still revising after ${MAX_ROUNDS} rounds`;
  return { verdict: "block", reason, ...mergeNotes(verdict) };
}

export function reviewAction(rules: Reviewer, input: PolicyInput): Review {
  const revisions: Revision[] = [];
  let args = input.args;
  for (;;) {
    // A fresh copy for each call, so that a policy or schema cannot change the original.
    const verdict = ask(rules, roundOf(input, copyJson(args)));
    if (verdict.verdict !== "revise") return conclude(verdict, args, revisions);
    if (revisions.length === MAX_ROUNDS) return conclude(stillRevising(verdict), args, revisions);
    const revised = { ...(isJsonObject(args) ? args : {}), ...verdict.set };
    const valid = rules.validate(copyJson(revised));
    const rule = verdict.rule ?? "policy";
    if (!valid.ok) {
      const reason = `the policy's revision does not fit the tool: ${valid.issues}`;
      const blocked = conclude({ verdict: "block", rule, reason, ...mergeNotes(verdict) }, args, revisions);
      return { ...blocked, verdict: "block", invalidRevision: true };
    }
    args = valid.value;
    revisions.push({ args, reason: verdict.reason ?? "", rule });
  }
}
