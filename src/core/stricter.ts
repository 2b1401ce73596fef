/**
 * What holds where two policies speak of the same action: block > revise > escalate > approve, and of two of a kind the first.
 *
 * Z1. Where both ask people, whoever meets what comes of it meets what each of them asked: nobody is left out, and no stage
 *     has more time than either gives.
 * Z2. "Any one person", without a deadline, adds nothing to other terms; and whoever is asked by both is asked once.
 *     Otherwise both are asked, as stages, those of the first policy first.
 * Z3. A deadline hands over to the next stage only where both say so of the same stages: otherwise it would hand over from
 *     the people of one policy to those of the other.
 * Z4. What is no verdict counts as the strictest: the review blocks it.
 * Z5. Risk and rules on trial of both are kept, whichever of them holds.
 */
import { digestOf } from "../kernel/canonical-json.ts";
import { remarking, remarksOf } from "./remarks.ts";
import { type ApprovalTerms, approvalTerms, rulesOf, type Stage } from "./stages.ts";
import { ANY_ONE_PERSON, type OnTimeout, type StageRule, type Verdict } from "./verdict.ts";

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
  return isTimeless && digestOf(rulesOf(terms)) === digestOf([ANY_ONE_PERSON]);
}

/** The same people in another order are the same. */
const keysOf = (terms: ApprovalTerms): readonly string[] =>
  rulesOf(terms).map(({ from, ...rule }) =>
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
  if (typeof one === "string") return remarking(first, second);
  if (typeof other === "string") return remarking(second, first);
  return {
    verdict: "escalate",
    ...named("rule", first, second),
    ...named("reason", first, second),
    ...remarksOf(first, second),
    ...written(merged(one, other)),
  };
}

export function stricter(first: Verdict, second: Verdict): Verdict {
  if (first.verdict === "escalate" && second.verdict === "escalate") return askBoth(first, second);
  const [holds, other] = rank(second) > rank(first) ? [second, first] : [first, second];
  return isVerdict(holds) ? remarking(holds, other) : holds;
}
