/**
 * Arguments of tools. Turns those of a caller into what is proposed: strict JSON, validated, secrets as handles. Input
 * schemas: synchronous validation and a digest for any Standard Schema library. Also the schemas that the journal
 * keeps: which one a tool had, and which arguments do not match it.
 */

import { canonicalJson, copyJson, digestOf, frozenJson, sha256 } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../kernel/json.ts";
import { didYouMean } from "../kernel/spelling.ts";
import { isSecretHandle, type SecretHandle } from "../kernel/stored-value.ts";
import { actionStream } from "../kernel/stream.ts";
import { displayValue, errorText } from "../kernel/text.ts";
import type { Issue, ToolRules, Validation } from "../policy/rules/tool-rules.ts";
import { ignoreRejection, isThenable } from "../runtime/concurrency.ts";
import { eachRow } from "../runtime/lists.ts";
import { freshId, type Runtime, type RuntimeOpener } from "../runtime/runtime.ts";
import {
  isOwnHandle,
  knownSecrets,
  reservedKey,
  type Secrets,
  validateWithSecrets,
} from "../runtime/secrets.ts";
import { loadArtifact, readState } from "../runtime/store-access.ts";
import type { Tool } from "./tool.ts";

type IssueAtPath = { readonly path: readonly PropertyKey[]; readonly message: string };

/** An issue with the whole value has no path. */
export const issueText = ({ path, message }: IssueAtPath): string =>
  path.length === 0 ? message : `${path.map(String).join(".")}: ${message}`;

export const issuesText = (issues: readonly Issue[]): string => issues.map(issueText).join("; ");

const pathKey = (part: PropertyKey): string | number => (typeof part === "number" ? part : String(part));

/** What does not match. Empty if all matches or the schema cannot be read here: the tool decides in the end. */
export async function findSchemaIssues(schema: Json, args: Json): Promise<readonly Issue[]> {
  try {
    // Imported here because it is rarely needed and loads more slowly than everything else together.
    const { z } = await import("zod");
    const parsed = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(args);
    const found = parsed.success ? [] : parsed.error.issues;
    return found.map(({ path, message }) => ({ path: path.map(pathKey), message }));
  } catch {
    return [];
  }
}

const MOST_LOOKED_AT = 20_000;

/** JSON Schema of a tool's arguments. null: its schema library could not express it. */
export async function argumentsSchema(runtime: Runtime, digest: string): Promise<JsonObject | null> {
  const own = [...runtime.tools.values()].find(({ rules }) => rules.schemaDigest === digest);
  const text = own?.rules.schemaText;
  if (typeof text === "string") return JSON.parse(text) as JsonObject;
  const bytes = await runtime.store.artifact(runtime.tenant, digest);
  const kept = bytes === undefined ? null : await loadArtifact(runtime, digest);
  return isJsonObject(kept) ? kept : null;
}

/** Schema of a tool that this process declares, or of the last action that was proposed with it. */
export async function schemaDigest(runtime: Runtime, tool: string): Promise<string> {
  const own = runtime.tools.get(tool);
  if (own !== undefined) return own.rules.schemaDigest;
  const others = new Set<string>();
  let seen = 0;
  for await (const { data, stream } of eachRow(runtime, { view: "actions", order: "newest" })) {
    const state = data["tool"] === tool ? await readState(runtime, actionStream(stream.id)) : undefined;
    if (state !== undefined && state.phase !== "none") return state.schema;
    others.add(String(data["tool"]));
    if (++seen === MOST_LOOKED_AT) break;
  }
  throw new HoldpointError(
    "unknown_tool",
    `No action of the tool "${displayValue(tool)}" was found here${didYouMean(tool, others)}.`,
    {
      next: "Check the name, give the grant in a program that declares the tool, or wait until it is first called.",
    },
  );
}

type SchemaIssue = {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
};
type SchemaOutcome<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** The part of https://standardschema.dev that is used here. `jsonSchema` is its optional companion. */
export type InputSchema<Output> = {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaOutcome<Output> | Promise<SchemaOutcome<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
      readonly output?: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
    };
  };
};

const MOST_ISSUES = 5;

const issueOf = ({ path = [], message }: SchemaIssue): Issue => ({
  path: path.map((part) => pathKey(typeof part === "object" ? part.key : part)),
  message: String(message),
});

function shortIssuesText(issues: readonly Issue[]): string {
  const shown = issues.slice(0, MOST_ISSUES).map(issueText);
  const more = issues.length > MOST_ISSUES ? ` (and ${issues.length - MOST_ISSUES} more)` : "";
  return shown.join("; ") + more;
}

/** A schema that throws, or returns something other than an outcome, has accepted nothing. */
function validateWith(schema: InputSchema<unknown>, args: Json): Validation {
  let outcome: unknown;
  try {
    outcome = ignoreRejection(schema["~standard"].validate(copyJson(args)));
  } catch (error) {
    return { ok: false, issues: `the schema failed: ${errorText(error)}` };
  }
  if (isThenable(outcome))
    throw new HoldpointError("async_schema", "The tool's input schema validates asynchronously.");
  try {
    return readOutcome(outcome as SchemaOutcome<unknown>);
  } catch (error) {
    return { ok: false, issues: `the schema's output is not JSON: ${errorText(error)}` };
  }
}

