/** What has to be said beside an explanation, so that it is not taken for more than it is. */
import type { Explanation } from "./explain.ts";
import type { RecordedReview } from "./heard.ts";

export type Beside = {
  readonly recorded: RecordedReview | null;
  /** False where part of the workflow's history was erased. */
  readonly isWhole: boolean;
  /** False: what revisions make of the arguments was not checked. */
  readonly hasSchema: boolean;
  /** Digests of documents that were asked at the time and are no longer kept. */
  readonly gone: readonly string[];
  /** How many documents are asked together. */
  readonly count: number;
};

const SHORT = 12;

export function explainNotes({ review }: Explanation, beside: Beside): readonly string[] {
  const { recorded, isWhole, hasSchema, gone, count } = beside;
  const limit =
    recorded?.limitOf === "run"
      ? "a limit that was set for the supervised run refused it then; it holds whatever a policy says"
      : "a usual limit of supervised runs refused it then; it holds unless a policy counts the calls of the tool itself";
  return [
    ...(recorded?.limitOf === undefined ? [] : [limit]),
    ...(count > 1 ? ["several documents are asked, and the strictest answer holds"] : []),
    ...(gone.length === 0
      ? []
      : [
          `${gone.map((digest) => digest.slice(0, SHORT)).join(", ")} was asked too and is no longer kept: what it said is not explained here`,
        ]),
    ...(isWhole ? [] : ["part of the workflow's history was erased: it may have said something else"]),
    ...(hasSchema || review.revisions.length === 0
      ? []
      : ["no schema of the tool is known: what the policy makes of the arguments was not checked"]),
  ];
}
