/** A policy as a module: its default export is the document, `export default definePolicy({ policy: "refunds", … })`. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { errorText } from "../../kernel/text.ts";
import type { PolicyFinding, PolicyReading } from "../../policy/read.ts";
import { type CompileOptions, compilePolicy } from "../../policy/rules/compile.ts";
import type { PolicyFault, PolicyText } from "../../policy/rules/document.ts";
import type { KnownTool } from "../../policy/rules/tools.ts";
import { CommandError } from "../failure.ts";

const MODULE = /\.[cm]?[jt]s$/;
const SHAPE =
  'Its default export is the document: export default definePolicy({ policy: "refunds", default: "block", rules: […] })';

export const isModule = (file: string): boolean => MODULE.test(file);

function broken(file: string, error: unknown): CommandError {
  const what = `The policy ${file} cannot be loaded: ${errorText(error)}`;
  return new CommandError("file_error", what, "Run it again with DEBUG=1 to see where.", error);
}

async function exportsOf(file: string): Promise<{ readonly default?: unknown }> {
  const path = resolve(file);
  if (!existsSync(path)) throw new CommandError("file_error", `There is no file ${file}.`, "Check the path.");
  try {
    return (await import(pathToFileURL(path).href)) as { default?: unknown };
  } catch (error) {
    throw broken(file, error);
  }
}

/** The module is loaded, and runs what it runs when it is loaded. */
export async function documentIn(file: string): Promise<PolicyText> {
  const { default: given } = await exportsOf(file);
  if (given === undefined)
    throw new CommandError("file_error", `The file ${file} has no default export.`, SHAPE);
  const isObject = typeof given === "object" && given !== null && !Array.isArray(given);
  if (isObject && "policy" in given) return given as PolicyText;
  const what = isObject ? "an object without the name of a policy" : `a ${kindOf(given)}`;
  throw new CommandError("file_error", `The default export of ${file} is no policy, but ${what}.`, SHAPE);
}

const kindOf = (given: unknown): string => {
  if (given === null) return "null";
  return Array.isArray(given) ? "list" : typeof given;
};

/** Code has no lines to point to: a fault is named by its place in the document. */
function findingOf(severity: PolicyFinding["severity"]) {
  return ({ path, message }: PolicyFault): PolicyFinding => {
    const place = path.length === 0 ? "" : `${path.join(".")}: `;
    return { severity, line: 1, column: 1, message: `${place}${message}` };
  };
}

export function readDocument(
  document: PolicyText,
  tools: readonly KnownTool[] | null,
  around: CompileOptions = {},
): PolicyReading {
  const made = compilePolicy(document, tools, around);
  const warnings = made.warnings.map(findingOf("warning"));
  if (made.ok) return { ok: true, policy: made.policy, findings: warnings };
  const findings = [...made.faults.map(findingOf("fault")), ...warnings];
  return { ok: false, findings, looked: made.looked };
}
