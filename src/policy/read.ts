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

/** Checks the text against the given tools, or against those that `tools` returns for the document in it. */
export function readPolicy(
  text: string,
  tools: readonly KnownTool[] | null | ((document: unknown) => readonly KnownTool[] | null),
  around: CompileOptions = {},
): PolicyReading {
  if (text.length > MOST_CHARACTERS) return fail(`the policy is over ${MOST_CHARACTERS} characters`);
  if (isTooDeep(text)) return fail(`the policy has brackets over ${DEEPEST_YAML} deep`);
  const { faults, value, ...source } = parseYaml(text);
  if (faults.length > 0) return { ok: false, findings: faults, looked: "text" };
  const made = compilePolicy(value as PolicyText, typeof tools === "function" ? tools(value) : tools, around);
  const certain = made.ok ? [] : made.faults.map((one) => locate(source, one));
  const doubtful = made.warnings.map((one) => ({ ...locate(source, one), severity: "warning" as const }));
  const findings = [...certain, ...doubtful].toSorted((a, b) => a.line - b.line || a.column - b.column);
  return made.ok ? { ok: true, policy: made.policy, findings } : { ok: false, findings, looked: made.looked };
}

/** A document in code has no lines: a finding names the path in it. */
export function readPolicyDocument(
  document: PolicyText,
  tools: readonly KnownTool[] | null,
  around: CompileOptions = {},
): PolicyReading {
  const made = compilePolicy(document, tools, around);
  const found =
    (severity: PolicyFinding["severity"]) =>
    ({ path, message }: PolicyFault): PolicyFinding => {
      const place = path.length === 0 ? "" : `${path.join(".")}: `;
      return { severity, line: 1, column: 1, message: `${place}${message}` };
    };
  const warnings = made.warnings.map(found("warning"));
  if (made.ok) return { ok: true, policy: made.policy, findings: warnings };
  return { ok: false, findings: [...made.faults.map(found("fault")), ...warnings], looked: made.looked };
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

const MODULE = /\.[cm]?[jt]s$/;
export const isModule = (file: string): boolean => MODULE.test(file);

function unusable(file: string, fault: string, cause?: unknown): HoldpointError {
  const details = { faults: [fault] };
  return new HoldpointError("policy_invalid", `The policy ${file}: ${fault}.`, { details, cause });
}

/** A module has to be imported, which is left to the program itself. */
const IS_MODULE =
  "it is a module, and only YAML or JSON is read from a file; import it in the program and pass its default export as policy";

function readFile(file: string): string {
  if (isModule(file)) throw unusable(file, IS_MODULE);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    throw unusable(file, `it cannot be read: ${errorText(error)}`, error);
  }
}

export function openPolicySource(source: PolicySource): SourceReader {
  const text = typeof source === "string" ? readFile(source) : null;
  const words = (one: PolicyFinding) => (text === null ? one.message : findingText(sourceName(source), one));
  return (tools) => {
    const reading = text === null ? readPolicyDocument(source as PolicyText, tools) : readPolicy(text, tools);
    const told = (severity: PolicyFinding["severity"]) =>
      reading.findings.filter((one) => one.severity === severity).map(words);
    if (reading.ok) return { ok: true, policy: reading.policy, warnings: told("warning") };
    return { ok: false, faults: told("fault") };
  };
}

const MOST_NAMED = 5;

/** Does not check expressions against schemas: the recorded schemas may be outdated. */
export function compileForTrial(given: string | PolicyText): CompiledPolicy {
  const isText = typeof given === "string";
  const reading = isText ? readPolicy(given, null) : readPolicyDocument(given, null);
  if (reading.ok) return reading.policy;
  const faults = reading.findings
    .filter(({ severity }) => severity === "fault")
    .map((one) => (isText ? findingText("line", one).replace(/^line:/, "line ") : one.message));
  const more = faults.length > MOST_NAMED ? `; and ${faults.length - MOST_NAMED} more` : "";
  throw new HoldpointError(
    "policy_invalid",
    `The policy cannot be used: ${faults.slice(0, MOST_NAMED).join("; ")}${more}.`,
    { data: "Nothing was tried, and nothing was written.", details: { faults } },
  );
}

/** Tools that a document names and whose arguments cannot be checked: no schema is known. */
export function toolsWithoutSchema(
  tools: readonly KnownTool[],
  named: readonly KnownTool[],
): readonly string[] {
  const spoken = new Set(named.map(({ name }) => name));
  return tools.filter(({ name, schema }) => schema === null && spoken.has(name)).map(({ name }) => name);
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
    unchecked = toolsWithoutSchema(tools, named);
    return tools;
  };
  await nextTurn();
  const read = readPolicy(text, toolsFor, { roster });
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
