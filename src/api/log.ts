/**
 * Log lines, as JSON or as text: one per request, and one for each notice of an instance.
 * A line never contains bodies, queries, credentials, or text that agents or people wrote.
 */
import { errorText, visible } from "../kernel/text.ts";
import type { Notice } from "../runtime/notices.ts";

export type LogLine = {
  readonly level: "info" | "warn" | "error";
  readonly message: string;
  readonly [field: string]: unknown;
};
export type Log = (line: LogLine) => void;
type LogForm = "json" | "text" | "off";

function asText({ level, message, ...fields }: LogLine): string {
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  return visible([level === "info" ? "" : level, message, ...rest].filter((part) => part !== "").join(" "));
}

export function createLog(form: LogForm, write: (text: string) => void, now: () => number): Log {
  if (form === "off") return () => undefined;
  return (line) => {
    const time = new Date(now()).toISOString();
    write(form === "json" ? `${JSON.stringify({ time, ...line })}\n` : `${time} ${asText(line)}\n`);
  };
}

/** A caller's correlation id is used only if it is well-formed. */
const WELL_FORMED = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
export const correlationId = (given: unknown, make: () => string): string =>
  typeof given === "string" && WELL_FORMED.test(given) ? given : make();

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
