/** A whole review the slow and obvious way: round after round, from what the documentation says of them. */

import type { Json } from "../../src/kernel/json.ts";
import type { PolicyInput } from "../../src/policy/rules/verdict.ts";
import type { DrawnPolicy, DrawnShape, DrawnTerms } from "./policy-draw.ts";
import { type Reference, referenceVerdict } from "./policy-reference.ts";
import { isKeyed } from "./policy-reference-expression.ts";
import { canSit } from "./policy-reference-seats.ts";

export type ReferenceReview = Pick<Reference, "risk" | "shadow" | "reason"> & {
  readonly verdict: string;
  readonly rule: string;
  /** Those that would run. */
  readonly args: Json;
  readonly revisions: readonly {
    readonly args: Json;
    readonly rule: string;
    readonly reason: string | null;
  }[];
  /** A revision did not fit the tool. */
  readonly isUnfit: boolean;
  /** Who is asked, and for how long. */
  readonly terms: {
    /** One after the other. */
    readonly stages: readonly {
      readonly from: readonly string[] | null;
      readonly quorum: number;
      readonly ms: number | null;
    }[];
    readonly atDeadline: string;
  } | null;
};

/** As the tool's schema takes it; nothing where it does not. */
export function taken({ numbers, texts, most, dropped }: DrawnShape, args: Json): Json | undefined {
  if (!isKeyed(args)) return undefined;
  const kept = Object.entries(args as Record<string, Json>).filter(([key]) => key !== dropped);
  const isWrong = kept.some(([key, value]) => {
    if (texts.includes(key)) return typeof value !== "string";
    if (!numbers.includes(key)) return false;
    return typeof value !== "number" || (most !== undefined && value > most);
  });
  return isWrong ? undefined : Object.fromEntries(kept);
}

function termsOf(terms: DrawnTerms): NonNullable<ReferenceReview["terms"]> {
  const stages = (terms.stages ?? [terms]).map(({ from, quorum = 1, seconds = terms.seconds }) => {
    return { from: from ?? null, quorum, ms: seconds === undefined ? null : seconds * 1_000 };
  });
  return { stages, atDeadline: terms.onTimeout ?? "expire" };
}

const canBeMet = (terms: DrawnTerms, requester: readonly string[]): boolean =>
  canSit(terms.stages ?? [terms], requester);

/** A whole number that JSON cannot hold exactly cannot become an argument. */
const isTooLarge = (value: Json): boolean =>
  typeof value === "number"
    ? Number.isInteger(value) && !Number.isSafeInteger(value)
    : value !== null && typeof value === "object" && Object.values(value).some(isTooLarge);

/** There is one zero in JSON. */
const asJson = (set: Json): Record<string, Json> => JSON.parse(JSON.stringify(set)) as Record<string, Json>;

type So = Pick<ReferenceReview, "args" | "revisions">;

/** What is not asked for any more. */
function end(said: Reference, so: So, more: Partial<ReferenceReview> = {}): ReferenceReview {
  const { verdict, rule, reason, risk, shadow } = said;
  return { verdict, rule, reason, risk, shadow, ...so, isUnfit: false, terms: null, ...more };
}

function conclude(said: Reference, so: So, { requester }: PolicyInput): ReferenceReview {
  if (said.verdict !== "escalate") return end(said, so);
  if (!canBeMet(said.asks, requester))
    return end(said, so, { verdict: "block", rule: "policy", reason: null });
  return end(said, so, { terms: termsOf(said.asks) });
}

export function referenceReview(policy: DrawnPolicy, input: PolicyInput, shape: DrawnShape): ReferenceReview {
  let so: So = { args: input.args, revisions: [] };
  let said = referenceVerdict(policy, input);
  while (said.verdict === "revise") {
    const { rule, reason } = said;
    const failed = { verdict: "block", rule: "policy", reason: null, risk: null, shadow: [] };
    if (isTooLarge(said.set)) return end(said, so, failed);
    if (so.revisions.length === 5) return end(said, so, { verdict: "block", rule: "policy", reason: null });
    const revised = taken(shape, { ...(isKeyed(so.args) ? so.args : {}), ...asJson(said.set) });
    if (revised === undefined) return end(said, so, { verdict: "block", reason: null, isUnfit: true });
    so = { args: revised, revisions: [...so.revisions, { args: revised, rule, reason }] };
    said = referenceVerdict(policy, { ...input, args: so.args });
  }
  return conclude(said, so, input);
}
