/**
 * What an entry of the journal makes stale. Queries begin with one of these subjects; a query is asked anew when an entry comes
 * that touches its subject.
 */
export const SUBJECTS = [
  "attention",
  "approvals",
  "workflows",
  "actions",
  "policies",
  "grants",
  "alerts",
  "switch",
  "nodes",
  "keys",
  "people",
  "endpoints",
  "activity",
  "budgets",
  "journal",
] as const;
export type Subject = (typeof SUBJECTS)[number];

/** By the kind of stream that the entry stands in. */
const TOUCHED: { readonly [kind: string]: readonly Subject[] } = {
  approval: ["approvals", "attention", "activity", "workflows", "journal"],
  action: ["actions", "approvals", "attention", "activity", "workflows", "grants", "journal"],
  workflow: ["workflows", "approvals", "activity", "journal"],
  alert: ["alerts", "attention"],
  grant: ["grants"],
  switch: ["switch", "attention", "actions"],
  epoch: ["nodes"],
  key: ["keys"],
  roster: ["people", "approvals"],
  session: ["people"],
  endpoint: ["endpoints"],
  message: ["endpoints"],
  budget: ["budgets"],
  policy: ["policies"],
};

export const touchedBy = (stream: string): readonly Subject[] => TOUCHED[stream.split("/")[0] ?? ""] ?? [];
