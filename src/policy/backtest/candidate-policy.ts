/**
 * Puts a candidate policy in the place of one of the documents that judged a recorded action. It replaces its own
 * version, else the document of its name, else the first, which is the instance's. The others, such as those of a
 * supervised run, are evaluated as they were. The strictest verdict applies. A document that is gone, or that only its
 * program can run, is reported: without it the verdict may differ.
 */

import { documentsNamed } from "../../effects/state.ts";
import type { TenantStore } from "../../stores/store.ts";
import { stricterVerdict, withNotesOf } from "../rules/combine-verdicts.ts";
import { compilePolicy } from "../rules/compile.ts";
import { type CallKind, UNDO_NOT_NAMED } from "../rules/tools.ts";
import type { PolicyInput, Verdict } from "../rules/verdict.ts";
import { loadKeptDocument, loadPolicyNames } from "../versions.ts";
import type { RecordedReview } from "./rules/replay.ts";

/** The parts of a compiled policy that a back-test needs. */
export type Candidate = {
  readonly name: string;
  readonly digest: string;
  judge(input: PolicyInput, asked?: CallKind): Verdict;
  /** Whether the policy limits the number of calls of this tool. */
  countsCalls(tool: string): boolean;
  readonly limits?: { readonly toolCalls?: number };
};

type JudgingDocument = Pick<Candidate, "judge">;
export type JudgeFunction = Candidate["judge"];

export type JudgingDocuments = {
  /** With the candidate in place. */
  readonly judge: JudgeFunction;
  /** As it was; null if no document judged, or if not all of them can be evaluated any more. */
  readonly before: JudgeFunction | null;
  /** Documents judged, not only code. */
  readonly hasDocuments: boolean;
  /** All documents next to the candidate can be evaluated. */
  readonly isWhole: boolean;
};

/** The first is the innermost, as in `apply-to-tool.ts` when they are in force. */
function judgeTogether(documents: readonly JudgingDocument[]): JudgeFunction {
  const [first, ...rest] = documents as readonly [JudgingDocument, ...JudgingDocument[]];
  if (rest.length === 0) return (input, asked) => first.judge(input, asked);
  return (input: PolicyInput, asked: CallKind = "call"): Verdict =>
    rest.reduce(
      (other, document) => {
        const said = document.judge(input, asked);
        return said.rule === UNDO_NOT_NAMED ? withNotesOf(other, said) : stricterVerdict(said, other);
      },
      first.judge(input, asked),
    );
}

async function loadKeptPolicy(place: TenantStore, digest: string): Promise<JudgingDocument | undefined> {
  const document = await loadKeptDocument(place, digest);
  const made = document === undefined ? undefined : compilePolicy(document, null);
  return made?.ok === true ? made.policy : undefined;
}

type Names = ReadonlyMap<string, string>;

const isSaid = ({ documents, document }: RecordedReview): boolean =>
  documents !== undefined || document !== undefined;

/** Digests of the documents that a verdict names. A possible digest counts only if a document is stored under it. */
function documentDigestsIn(review: RecordedReview, names: Names): readonly string[] {
  const named = documentsNamed(review);
  return isSaid(review) ? named : named.filter((one) => names.has(one));
}

function indexOfReplaced({ name, digest }: Candidate, digests: readonly string[], names: Names): number {
  const own = digests.indexOf(digest);
  if (own >= 0) return own;
  return Math.max(
    0,
    digests.findIndex((one) => names.get(one) === name),
  );
}

async function loadJudgingDocuments(
  place: TenantStore,
  candidate: Candidate,
  digests: readonly string[],
  names: Names,
): Promise<JudgingDocuments> {
  if (digests.length === 0)
    return { judge: judgeTogether([candidate]), before: null, hasDocuments: false, isWhole: true };
  const kept = await Promise.all(digests.map((digest) => loadKeptPolicy(place, digest)));
  const at = indexOfReplaced(candidate, digests, names);
  const now = kept.flatMap((one, index) => (index === at ? candidate : (one ?? [])));
  const before = kept.flatMap((one) => one ?? []);
  return {
    judge: judgeTogether(now),
    before: before.length === kept.length ? judgeTogether(before) : null,
    hasDocuments: true,
    isWhole: now.length === kept.length,
  };
}

/** Caches each combination of documents. */
export type JudgingDocumentsFor = (review: RecordedReview) => JudgingDocuments | Promise<JudgingDocuments>;

export function judgingDocumentsFor(place: TenantStore, candidate: Candidate): JudgingDocumentsFor {
  const known = new Map<string, JudgingDocuments>();
  let names: Promise<Names> | undefined;
  return (review) => {
    const key = `${isSaid(review)} ${documentsNamed(review).join(" ")}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    names ??= loadPolicyNames(place);
    return names.then(async (all) => {
      const made = await loadJudgingDocuments(place, candidate, documentDigestsIn(review, all), all);
      known.set(key, made);
      return made;
    });
  };
}
