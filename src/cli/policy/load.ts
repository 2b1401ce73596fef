/**
 * Input of policy commands: a policy from YAML, JSON or a module (its default export is the document), and the tools to
 * check it against, from a program or a list. Faults are printed line by line.
 */

import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "../../effects/define-tool.ts";
import type { Holdpoint } from "../../index.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../../kernel/json.ts";
import { errorText, visible } from "../../kernel/text.ts";
import type { PolicyFinding } from "../../policy/contract.ts";
import {
  findingText,
  isModule,
  type PolicyReading,
  readPolicy,
  readPolicyDocument,
} from "../../policy/read.ts";
import type { CompiledPolicy, CompileOptions } from "../../policy/rules/compile.ts";
import { issueFaults, type PolicyText } from "../../policy/rules/document.ts";
import { EFFECT_CLASSES } from "../../policy/rules/tool-rules.ts";
import type { KnownTool } from "../../policy/rules/tools.ts";
import { CommandError, type Context, fileError } from "../shell/command.ts";
import { hanging, pluralize } from "../shell/terminal.ts";

const MODULE_SHAPE =
  'Its default export is the document: export default definePolicy({ policy: "refunds", default: "block", rules: […] })';

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

/** Loading the module runs its top-level code. */
async function documentIn(file: string): Promise<PolicyText> {
  const { default: given } = await exportsOf(file);
  if (given === undefined)
    throw new CommandError("file_error", `The file ${file} has no default export.`, MODULE_SHAPE);
  const isObject = typeof given === "object" && given !== null && !Array.isArray(given);
  if (isObject && "policy" in given) return given as PolicyText;
  const what = isObject ? "an object without the name of a policy" : `a ${kindOf(given)}`;
  throw new CommandError(
    "file_error",
    `The default export of ${file} is no policy, but ${what}.`,
    MODULE_SHAPE,
  );
}

const kindOf = (given: unknown): string => {
  if (given === null) return "null";
  return Array.isArray(given) ? "list" : typeof given;
};

/** Reads a file that the user named; explains in words why it cannot be read. */
export function readTextFile(file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    throw fileError(file, error);
  }
}

export const findingLine = (file: string, finding: PolicyFinding): string =>
  visible(findingText(file, finding));

type FaultSummary = { readonly file: string; readonly what: string; readonly next: string };

/** For a file with faults: prints each with its line, once. For programs (`--json`) all are in the one error. */
export function unusableFile(
  { terminal, json }: Pick<Context, "terminal" | "json">,
  faults: readonly PolicyFinding[],
  { file, what, next }: FaultSummary,
): CommandError {
  if (!json)
    for (const fault of faults) terminal.note(hanging(findingLine(file, fault), terminal).join("\n"));
  const all = faults.map(({ line, message }) => `line ${line}, ${message}`).join("; ");
  return new CommandError("file_error", `${what}: ${json ? all : pluralize(faults.length, "fault")}.`, next);
}

/** The compiled policy, and the document as given: only that has a module's functions. */
type LoadedPolicy = { readonly policy: CompiledPolicy; readonly document: PolicyText };

type FileReading = { readonly read: PolicyReading; readonly document?: PolicyText };

/** `toolsFor` returns the tools to check a document against. */
export async function readPolicyFile(
  file: string,
  toolsFor: (document: unknown) => readonly KnownTool[] | null,
  around: CompileOptions = {},
): Promise<FileReading> {
  if (!isModule(file)) return { read: readPolicy(readTextFile(file), toolsFor, around) };
  const document = await documentIn(file);
  return { read: readPolicyDocument(document, toolsFor(document), around), document };
}

/** Does not check expressions against schemas: `policy check` does that. */
export async function loadPolicy(
  context: Pick<Context, "terminal" | "json">,
  file: string,
): Promise<LoadedPolicy> {
  const { read, document } = await readPolicyFile(file, () => null);
  if (read.ok) {
    const { policy } = read;
    return { policy, document: document ?? (policy.document as unknown as PolicyText) };
  }
  const faults = read.findings.filter(({ severity }) => severity === "fault");
  const what = `The policy ${file} cannot be used`;
  throw unusableFile(context, faults, { file, what, next: `Try: holdpoint policy check ${file}` });
}

