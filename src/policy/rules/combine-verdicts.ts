/**
 * One verdict from several policies: block > revise > escalate > approve; of two of a kind the first holds.
 * Where both ask people, the result satisfies both: nobody is left out, no stage has more time than either gives.
 * "Any one person" without a deadline adds nothing, and people asked by both are asked once; otherwise both are asked as
 * stages, the first policy's first. A deadline hands over to the next stage only where both say so of the same stages.
 * What is not a verdict counts as the strictest, and the review blocks it.
 * Risk and shadow rules of all policies are kept. The highest risk is the verdict's; several are listed beside it.
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

/** The same said twice is said once: one of two verdicts may come of both already. */
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

/** A policy in code may answer anything: what is not as it should be is passed on, and the review blocks it. */
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

/** One that holds, with what the other remarked. */
export function withNotesOf<Said extends Verdict>(verdict: Said, other: Verdict): Said {
  return isSilent(other) ? verdict : { ...verdict, ...mergeNotes(verdict, other) };
}

/** Whose words they are: the document with this digest. */
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

/** Of a policy with several stages, the shortest time of any. */
const timeOf = (terms: ApprovalTerms): Time =>
  stagesIn(terms).reduce<Time>((least, { decideWithinMs }) => shorter(least, decideWithinMs), null);

const within = (stages: readonly Stage[], time: Time): readonly Stage[] =>
  stages.map((stage) => ({ ...stage, decideWithinMs: shorter(stage.decideWithinMs, time) }));

function asksAnybody(terms: ApprovalTerms): boolean {
  const { decideWithinMs, executeWithinMs } = terms;
  const isTimeless = decideWithinMs === null && executeWithinMs === null;
  return isTimeless && digestOf(listStageRules(terms)) === digestOf([ANY_ONE_PERSON]);
}

/** The same people in another order are the same. */
const keysOf = (terms: ApprovalTerms): readonly string[] =>
  listStageRules(terms).map(({ from, ...rule }) =>
    digestOf({ ...rule, from: from === null ? null : [...new Set(from)].toSorted() }),
  );

/** Everybody whom the first asks is asked by the other too, in the same order. */
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

/** As a policy writes it. */
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

/** What both say, each thing once: one of them may come of two already. */
function named(name: "rule" | "reason", ...said: readonly Escalation[]): Pick<Escalation, typeof name> {
  const texts = new Set(said.flatMap((one) => one[name]?.split("; ") ?? []).filter((text) => text !== ""));
  return texts.size === 0 ? {} : { [name]: [...texts].join("; ") };
}

function askBoth(first: Escalation, second: Escalation): Verdict {
  const [one, other] = [approvalTerms(first), approvalTerms(second)];
  // Terms that are none are left to the review, which blocks them and says why.
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
