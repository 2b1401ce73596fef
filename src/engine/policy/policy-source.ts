/** Where a policy comes from, and how it is read from there. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { type CompiledPolicy, compilePolicy } from "../../core/policy/compile.ts";
import type { PolicyText } from "../../core/policy/document.ts";
import type { PolicyFault } from "../../core/policy/fault.ts";
import type { KnownTool } from "../../core/policy/known-tool.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { errorText } from "../../kernel/text.ts";
import { findingText, type PolicyFinding, readPolicy } from "./read-policy.ts";

/** A file's path, or the document itself. */
export type PolicySource = string | PolicyText;

export type Reading =
  | { readonly ok: true; readonly policy: CompiledPolicy; readonly warnings: readonly string[] }
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

const MODULE = /\.[cm]?[jt]s$/;

/** To load one takes an import, which is not done behind the back of a program. */
function noModule(file: string): HoldpointError {
  const fault =
    "it is a module, and only YAML or JSON is read from a file; import it in the program and pass its default export as policy";
  return new HoldpointError("policy_invalid", `The policy ${file}: ${fault}.`, {
    details: { faults: [fault] },
  });
}

function readFile(file: string): string {
  if (MODULE.test(file)) throw noModule(file);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** A path in code has no lines: the fault is named by its place in the document. */
function readDocument(document: PolicyText, tools: readonly KnownTool[] | null): Reading {
  const made = compilePolicy(document, tools);
  const told = ({ path, message }: PolicyFault): string => `${path.join(".")}  ${message}`;
  if (made.ok) return { ok: true, policy: made.policy, warnings: made.warnings.map(told) };
  return { ok: false, faults: made.faults.map(told) };
}

function readText(file: string, text: string, tools: readonly KnownTool[] | null): Reading {
  const reading = readPolicy(text, tools);
  const told = (severity: PolicyFinding["severity"]): readonly string[] =>
    reading.findings
      .filter((one) => one.severity === severity)
      .map((one) => findingText(sourceName(file), one));
  if (reading.ok) return { ok: true, policy: reading.policy, warnings: told("warning") };
  return { ok: false, faults: told("fault") };
}

export function readerOf(source: PolicySource): Reader {
  if (typeof source !== "string") return (tools) => readDocument(source, tools);
  const text = readFile(source);
  return (tools) => readText(source, text, tools);
}
