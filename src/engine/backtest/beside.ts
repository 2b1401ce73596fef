/**
 * The documents that a recorded action was judged by, with a candidate in the place of one of them.
 *
 * B1. The candidate stands for its own version, else for the document of its name, else for the first, which is the
 *     instance's. The others, as those that a supervised run brings, are asked as they were: the stricter answer counts.
 * B2. A document that is gone, or that only its program can run, is told of: without it the answer may be another.
 */
import { documentsNamed } from "../../core/action/review-facts.ts";
import type { RecordedReview } from "../../core/backtest/heard.ts";
import { compilePolicy } from "../../core/policy/compile.ts";
import type { PolicyText } from "../../core/policy/document.ts";
import { type Asked, UNDO_NOT_NAMED } from "../../core/policy/tool-pattern.ts";
import { remarking } from "../../core/remarks.ts";
import { stricter } from "../../core/stricter.ts";
import type { PolicyInput, Verdict } from "../../core/verdict.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import type { Store } from "../../stores/store.ts";
import type { Candidate } from "./candidate.ts";
import { getPolicy, policyNames } from "./kept-policies.ts";

type Place = { readonly store: Store; readonly tenant: string };
type Judging = Pick<Candidate, "judge">;
export type Judge = Candidate["judge"];

export type Panel = {
  /** With the candidate in its place. */
  readonly judge: Judge;
  /** As it was; null where no document was asked, or not all of them can be asked any more. */
  readonly before: Judge | null;
  /** Documents were asked, and not only code. */
  readonly hasDocuments: boolean;
  /** Everything that is asked beside the candidate can be asked. */
  readonly isWhole: boolean;
};

/** The first is the innermost: as `under-policy.ts` has it when they are in force. */
export function together(documents: readonly Judging[]): Judge {
  const [first, ...rest] = documents as readonly [Judging, ...Judging[]];
  if (rest.length === 0) return (input, asked) => first.judge(input, asked);
  return (input: PolicyInput, asked: Asked = "call"): Verdict =>
    rest.reduce(
      (other, document) => {
        const said = document.judge(input, asked);
        return said.rule === UNDO_NOT_NAMED ? remarking(other, said) : stricter(said, other);
      },
      first.judge(input, asked),
    );
}

/** Undefined where it is not kept any more. */
export async function keptDocument(place: Place, digest: string): Promise<PolicyText | undefined> {
  try {
    const { document } = await getPolicy(place, digest);
    return document as unknown as PolicyText;
  } catch (error) {
    if (isHoldpointError(error, "unknown_id") || isHoldpointError(error, "body_erased")) return undefined;
    throw error;
  }
}

async function keptUnder(place: Place, digest: string): Promise<Judging | undefined> {
  const document = await keptDocument(place, digest);
  const made = document === undefined ? undefined : compilePolicy(document, null);
  return made?.ok === true ? made.policy : undefined;
}

type Names = ReadonlyMap<string, string>;

const isSaid = ({ documents, document }: RecordedReview): boolean =>
  documents !== undefined || document !== undefined;

/** Digests of the documents that a verdict names. What only may be a document's digest is one if it is kept under that. */
export function namedIn(review: RecordedReview, names: Names): readonly string[] {
  const named = documentsNamed(review);
  return isSaid(review) ? named : named.filter((one) => names.has(one));
}

function placeFor({ name, digest }: Candidate, digests: readonly string[], names: Names): number {
  const own = digests.indexOf(digest);
  if (own >= 0) return own;
  return Math.max(
    0,
    digests.findIndex((one) => names.get(one) === name),
  );
}

async function panelOf(
  place: Place,
  candidate: Candidate,
  digests: readonly string[],
  names: Names,
): Promise<Panel> {
  if (digests.length === 0)
    return { judge: together([candidate]), before: null, hasDocuments: false, isWhole: true };
  const kept = await Promise.all(digests.map((digest) => keptUnder(place, digest)));
  const at = placeFor(candidate, digests, names);
  const now = kept.flatMap((one, index) => (index === at ? candidate : (one ?? [])));
  const before = kept.flatMap((one) => one ?? []);
  return {
    judge: together(now),
    before: before.length === kept.length ? together(before) : null,
    hasDocuments: true,
    isWhole: now.length === kept.length,
  };
}

/** Knows each combination of documents once it has met it. */
export type Panels = (review: RecordedReview) => Panel | Promise<Panel>;

export function panelsOf(place: Place, candidate: Candidate): Panels {
  const known = new Map<string, Panel>();
  let names: Promise<Names> | undefined;
  return (review) => {
    const key = `${isSaid(review)} ${documentsNamed(review).join(" ")}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    names ??= policyNames(place);
    return names.then(async (all) => {
      const made = await panelOf(place, candidate, namedIn(review, all), all);
      known.set(key, made);
      return made;
    });
  };
}
