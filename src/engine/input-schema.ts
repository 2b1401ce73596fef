/** A tool's input schema, by any library that speaks Standard Schema, as synchronous validation and a digest. */

import { canonicalJson, copyJson, digestOf, sha256 } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { errorText } from "../kernel/text.ts";
import type { Issue, ToolRules, Validation } from "../policy/rules/tool-rules.ts";
import { ignoreRejection, isThenable } from "../runtime/concurrency.ts";
import { issueText } from "./stored-schema.ts";

type Reported = {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
};
type Outcome<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Reported[] };

/** The part of https://standardschema.dev that is used here; `jsonSchema` is its optional companion. */
export type InputSchema<Output> = {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Outcome<Output> | Promise<Outcome<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
    };
  };
};

const MOST_ISSUES = 5;

const keyOf = (part: PropertyKey): string | number => (typeof part === "number" ? part : String(part));

const issueOf = ({ path = [], message }: Reported): Issue => ({
  path: path.map((part) => keyOf(typeof part === "object" ? part.key : part)),
  message: String(message),
});

function issuesText(issues: readonly Issue[]): string {
  const shown = issues.slice(0, MOST_ISSUES).map(issueText);
  const more = issues.length > MOST_ISSUES ? ` (and ${issues.length - MOST_ISSUES} more)` : "";
  return shown.join("; ") + more;
}

/** A schema that throws, or answers something that is not an outcome, has not let anything through. */
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
    return read(outcome as Outcome<unknown>);
  } catch (error) {
    return { ok: false, issues: `the schema's output is not JSON: ${errorText(error)}` };
  }
}

function read(outcome: Outcome<unknown>): Validation {
  if (outcome.issues !== undefined) {
    const each = outcome.issues.map(issueOf);
    return { ok: false, issues: issuesText(each), each };
  }
  return { ok: true, value: copyJson(outcome.value) };
}

/** Not every schema can be said in JSON Schema: then its author's `version` has to tell one from the next. */
function textOf(schema: InputSchema<unknown>): string | null {
  try {
    const json = schema["~standard"].jsonSchema?.input({ target: "draft-2020-12" });
    return json === undefined ? null : canonicalJson(json);
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
  const text = version === undefined ? textOf(schema) : null;
  const schemaDigest =
    text === null
      ? digestOf({ vendor: standard.vendor, version: version ?? null, json: textOf(schema) })
      : sha256(text);
  return { validate: (args) => validateWith(schema, args), schemaDigest, schemaText: text };
}
