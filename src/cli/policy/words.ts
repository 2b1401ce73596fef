/**
 * Policies in words for people: the versions that decided, their remarks, which program uses a version and until when.
 */

import type { Action } from "../../effects/contract.ts";
import { documentsNamed, type ReviewFacts } from "../../effects/state.ts";

import type { CardFields } from "../../kernel/terminal.ts";
import type { Policies, PolicyVersionSummary } from "../../policy/contract.ts";
import type { PolicyNames } from "../../policy/versions.ts";
import { formatMoment, formatSpan } from "../shell/terminal.ts";

/** The program that uses it now, or did last. Before any has, the one that put it in force. */
export function programText({ programs, by }: Pick<PolicyVersionSummary, "programs" | "by">): string {
  const running = programs.filter(({ runs }) => runs);
  const [one] = running.length > 0 ? running : programs;
  if (one === undefined) return by;
  const more = running.length < 2 ? "" : ` and ${running.length - 1} more`;
  return `${one.by} (${one.process})${more}`;
}

export function untilText({ standing, until, at }: PolicyVersionSummary, now: number): string {
  if (standing === "used") return `now, for ${formatSpan(now - at)}`;
  if (until !== null) return formatMoment(until);
  return standing === "ended" ? "its program died" : "no program yet";
}

const SHORT = 12;

type Asking = { readonly policies: Pick<Policies, "versions"> };

export async function fetchPolicyNames({ policies }: Asking): Promise<PolicyNames> {
  return new Map((await policies.versions()).map(({ digest, name }) => [digest, name]));
}

export const shortDigest = (digest: string): string => digest.slice(0, SHORT);

const versionWords = (digest: string, names: PolicyNames): string =>
  `${names.get(digest) ?? "unknown"} ${shortDigest(digest)}`;

type AskedDocuments = Pick<ReviewFacts, "policy" | "document"> & {
  readonly documents?: readonly string[] | undefined;
};

/** A policy in code has a digest, but no document to show. */
export function policyWords(asked: AskedDocuments, names: PolicyNames): string {
  const named = asked.documents ?? [];
  const digests = named.length > 0 ? named : documentsNamed(asked).filter((digest) => names.has(digest));
  if (digests.length === 0) return `in code, ${shortDigest(asked.policy)}`;
  return digests.map((digest) => versionWords(digest, names)).join(", ");
}

type Review = NonNullable<Action["review"]>;

/** Names the document if several decided. */
function whose(document: string | undefined, review: Review, names: PolicyNames): string {
  const isOne = review.documents.length < 2;
  return document === undefined || isOne ? "" : `, says ${versionWords(document, names)}`;
}

/** The policies' risk assessments, and the verdicts of their shadow rules. */
export function remarkFields(review: Review | null, names: PolicyNames): CardFields {
  if (review === null) return {};
  const { risks, shadow } = review;
  return {
    risk: {
      each: risks.map(({ score, level, conditions, document }) => {
        const why = conditions.length === 0 ? "" : ` (${conditions.join(", ")})`;
        return `${score}, ${level}${why}${whose(document, review, names)}`;
      }),
    },
    "on trial": {
      each: shadow.map(({ rule, verdict, reason, document }) => {
        const why = reason === "" ? "" : `: ${reason}`;
        return `${rule} would ${verdict}${why}${whose(document, review, names)}`;
      }),
    },
  };
}
