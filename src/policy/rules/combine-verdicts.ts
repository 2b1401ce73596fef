/**
 * Combines the verdicts of several policies: block > revise > escalate > approve; of equals, the first applies.
 * - If both escalate, the result satisfies both: no approver is dropped, no stage gets more time than either allows.
 * - "Any one person" without a deadline adds nothing. People required by both are asked once. Otherwise both become
 *   stages, first policy first. A deadline leads to the next stage only if both say so for the same stages.
 * - An invalid verdict counts as the strictest, and the review blocks it.
 * - Risks and shadow results of all policies are kept. The verdict has the highest risk; several are also listed.
 */
import { canonicalJson, digestOf } from "../../kernel/canonical-json.ts";
import { isJsonObject } from "../../kernel/json.ts";
import { type ApprovalTerms, approvalTerms, listStageRules, type Stage } from "./stages.ts";
import {
  ANY_ONE_PERSON,
  type OnTimeout,
  RISK_LEVELS,
  type Risk,
  type StageRule,
  type Verdict,
  type VerdictNotes,
} from "./verdict.ts";

/** Removes duplicates: one of two verdicts may already combine both. */
function distinct<Part>(parts: readonly Part[]): readonly Part[] {
  if (parts.length < 2) return parts;
  return [...new Map(parts.map((part) => [canonicalJson(part), part])).values()];
}

const listOf = <Part>(list: readonly Part[] | undefined, one?: Part): readonly Part[] =>
  list ?? (one === undefined ? [] : [one]);

const levelOf = ({ level }: Risk): number => RISK_LEVELS.indexOf(level);

function higher(one: Risk, other: Risk): Risk {
  if (levelOf(one) !== levelOf(other)) return levelOf(one) > levelOf(other) ? one : other;
  return other.score > one.score ? other : one;
}

/** A policy in code may return anything. An invalid risk is passed on, and the review blocks it. */
function highest(risks: readonly Risk[]): Risk | undefined {
  const wrong = risks.find((risk) => !isJsonObject(risk));
  return (
    wrong ??
    risks.reduce<Risk | undefined>((top, risk) => (top === undefined ? risk : higher(top, risk)), undefined)
  );
}

export function mergeNotes(...said: readonly Verdict[]): Pick<VerdictNotes, "risk" | "risks" | "shadow"> {
  const risks = distinct(said.flatMap(({ risks: several, risk }) => listOf(several, risk)));
  const shadow = distinct(said.flatMap(({ shadow: some }) => listOf(some)));
  const risk = highest(risks);
  return {
    ...(risk === undefined ? {} : { risk }),
    ...(risks.length < 2 ? {} : { risks }),
    ...(shadow.length === 0 ? {} : { shadow }),
  };
}

const isSilent = ({ risk, risks, shadow }: Verdict): boolean =>
  risk === undefined && risks === undefined && shadow === undefined;

/** The verdict with the notes of the other added. */
export function withNotesOf<Said extends Verdict>(verdict: Said, other: Verdict): Said {
  return isSilent(other) ? verdict : { ...verdict, ...mergeNotes(verdict, other) };
}

/** Marks notes as coming from the document with this digest. */
export function attributeNotes(document: string, verdict: Verdict): Verdict {
  const { risk, shadow } = verdict;
  if (risk === undefined && shadow === undefined) return verdict;
  return {
    ...verdict,
    ...(risk === undefined ? {} : { risk: { ...risk, document } }),
    ...(shadow === undefined ? {} : { shadow: shadow.map((one) => ({ ...one, document })) }),
  };
}

type Escalation = Extract<Verdict, { verdict: "escalate" }>;
type Time = number | null;

const STRICTNESS: readonly unknown[] = ["approve", "escalate", "revise", "block"];

export const isVerdict = (said: Verdict | undefined): boolean => STRICTNESS.includes(said?.verdict);

const rank = (said: Verdict): number =>
  isVerdict(said) ? STRICTNESS.indexOf(said.verdict) : Number.POSITIVE_INFINITY;

