/** A form out of a JSON Schema: which control each field gets. What has none is written as JSON. */
import { LONG_LINE } from "./box-text.ts";
import { fieldOf, isList, isObject, isSame, type Json, type JsonObject, type Path } from "./json.ts";
import { branchesOf, nullableOf, type Variants, variantsOf } from "./schema-parts.ts";

export type Control =
  | { readonly kind: "text"; readonly isLong: boolean }
  | { readonly kind: "number"; readonly isWhole: boolean }
  | { readonly kind: "flag" }
  | { readonly kind: "choice"; readonly options: readonly Json[] }
  | { readonly kind: "group"; readonly fields: readonly Field[] }
  | { readonly kind: "list"; readonly item: Json }
  /** Any names, each with such a value. */
  | { readonly kind: "record"; readonly item: Json }
  /** Such a value, or nothing. */
  | { readonly kind: "maybe"; readonly of: Json }
  | ({ readonly kind: "variants" } & Variants)
  | { readonly kind: "json" };

export type Field = {
  readonly name: string;
  readonly schema: Json;
  readonly isNeeded: boolean;
};

function optionsOf(schema: Json): readonly Json[] | undefined {
  const options = fieldOf(schema, "enum");
  if (isList(options)) return options;
  const constants = branchesOf(schema)?.map((branch) => fieldOf(branch, "const"));
  return constants?.every((one): one is Json => one !== undefined) ? constants : undefined;
}

function groupOf(schema: Json): Control {
  const properties = fieldOf(schema, "properties");
  if (!isObject(properties)) return recordOf(schema);
  const needed = fieldOf(schema, "required");
  const fields = Object.entries(properties).map(([name, of]) => ({
    name,
    schema: of,
    isNeeded: isList(needed) && needed.includes(name),
  }));
  return { kind: "group", fields };
}

function recordOf(schema: Json): Control {
  const item = fieldOf(schema, "additionalProperties");
  return isObject(item) ? { kind: "record", item } : { kind: "json" };
}

function listOf(schema: Json): Control {
  const item = fieldOf(schema, "items");
  return isObject(item) ? { kind: "list", item } : { kind: "json" };
}

function byType(schema: Json, value: Json | undefined): Control {
  switch (fieldOf(schema, "type")) {
    case "string":
      return { kind: "text", isLong: isLongText(value) };
    case "number":
      return { kind: "number", isWhole: false };
    case "integer":
      return { kind: "number", isWhole: true };
    case "boolean":
      return { kind: "flag" };
    case "object":
      return groupOf(schema);
    case "array":
      return listOf(schema);
    default:
      return { kind: "json" };
  }
}

const isLongText = (value: Json | undefined): boolean =>
  typeof value === "string" && (value.length > LONG_LINE || value.includes("\n"));

/** Whether a value can be shown in its control without losing anything of it. */
function holds(control: Control, value: Json | undefined, root: Json): boolean {
  if (value === undefined) return true;
  switch (control.kind) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number" || typeof value === "string";
    case "flag":
      return typeof value === "boolean";
    case "choice":
      return control.options.some((option) => isSame(option, value));
    case "group":
      return isPlainObject(value) && hasNoOther(value, control.fields);
    case "list":
      return isList(value);
    case "record":
      return isPlainObject(value);
    case "variants": {
      const chosen = control.options.find(({ is }) => isSame(is, fieldOf(value, control.by)));
      return chosen !== undefined && controlOf(chosen.schema, value, root).kind === "group";
    }
    case "maybe":
    case "json":
      return true;
  }
}

const isPlainObject = (value: Json): value is JsonObject =>
  isObject(value) && !("$secret" in value || "$artifact" in value);
const hasNoOther = (value: JsonObject, fields: readonly Field[]): boolean =>
  Object.keys(value).every((name) => fields.some((field) => field.name === name));

/** What is written as JSON in any case has its nothing there too. */
function maybeOf(schema: Json, root: Json): Control | undefined {
  const of = nullableOf(schema);
  const isKnown = of !== undefined && controlOf(of, undefined, root).kind !== "json";
  return isKnown ? { kind: "maybe", of } : undefined;
}

function ofSchema(schema: Json, value: Json | undefined, root: Json): Control {
  const options = optionsOf(schema);
  if (options !== undefined) return { kind: "choice", options };
  const maybe = maybeOf(schema, root);
  if (maybe !== undefined) return maybe;
  const variants = variantsOf(schema, root);
  return variants === undefined ? byType(schema, value) : { kind: "variants", ...variants };
}

/**
 * A value that does not fit its control is written as JSON, so that nothing of it is out of sight. `root` is the whole schema, where
 * parts of it are pointed to.
 */
export function controlOf(schema: Json, value: Json | undefined, root: Json = schema): Control {
  const control = ofSchema(schema, value, root);
  return holds(control, value, root) ? control : { kind: "json" };
}

/** A schema may be made of itself. */
const MOST_LEVELS = 8;

/** What a new value begins with. */
export function firstValue(schema: Json, root: Json = schema, levels = MOST_LEVELS): Json {
  for (const name of ["default", "const"]) {
    const given = fieldOf(schema, name);
    if (given !== undefined) return given;
  }
  const control = levels === 0 ? ({ kind: "json" } as const) : controlOf(schema, undefined, root);
  switch (control.kind) {
    case "text":
      return "";
    case "number":
      return 0;
    case "flag":
      return false;
    case "choice":
      return control.options[0] ?? null;
    case "group":
      return Object.fromEntries(
        control.fields
          .filter(({ isNeeded }) => isNeeded)
          .map(({ name, schema: of }) => [name, firstValue(of, root, levels - 1)]),
      );
    case "list":
      return [];
    case "record":
      return {};
    case "variants":
      return firstValue(control.options[0]?.schema ?? null, root, levels - 1);
    case "maybe":
    case "json":
      return null;
  }
}

/** A value of another kind: what both kinds have alike stays as it was written. */
export function turnedInto(value: Json, from: Json, to: Json, root: Json): Json {
  const [old, fresh] = [fieldOf(from, "properties"), fieldOf(to, "properties")];
  const kept = Object.entries(isObject(value) ? value : {}).filter(
    ([name]) => fieldOf(fresh, name) !== undefined && isSame(fieldOf(old, name), fieldOf(fresh, name)),
  );
  const begun = firstValue(to, root);
  return isObject(begun) ? { ...begun, ...Object.fromEntries(kept) } : begun;
}

export type Issue = { readonly path: Path; readonly message: string };

/** What is wrong with exactly this place. */
export const issueAt = (issues: readonly Issue[], path: Path): string | undefined =>
  issues.find(
    (issue) => issue.path.length === path.length && issue.path.every((step, at) => step === path[at]),
  )?.message;
