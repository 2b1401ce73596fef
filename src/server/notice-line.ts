/** What an instance tells about, as a line of the log: ids and names, never what agents or people wrote. */

import { errorText } from "../kernel/text.ts";
import type { Notice } from "../runtime/notices.ts";
import type { LogLine } from "./log.ts";

const IDS = [
  "action",
  "approval",
  "effect",
  "tool",
  "workflow",
  "name",
  "alert",
  "monitor",
  "rule",
  "policy",
  "digest",
];
const LEVELS: { readonly [kind: string]: LogLine["level"] } = {
  definition_changed: "warn",
  maintenance_failed: "error",
  outcome_unrecorded: "error",
  policy_refused: "error",
};

export function noticeLine(notice: Notice, tenant: string): LogLine {
  const all = Object.entries(notice);
  const ids = all.filter(([name, value]) => IDS.includes(name) && typeof value === "string");
  const faults = "faults" in notice ? { faults: notice.faults } : {};
  const error = "error" in notice ? { error: errorText(notice.error) } : {};
  const level = LEVELS[notice.kind] ?? "info";
  return { level, message: notice.kind, tenant, ...Object.fromEntries(ids), ...faults, ...error };
}
