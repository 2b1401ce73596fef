/**
 * Reads policies: a YAML or JSON text, a file, or a document in code becomes a compiled policy, or findings with line
 * and column. Also texts for a trial (never put in force), texts checked against the tools and people of a store, and
 * the test cases of a policy: `refunds.test.yaml` next to `refunds.yaml`.
 */

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { type Document, isScalar, parseDocument, type Scalar } from "yaml";
import { HoldpointError } from "../kernel/errors.ts";
import { ROSTER } from "../kernel/stream.ts";
import { errorText } from "../kernel/text.ts";
import { nextTurn } from "../runtime/concurrency.ts";
import { readState } from "../runtime/store-access.ts";
import type { Store } from "../stores/store.ts";
import type { CheckedText, PolicyFinding } from "./contract.ts";
import { caseKeysAt, casesSchema, type PolicyCases } from "./rules/cases.ts";
import { type CompiledPolicy, type CompileOptions, compilePolicy } from "./rules/compile.ts";
import { issueFaults, type PolicyFault, type PolicyText } from "./rules/document.ts";
import { type KnownTool, mergeNamedTools, namedTools } from "./rules/tools.ts";
import {
  aliasErrorText,
  DEEPEST_YAML,
  duplicateKeys,
  isHuge,
  isTooDeep,
  locateInScalar,
  locatePath,
  MOST_YAML_VALUES,
  yamlIssueText,
} from "./yaml.ts";

/** Does not check expressions against schemas: the recorded schemas may be outdated. */
export function compileForTrial(document: PolicyText): CompiledPolicy {
  const compiled = compilePolicy(document, null);
  if (compiled.ok) return compiled.policy;
  const faults = compiled.faults.map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw new HoldpointError("policy_invalid", `The policy cannot be used: ${faults.slice(0, 5).join("; ")}.`);
}

export type PolicyReading =
  | { readonly ok: true; readonly policy: CompiledPolicy; readonly findings: readonly PolicyFinding[] }
  | {
      readonly ok: false;
      readonly findings: readonly PolicyFinding[];
      /** How far the check got. A later stage may find more faults. */
      readonly looked: "text" | "shape" | "whole";
    };

const MOST_CHARACTERS = 262_144;
/** How often an anchor may be used. Each use may contain others. */
const MOST_ALIASES = 50;
const MOST_FINDINGS = 50;

/** `refunds.policy.yaml:12:7  args has no field amont_usd (did you mean amount_usd?)` */
export function findingText(file: string, { severity, line, column, message }: PolicyFinding): string {
  return `${file}:${line}:${column}  ${severity === "warning" ? "warning: " : ""}${message}`;
}

type Source = { readonly text: string; readonly document: Document };

/** The library's own line counter loses lines after some errors. */
function finding(text: string, at: number, message: string): PolicyFinding {
  const before = text.slice(0, at);
  const start = before.lastIndexOf("\n") + 1;
  const line = before.split("\n").length;
  return { severity: "fault", line, column: at - start + 1, message };
}