function shorter(one: Time, other: Time): Time {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

const stagesIn = ({ stages, approvers, decideWithinMs }: ApprovalTerms): readonly Stage[] =>
  stages ?? [{ ...approvers, decideWithinMs }];

/** For several stages, the shortest time of any. */
const timeOf = (terms: ApprovalTerms): Time =>
  stagesIn(terms).reduce<Time>((least, { decideWithinMs }) => shorter(least, decideWithinMs), null);

const within = (stages: readonly Stage[], time: Time): readonly Stage[] =>
  stages.map((stage) => ({ ...stage, decideWithinMs: shorter(stage.decideWithinMs, time) }));

function asksAnybody(terms: ApprovalTerms): boolean {
  const { decideWithinMs, executeWithinMs } = terms;
  const isTimeless = decideWithinMs === null && executeWithinMs === null;
  return isTimeless && digestOf(listStageRules(terms)) === digestOf([ANY_ONE_PERSON]);
}

/** The order of people does not matter. */
const keysOf = (terms: ApprovalTerms): readonly string[] =>
  listStageRules(terms).map(({ from, ...rule }) =>
    digestOf({ ...rule, from: from === null ? null : [...new Set(from)].toSorted() }),
  );

/** Whether the other terms contain all stages of the first, in the same order. */
function isPartOf(one: ApprovalTerms, other: ApprovalTerms): boolean {
  const left = [...keysOf(one)];
  for (const key of keysOf(other)) if (left[0] === key) left.shift();
  return left.length === 0;
}

function stagesOfBoth(first: ApprovalTerms, second: ApprovalTerms): readonly Stage[] {
  const one = within(stagesIn(first), timeOf(second));
  const other = within(stagesIn(second), timeOf(first));
  if (isPartOf(second, first)) return one;
  return isPartOf(first, second) ? other : [...one, ...other];
}

function atDeadline(first: ApprovalTerms, second: ApprovalTerms): OnTimeout {
  const { onTimeout = "expire" } = first;
  if (onTimeout !== second.onTimeout) return "expire";
  const isSame = digestOf(keysOf(first)) === digestOf(keysOf(second));
  return onTimeout === "escalate" && !isSame ? "expire" : onTimeout;
}

function merged(first: ApprovalTerms, second: ApprovalTerms): ApprovalTerms & { stages: readonly Stage[] } {
  if (asksAnybody(second)) return { ...first, stages: stagesIn(first) };
  if (asksAnybody(first)) return { ...second, stages: stagesIn(second) };
  const stages = stagesOfBoth(first, second);
  const executeWithinMs = shorter(first.executeWithinMs, second.executeWithinMs);
  const onTimeout = atDeadline(first, second);
  const { approvers, decideWithinMs } = first;
  const terms = { approvers, decideWithinMs, executeWithinMs, stages };
  return onTimeout === "expire" ? terms : { ...terms, onTimeout };
}

/** In the form that a policy writes. */
function written({ stages, executeWithinMs, onTimeout }: ReturnType<typeof merged>): Partial<Escalation> {
  const list = stages.map(({ decideWithinMs, ...rule }): StageRule => {
    return decideWithinMs === null ? rule : { ...rule, decideWithinMs };
  });
  return {
    stages: list,
    ...(executeWithinMs === null ? {} : { executeWithinMs }),
    ...(onTimeout === undefined ? {} : { onTimeout }),
  };
}

/** The texts of both without duplicates: one of them may already combine both. */
function named(name: "rule" | "reason", ...said: readonly Escalation[]): Pick<Escalation, typeof name> {
  const texts = new Set(said.flatMap((one) => one[name]?.split("; ") ?? []).filter((text) => text !== ""));
  return texts.size === 0 ? {} : { [name]: [...texts].join("; ") };
}

function askBoth(first: Escalation, second: Escalation): Verdict {
  const [one, other] = [approvalTerms(first), approvalTerms(second)];
  // Invalid terms are left to the review, which blocks them with the reason.
  if (typeof one === "string") return withNotesOf(first, second);
  if (typeof other === "string") return withNotesOf(second, first);
  return {
    verdict: "escalate",
    ...named("rule", first, second),
    ...named("reason", first, second),
    ...mergeNotes(first, second),
    ...written(merged(one, other)),
  };
}

export function stricterVerdict(first: Verdict, second: Verdict): Verdict {
  if (first.verdict === "escalate" && second.verdict === "escalate") return askBoth(first, second);
  const [holds, other] = rank(second) > rank(first) ? [second, first] : [first, second];
  return isVerdict(holds) ? withNotesOf(holds, other) : holds;
}
