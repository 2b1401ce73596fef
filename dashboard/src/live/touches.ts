/**
 * What an entry of the journal makes stale. Queries begin with one of these subjects; a query is asked anew when an entry comes
 * that touches its subject.
 *
 * T1. What is large, and about one thing, names the streams that it is made of (`meta.madeOf`): only their entries touch it, however
 *     many others an agent writes.
 */
import type { Query } from "@tanstack/react-query";
import type { LISTED_PAGES } from "../shell/listed-pages.ts";
import { PLACES } from "../shell/places.ts";

export const SUBJECTS = [
  "attention",
  "approvals",
  "workflows",
  "actions",
  "policies",
  "grants",
  "alerts",
  "switch",
  "keys",
  "people",
  "endpoints",
  "activity",
  "budgets",
  "journal",
] as const;
/** A subject, the kind that a page lists, or the name of one stream. */
export type Subject = (typeof SUBJECTS)[number] | (typeof LISTED_PAGES)[number]["of"] | `${string}/${string}`;

/** By the kind of stream that the entry stands in. */
const TOUCHED: { readonly [kind: string]: readonly Subject[] } = {
  approval: ["approvals", "attention", "activity", "workflows", "journal"],
  action: ["actions", "approvals", "attention", "activity", "workflows", "grants", "journal"],
  workflow: ["workflows", "approvals", "activity", "journal"],
  alert: ["alerts", "attention"],
  grant: ["grants"],
  switch: ["switch", "attention", "actions"],
  key: ["keys"],
  roster: ["people", "approvals"],
  session: ["people"],
  endpoint: ["endpoints"],
  message: ["endpoints"],
  budget: ["budgets"],
  policy: ["policies"],
};

const isStream = (stream: string): stream is `${string}/${string}` => stream.includes("/");

export function touchedBy(stream: string): readonly Subject[] {
  const [kind = ""] = stream.split("/");
  const subjects = TOUCHED[kind] ?? (PLACES.some(({ of }) => of === kind) ? [kind as Subject] : []);
  return subjects.length > 0 && isStream(stream) ? [...subjects, stream] : subjects;
}

/** The streams that an answer is made of; of one that is not there yet, as far as they are known. */
export type MadeOf<Answer> = (answer: Answer | undefined) => readonly string[];

type Asked = Pick<Query, "queryKey" | "meta"> & { readonly state: Pick<Query["state"], "data"> };

/** Whether any of what was touched makes an answer stale. */
export function isStale({ queryKey, meta, state }: Asked, touched: ReadonlySet<string>): boolean {
  const madeOf = meta?.["madeOf"] as MadeOf<unknown> | undefined;
  if (madeOf === undefined) return touched.has(String(queryKey[0]));
  return madeOf(state.data).some((stream) => touched.has(stream));
}
