/** One line a request, as JSON or for people. Bodies, queries and credentials are never part of it. */
import { visible } from "../kernel/text.ts";

export type LogLine = {
  readonly level: "info" | "warn" | "error";
  readonly message: string;
  readonly [field: string]: unknown;
};
export type Log = (line: LogLine) => void;
export type LogForm = "json" | "text" | "off";

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

/** A correlation id that others gave is taken only if it cannot be mistaken for anything else. */
const WELL_FORMED = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
export const correlationId = (given: unknown, make: () => string): string =>
  typeof given === "string" && WELL_FORMED.test(given) ? given : make();