export function locate(source: Source, { path, message, offset }: PolicyFault): PolicyFinding {
  const { at, value } = locatePath(source.document, path);
  const isText = isScalar(value) && typeof value.value === "string";
  const place =
    offset !== undefined && isText ? locateInScalar(source.text, value as Scalar<string>, offset) : at;
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

/** Parses YAML 1.2, which includes JSON. Keys are unique, and a file holds one document. */
export function parseYaml(
  text: string,
): Source & { readonly faults: readonly PolicyFinding[]; readonly value: unknown } {
  const document = parseDocument(text, {
    version: "1.2",
    schema: "core",
    strict: true,
    // Checked below.
    uniqueKeys: false,
    merge: false,
    prettyErrors: false,
    stringKeys: true,
    logLevel: "error",
  });
  const source = { text, document };
  const wrong = [...document.errors, ...document.warnings].map((one) => ({
    at: one.pos[0],
    message: yamlIssueText(one),
  }));
  const faults = [...wrong, ...duplicateKeys(document)]
    .slice(0, MOST_FINDINGS)
    .map(({ at, message }) => finding(text, Math.min(at, text.length), message));
  if (faults.length > 0) return { ...source, faults, value: undefined };
  try {
    const value: unknown = document.toJS({ maxAliasCount: MOST_ALIASES });
    const huge = isHuge(value) ? [finding(text, 0, `the file holds over ${MOST_YAML_VALUES} values`)] : [];
    return { ...source, faults: huge, value: huge.length > 0 ? undefined : value };
  } catch (error) {
    const message = aliasErrorText(errorText(error), MOST_ALIASES);
    return { ...source, faults: [finding(text, 0, message)], value: undefined };
  }
}

/** `toolsFor` returns the tools to check against, which may depend on the document. */
function readPolicyFor(
  text: string,
  toolsFor: (value: unknown) => readonly KnownTool[] | null,
  around: CompileOptions = {},
): PolicyReading {
  if (text.length > MOST_CHARACTERS) return fail(TOO_LARGE);
  if (isTooDeep(text)) return fail(`the policy has brackets over ${DEEPEST_YAML} deep`);
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
  around: CompileOptions = {},
): PolicyReading => readPolicyFor(text, () => tools, around);

export function readPolicyFile(
  file: string,
  tools: readonly KnownTool[] | null,
  around: CompileOptions = {},
): PolicyReading {
  try {
    const bytes = readFileSync(file);
    if (bytes.length > MOST_CHARACTERS) return fail(TOO_LARGE);
    return readPolicy(new TextDecoder("utf-8", { fatal: true }).decode(bytes), tools, around);
  } catch (error) {
    return fail(`the file cannot be read: ${errorText(error)}`);
  }
}

/** A file path, or the document itself. */
export type PolicySource = string | PolicyText;

type SourceReading =
  | { readonly ok: true; readonly policy: CompiledPolicy; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Checks the text, which is read once, against the given tools. */
export type SourceReader = (tools: readonly KnownTool[] | null) => SourceReading;

export const sourceName = (source: PolicySource): string =>
  typeof source === "string" ? basename(source) : "code";

function unreadable(file: string, error: unknown): HoldpointError {
  const fault = `it cannot be read: ${errorText(error)}`;
  const details = { faults: [fault] };
  return new HoldpointError("policy_invalid", `The policy ${file}: ${fault}.`, { details, cause: error });
}

const MODULE = /\.[cm]?[jt]s$/;

/** A module has to be imported, which is left to the program itself. */
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

/** A document in code has no lines, so a fault is located by its path. */
function readDocument(document: PolicyText, tools: readonly KnownTool[] | null): SourceReading {
  const made = compilePolicy(document, tools);
  const told = ({ path, message }: PolicyFault): string => `${path.join(".")}  ${message}`;
  if (made.ok) return { ok: true, policy: made.policy, warnings: made.warnings.map(told) };
  return { ok: false, faults: made.faults.map(told) };
}

function readText(file: string, text: string, tools: readonly KnownTool[] | null): SourceReading {
  const reading = readPolicy(text, tools);
  const told = (severity: PolicyFinding["severity"]): readonly string[] =>
    reading.findings
      .filter((one) => one.severity === severity)
      .map((one) => findingText(sourceName(file), one));
  if (reading.ok) return { ok: true, policy: reading.policy, warnings: told("warning") };
  return { ok: false, faults: told("fault") };
}

export function openPolicySource(source: PolicySource): SourceReader {
  if (typeof source !== "string") return (tools) => readDocument(source, tools);
  const text = readFile(source);
  return (tools) => readText(source, text, tools);
}

const MOST_NAMED = 5;

/** Does not check expressions against schemas: the recorded schemas may be outdated. */
export async function readPolicyForTrial(text: string): Promise<CompiledPolicy> {
  await nextTurn();
  const reading = readPolicy(text, null);
  if (reading.ok) return reading.policy;
  const faults = reading.findings
    .filter(({ severity }) => severity === "fault")
    .map((one) => findingText("line", one).replace(/^line:/, "line "));
  const more = faults.length > MOST_NAMED ? `; and ${faults.length - MOST_NAMED} more` : "";
  throw new HoldpointError(
    "policy_invalid",
    `The policy cannot be used: ${faults.slice(0, MOST_NAMED).join("; ")}${more}.`,
    { data: "Nothing was tried, and nothing was written.", details: { faults } },
  );
}

/** `recorded`: the tools in the journal. */
export async function checkPolicyText(
  place: { readonly store: Store; readonly tenant: string },
  text: string,
  recorded: readonly KnownTool[],
): Promise<CheckedText> {
  const roster = await readState(place, ROSTER);
  let unchecked: readonly string[] = [];
  const toolsFor = (value: unknown): readonly KnownTool[] => {
    const named = namedTools(value);
    const tools = mergeNamedTools(recorded, named);
    const spoken = new Set(named.map(({ name }) => name));
    const blind = tools.filter(({ name, schema }) => schema === null && spoken.has(name));
    unchecked = blind.map(({ name }) => name);
    return tools;
  };
  await nextTurn();
  const read = readPolicyFor(text, toolsFor, { roster });
  return {
    name: read.ok ? read.policy.name : null,
    digest: read.ok ? read.policy.digest : null,
    remarks: read.findings,
    isAll: read.ok || read.looked === "whole",
    unchecked,
  };
}

type CasesReading =
  | { readonly ok: true; readonly cases: PolicyCases; readonly lines: readonly number[] }
  | { readonly ok: false; readonly findings: readonly PolicyFinding[] };

/** Also returns the line on which each case begins. */
export function readCases(text: string): CasesReading {
  const { faults, value, ...source } = parseYaml(text);
  if (faults.length > 0) return { ok: false, findings: faults };
  const parsed = casesSchema.safeParse(value, { reportInput: true });
  if (!parsed.success)
    return {
      ok: false,
      findings: issueFaults(parsed.error.issues, caseKeysAt).map((fault) => locate(source, fault)),
    };
  const lines = parsed.data.cases.map(
    (_, index) => locate(source, { path: ["cases", index], message: "" }).line,
  );
  return { ok: true, cases: parsed.data, lines };
}

/** `policies/refunds.test.yaml` tests `policies/refunds.yaml`; the same for `.yml` and `.json`. */
export function policyFileOf(casesFile: string): string | undefined {
  const name = casesFile.replace(/\.test\.(ya?ml|json)$/, ".$1");
  return name === casesFile ? undefined : name;
}