function readOutcome(outcome: SchemaOutcome<unknown>): Validation {
  if (outcome.issues !== undefined) {
    const each = outcome.issues.map(issueOf);
    return { ok: false, issues: shortIssuesText(each), each };
  }
  return { ok: true, value: copyJson(outcome.value) };
}

/** null: JSON Schema cannot express it. Then the author's `version` has to distinguish one schema from the next. */
function jsonSchemaText(schema: InputSchema<unknown>): string | null {
  try {
    const json = schema["~standard"].jsonSchema?.input({ target: "draft-2020-12" });
    return json === undefined ? null : canonicalJson(json);
  } catch {
    return null;
  }
}

/** JSON Schema of what validation returns, which is what tools get. null: not known. */
export function argsSchema(schema: InputSchema<unknown> | undefined): Json {
  try {
    return copyJson(schema?.["~standard"].jsonSchema?.output?.({ target: "draft-2020-12" }) ?? null);
  } catch {
    return null;
  }
}

export function schemaRules(
  schema: InputSchema<unknown> | undefined,
  version: string | undefined,
): Pick<ToolRules, "validate" | "schemaDigest" | "schemaText"> {
  if (schema === undefined)
    return {
      validate: (args) => ({ ok: true, value: args }),
      schemaDigest: digestOf({ version: version ?? null }),
      schemaText: null,
    };
  const standard = (schema as InputSchema<unknown> | null)?.["~standard"];
  if (typeof standard?.validate !== "function")
    throw new HoldpointError("invalid_input", "The tool's input is not a Standard Schema.");
  const text = version === undefined ? jsonSchemaText(schema) : null;
  const schemaDigest =
    text === null
      ? digestOf({ vendor: standard.vendor, version: version ?? null, json: jsonSchemaText(schema) })
      : sha256(text);
  return { validate: (args) => validateWith(schema, args), schemaDigest, schemaText: text };
}

/** Stores a value as an encrypted row and returns its handle. */
export async function putSecret(open: RuntimeOpener, value: string): Promise<SecretHandle> {
  if (typeof value !== "string" || value === "")
    throw new HoldpointError("invalid_input", "A secret is a text that is not empty.");
  const runtime = await open();
  return runtime.secrets.put(freshId(runtime, "sec"), value);
}

const LARGEST_BYTES = 8 * 1024 * 1024;

function reserved(key: string): HoldpointError {
  const what = `The key "${key}" cannot be used in arguments.`;
  const next = "A secret's handle is made by secret() or putSecret(); JSON that looks like one is not taken.";
  return new HoldpointError("reserved_key", what, key.startsWith("$secret") ? { next } : {});
}

/**
 * A frozen copy of the value, with nothing in it that the journal cannot keep. `allowed`: handles that it may contain
 * although this program did not make them, because the action already holds them.
 */
export function plainJson(given: unknown, allowed: ReadonlySet<string> = new Set()): Json {
  const value = frozenJson(given ?? {});
  const bytes = Buffer.byteLength(canonicalJson(value));
  if (bytes > LARGEST_BYTES) {
    throw new HoldpointError(
      "payload_too_large",
      `The arguments have ${bytes} bytes; at most ${LARGEST_BYTES} are taken.`,
    );
  }
  // Canonical JSON succeeded, so there are no cycles and no getters.
  const key = reservedKey(given, allowed);
  if (key !== undefined) throw reserved(key);
  return value;
}

function withMade(copy: Json, given: unknown): Json {
  if (isSecretHandle(given) && isOwnHandle(given)) return given;
  if (Array.isArray(copy) && Array.isArray(given))
    return copy.map((part: Json, index) => withMade(part, given[index]));
  if (!isJsonObject(copy) || !isJsonObject(given)) return copy;
  return Object.fromEntries(Object.entries(copy).map(([key, part]) => [key, withMade(part, given[key])]));
}

/** Copies an edit. Handles made by this program stay handles; no other value passes for one. */
export const copyEdit = (given: unknown): Json => withMade(copyJson(given ?? {}), given);

export type PreparedArgs = { readonly args: Json; readonly known: ReadonlyMap<string, string> };

/** Validates arguments that have already been copied. */
export async function prepareArgs(tool: Tool, args: Json, secrets: Secrets): Promise<PreparedArgs> {
  const known = knownSecrets(secrets);
  await known.load(args);
  const valid = validateWithSecrets(tool.rules.validate, args, known);
  if (valid.ok) return { args: frozenJson(valid.value), known: known.values };
  throw new HoldpointError(
    "invalid_args",
    `The arguments do not fit the tool "${tool.rules.name}": ${valid.issues}.`,
  );
}
