/** What was proposed, what policy and people made of it, and what ran: facts of the history, in their order. */
import type { Action, JournalLine } from "../../api/actions.ts";
import { fieldsOf } from "../../format/fields-of.ts";

export type Version = {
  readonly kind: "proposed" | "revised";
  readonly args: unknown;
  readonly digest: string;
  readonly by: string;
  readonly reason: string;
  readonly rule: string;
  readonly at: string;
};

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const KINDS: { readonly [type: string]: Version["kind"] } = {
  "action.proposed": "proposed",
  "action.revised": "revised",
};

function versionOf({ type, body, at }: JournalLine): readonly Version[] {
  const kind = KINDS[type];
  if (kind === undefined) return [];
  const fields = fieldsOf(body);
  return [
    {
      ...{ kind, at, args: fields["args"], digest: textOf(fields["argsDigest"]) },
      by: textOf(kind === "proposed" ? fields["agent"] : fields["by"]),
      reason: textOf(fields["reason"]),
      rule: textOf(fields["rule"]),
    },
  ];
}

/** Of one action; the history may tell of its approval and its workflow too. */
export function argsStory(action: string, entries: readonly JournalLine[]): readonly Version[] {
  return entries.filter(({ stream }) => stream === `action/${action}`).flatMap(versionOf);
}

/** Names of the fields in which two versions differ, where both are objects. */
export function changedFields(before: unknown, after: unknown): readonly string[] {
  const [old, fresh] = [fieldsOf(before), fieldsOf(after)];
  const names = new Set([...Object.keys(old), ...Object.keys(fresh)]);
  return [...names].filter((name) => JSON.stringify(old[name]) !== JSON.stringify(fresh[name]));
}

/** Whether the journal can be read, by whoever looks and now. */
export type History = "there" | "coming" | "failed" | "closed";

const BEFORE: { readonly [history in History]: string } = {
  there: "",
  coming: "",
  failed: "; what they were before could not be read",
  closed: "; what they were before stands in the journal, which you may not read",
};

/** The action itself says whether they were changed; the journal, what they were before. */
export function argsNote(from: Action["executed_from"], versions: number, history: History): string {
  if (versions > 1) return "each of these is in the journal; the last one counts";
  if (from === "original") return "nobody has changed them";
  return `${from === "human_revised" ? "changed by people" : "changed by policy"}${BEFORE[history]}`;
}