type InputCheck<Schema> = {
  readonly schema: Schema;
  /** Keys to suggest for a misspelt one. */
  readonly keys: readonly string[];
  /** The shape in words. */
  readonly shape: string;
  readonly at?: readonly (string | number)[];
};

/** JSON that a user wrote: the first fault is named by its path, in the words of a policy file. */
export function checkInput<Schema extends z.ZodObject>(
  file: string,
  given: unknown,
  { schema, keys, shape, at = [] }: InputCheck<Schema>,
): z.output<Schema> {
  const parsed = schema.safeParse(given, { reportInput: true });
  if (parsed.success) return parsed.data;
  const [fault] = issueFaults(parsed.error.issues, () => keys);
  const path = [...at, ...(fault?.path.slice(0, -1) ?? [])];
  const place = path.length === 0 ? "" : `${path.join(".")}: `;
  const what = isJsonObject(given as Json) ? fault?.message : "it is not an object";
  throw new CommandError("usage", `The file ${file}: ${place}${what}.`, shape);
}

const TOOL_LIST_SHAPE =
  'A program\'s default export is a function of an instance, or a list of tools; a list in JSON is [{ "name", "effect", "schema" }].';

const wrong = (file: string, what: string): CommandError =>
  new CommandError("usage", `The file ${file} ${what}.`, TOOL_LIST_SHAPE);

const listedTool = z.strictObject({
  name: z.string(),
  effect: z.enum(EFFECT_CLASSES).default("once"),
  schema: z
    .custom<JsonObject>((value) => isJsonObject(value as Json), "is not an object")
    .nullable()
    .default(null),
});

function fromJson(file: string, value: Json): readonly KnownTool[] {
  if (!Array.isArray(value)) throw wrong(file, "is not a list of tools");
  return value.map((one, index) => {
    const keys = Object.keys(listedTool.shape);
    const checked = checkInput(file, one, { schema: listedTool, keys, shape: TOOL_LIST_SHAPE, at: [index] });
    return { name: checked.name, effectClass: checked.effect, schema: checked.schema };
  });
}

type Definition = ToolDefinition<never, unknown>;

function known(definition: Definition): KnownTool {
  const { name, effectClass, schemaText } = defineTool(definition).rules;
  return { name, effectClass, schema: schemaText === null ? null : (JSON.parse(schemaText) as JsonObject) };
}

async function fromModule(hp: Holdpoint, file: string): Promise<readonly KnownTool[]> {
  const found: KnownTool[] = [];
  const gate = ((definition: Definition) => {
    found.push(known(definition));
    return hp.gate(definition);
  }) as unknown as Holdpoint["gate"];
  try {
    const { default: given } = (await import(pathToFileURL(file).href)) as { default?: unknown };
    if (Array.isArray(given)) return given.map((one) => known(one as Definition));
    if (typeof given === "function") {
      await (given as (hp: Holdpoint) => unknown)({ ...hp, gate });
      return found;
    }
  } catch (error) {
    throw wrong(file, `cannot be loaded: ${errorText(error)}`);
  }
  throw wrong(file, "exports no tools");
}

/** Loading a program runs its top-level code; none of its tools is called. */
export async function toolsFrom(hp: Holdpoint, given: string): Promise<readonly KnownTool[]> {
  const file = resolve(given);
  if (!existsSync(file))
    throw new CommandError("file_error", `There is no file ${given}.`, "Check the path.");
  if (!file.endsWith(".json")) return fromModule(hp, file);
  return fromJson(given, readJsonFile(given));
}

export function readJsonFile(file: string): Json {
  try {
    return parseJson(readTextFile(file));
  } catch (error) {
    throw error instanceof CommandError ? error : fileError(file, error);
  }
}
