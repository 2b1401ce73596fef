/** A policy's file: text to a policy, and everything that is wrong with it by line and column. */
import { readFileSync } from "node:fs";
import { type Document, isScalar, parseDocument, type Scalar } from "yaml";
import { type CompiledPolicy, compilePolicy, type Surrounding } from "../../core/policy/compile.ts";
import type { PolicyText } from "../../core/policy/document.ts";
import type { PolicyFault } from "../../core/policy/fault.ts";
import type { KnownTool } from "../../core/policy/known-tool.ts";
import { errorText } from "../../kernel/text.ts";
import { placeInside, placeOf } from "./place-in-yaml.ts";
import { DEEPEST, duplicateKeys, isHuge, isTooDeep, MOST_VALUES } from "./yaml-limits.ts";
import { aliasWords, yamlWords } from "./yaml-words.ts";

export type PolicyFinding = {
  readonly severity: "fault" | "warning";
  readonly line: number;
  readonly column: number;
  readonly message: string;
};

export type PolicyReading =
  | { readonly ok: true; readonly policy: CompiledPolicy; readonly findings: readonly PolicyFinding[] }
  | {
      readonly ok: false;
      readonly findings: readonly PolicyFinding[];
      /** How far it was looked at: what comes after that may have faults of its own. */
      readonly looked: "text" | "shape" | "whole";
    };

const MOST_CHARACTERS = 262_144;
/** How often an anchor may be used; each use may hold others. */
const MOST_ALIASES = 50;
const MOST_FINDINGS = 50;

/** `refunds.policy.yaml:12:7  args has no field amont_usd (did you mean amount_usd?)` */
export function findingText(file: string, { severity, line, column, message }: PolicyFinding): string {
  return `${file}:${line}:${column}  ${severity === "warning" ? "warning: " : ""}${message}`;
}

type Source = { readonly text: string; readonly document: Document };

/** Counted here: the library's own counter loses lines after some errors. */
function finding(text: string, at: number, message: string): PolicyFinding {
  const before = text.slice(0, at);
  const start = before.lastIndexOf("\n") + 1;
  const line = before.split("\n").length;
  return { severity: "fault", line, column: at - start + 1, message };
}

export function locate(source: Source, { path, message, offset }: PolicyFault): PolicyFinding {
  const { at, value } = placeOf(source.document, path);
  const isText = isScalar(value) && typeof value.value === "string";
  const place =
    offset !== undefined && isText ? placeInside(source.text, value as Scalar<string>, offset) : at;
  return finding(source.text, place, message);
}

const byPlace = (a: PolicyFinding, b: PolicyFinding): number => a.line - b.line || a.column - b.column;

function located(
  source: Source,
  faults: readonly PolicyFault[],
  warnings: readonly PolicyFault[],
): PolicyFinding[] {
  const certain = faults.map((one) => locate(source, one));
  const doubtful = warnings.map((one) => ({ ...locate(source, one), severity: "warning" as const }));
  return [...certain, ...doubtful].toSorted(byPlace);
}

const TOO_LARGE = `the policy is over ${MOST_CHARACTERS} characters`;
const fail = (message: string): PolicyReading => ({
  ok: false,
  findings: [{ severity: "fault", line: 1, column: 1, message }],
  looked: "text",
});

/** YAML 1.2, of which JSON is a part. Keys are unique, and there is one document in a file. */
export function parseYaml(
  text: string,
): Source & { readonly faults: readonly PolicyFinding[]; readonly value: unknown } {
  const document = parseDocument(text, {
    version: "1.2",
    schema: "core",
    strict: true,
    // Looked at below.
    uniqueKeys: false,
    merge: false,
    prettyErrors: false,
    stringKeys: true,
    logLevel: "error",
  });
  const source = { text, document };
  const wrong = [...document.errors, ...document.warnings].map((one) => ({
    at: one.pos[0],
    message: yamlWords(one),
  }));
  const faults = [...wrong, ...duplicateKeys(document)]
    .slice(0, MOST_FINDINGS)
    .map(({ at, message }) => finding(text, Math.min(at, text.length), message));
  if (faults.length > 0) return { ...source, faults, value: undefined };
  try {
    const value: unknown = document.toJS({ maxAliasCount: MOST_ALIASES });
    const huge = isHuge(value) ? [finding(text, 0, `the file holds over ${MOST_VALUES} values`)] : [];
    return { ...source, faults: huge, value: huge.length > 0 ? undefined : value };
  } catch (error) {
    const message = aliasWords(errorText(error), MOST_ALIASES);
    return { ...source, faults: [finding(text, 0, message)], value: undefined };
  }
}

/** `toolsFor`: the tools that it is checked against, where that depends on what it says. */
export function readPolicyFor(
  text: string,
  toolsFor: (value: unknown) => readonly KnownTool[] | null,
  around: Surrounding = {},
): PolicyReading {
  if (text.length > MOST_CHARACTERS) return fail(TOO_LARGE);
  if (isTooDeep(text)) return fail(`the policy has brackets over ${DEEPEST} deep`);
  const { faults, value, ...source } = parseYaml(text);
  if (faults.length > 0) return { ok: false, findings: faults, looked: "text" };
  const made = compilePolicy(value as PolicyText, toolsFor(value), around);
  if (!made.ok)
    return { ok: false, findings: located(source, made.faults, made.warnings), looked: made.looked };
  return { ok: true, policy: made.policy, findings: located(source, [], made.warnings) };
}

export const readPolicy = (
  text: string,
  tools: readonly KnownTool[] | null,
  around: Surrounding = {},
): PolicyReading => readPolicyFor(text, () => tools, around);

export function readPolicyFile(
  file: string,
  tools: readonly KnownTool[] | null,
  around: Surrounding = {},
): PolicyReading {
  try {
    const bytes = readFileSync(file);
    if (bytes.length > MOST_CHARACTERS) return fail(TOO_LARGE);
    return readPolicy(new TextDecoder("utf-8", { fatal: true }).decode(bytes), tools, around);
  } catch (error) {
    return fail(`the file cannot be read: ${errorText(error)}`);
  }
}
