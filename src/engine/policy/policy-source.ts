/** Where a policy comes from, and how it is read from there. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { errorText } from "../../core/error-text.ts";
import { HoldpointError } from "../../core/errors.ts";
import { type CompiledPolicy, compilePolicy } from "../../core/policy/compile.ts";
import type { PolicyText } from "../../core/policy/document.ts";
import type { KnownTool } from "../../core/policy/known-tool.ts";
import { findingText, readPolicy } from "./read-policy.ts";

/** A file's path, or the document itself. */
export type PolicySource = string | PolicyText;

export type Reading =
  | { readonly ok: true; readonly policy: CompiledPolicy }
  | { readonly ok: false; readonly faults: readonly string[] };

/** The text is read once; it is checked against whatever tools are known. */
export type Reader = (tools: readonly KnownTool[] | null) => Reading;

export const sourceName = (source: PolicySource): string =>
  typeof source === "string" ? basename(source) : "code";

function unreadable(file: string, error: unknown): HoldpointError {
  const fault = `it cannot be read: ${errorText(error)}`;
  const details = { faults: [fault] };
  return new HoldpointError("policy_invalid", `The policy ${file}: ${fault}.`, { details, cause: error });
}

function readFile(file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** A path in code has no lines: the fault is named by its place in the document. */
function readDocument(document: PolicyText, tools: readonly KnownTool[] | null): Reading {
  const made = compilePolicy(document, tools);
  if (made.ok) return made;
  return { ok: false, faults: made.faults.map(({ path, message }) => `${path.join(".")}  ${message}`) };
}

function readText(file: string, text: string, tools: readonly KnownTool[] | null): Reading {
  const reading = readPolicy(text, tools);
  if (reading.ok) return reading;
  const faults = reading.findings.filter(({ severity }) => severity === "fault");
  return { ok: false, faults: faults.map((one) => findingText(sourceName(file), one)) };
}

export function readerOf(source: PolicySource): Reader {
  if (typeof source !== "string") return (tools) => readDocument(source, tools);
  const text = readFile(source);
  return (tools) => readText(source, text, tools);
}
