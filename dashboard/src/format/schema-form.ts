/** A form out of a JSON Schema: which control each field gets. What has none is written as JSON. */
import { LONG_LINE } from "./box-text.ts";
import { fieldOf, isList, isObject, isSame, type Json, type JsonObject, type Path } from "./json.ts";

export type Control =
  | { readonly kind: "text"; readonly isLong: boolean }
  | { readonly kind: "number"; readonly isWhole: boolean }
  | { readonly kind: "flag" }
  | { readonly kind: "choice"; readonly options: readonly Json[] }
  | { readonly kind: "group"; readonly fields: readonly Field[] }
  | { readonly kind: "list"; readonly item: Json }
  | { readonly kind: "json" };

export type Field = {
  readonly name: string;
  readonly schema: Json;
  readonly isNeeded: boolean;
};

const MOST_HOPS = 8;

/** Where a schema only points into its own definitions, what it points to. */
export function resolved(schema: Json, root: Json, hops = MOST_HOPS): Json {
  const ref = fieldOf(schema, "$ref");
  if (typeof ref !== "string" || !ref.startsWith("#/") || hops === 0) return schema;
  const steps = ref
    .slice(2)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const found = steps.reduce<Json | undefined>((at, step) => fieldOf(at, step), root);
  return found === undefined ? schema : resolved(found, root, hops - 1);
}

function optionsOf(schema: Json): readonly Json[] | undefined {
  const options = fieldOf(schema, "enum");
  if (isList(options)) return options;
  const branches = fieldOf(schema, "anyOf") ?? fieldOf(schema, "oneOf");
  if (!isList(branches) || branches.length === 0) return undefined;
  const constants = branches.map((branch) => fieldOf(branch, "const"));
  return constants.every((one): one is Json => one !== undefined) ? constants : undefined;
}

function groupOf(schema: Json): Control {
  const properties = fieldOf(schema, "properties");
  if (!isObject(properties)) return { kind: "json" };
  const needed = fieldOf(schema, "required");
  const fields = Object.entries(properties).map(([name, of]) => ({
    name,
    schema: of,
    isNeeded: isList(needed) && needed.includes(name),
  }));
  return { kind: "group", fields };
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
function holds({ kind, ...control }: Control, value: Json | undefined): boolean {
  if (value === undefined) return true;
  switch (kind) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number" || typeof value === "string";
    case "flag":
      return typeof value === "boolean";
    case "choice":
      return "options" in control && control.options.some((option) => isSame(option, value));
    case "group":
      return isObject(value) && "fields" in control && hasNoOther(value, control.fields);
    case "list":
      return isList(value);
    case "json":
      return true;
  }
}

const hasNoOther = (value: JsonObject, fields: readonly Field[]): boolean =>
  !("$secret" in value || "$artifact" in value) &&
  Object.keys(value).every((name) => fields.some((field) => field.name === name));

/** A value that does not fit its control is written as JSON, so that nothing of it is out of sight. */
export function controlOf(schema: Json, value: Json | undefined): Control {
  const options = optionsOf(schema);
  const control: Control = options === undefined ? byType(schema, value) : { kind: "choice", options };
  return holds(control, value) ? control : { kind: "json" };
}

/** What a new value begins with. */
export function firstValue(schema: Json): Json {
  const given = fieldOf(schema, "default");
  if (given !== undefined) return given;
  const control = controlOf(schema, undefined);
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
          .map(({ name, schema: of }) => [name, firstValue(of)]),
      );
    case "list":
      return [];
    case "json":
      return null;
  }
}

/** Where nobody gave a schema: one that fits what is there. */
export function schemaOf(value: Json): Json {
  if (typeof value === "string") return { type: "string" };
  if (typeof value === "number") return { type: "number" };
  if (typeof value === "boolean") return { type: "boolean" };
  if (!isObject(value) || "$secret" in value || "$artifact" in value) return {};
  const properties = Object.fromEntries(Object.entries(value).map(([name, of]) => [name, schemaOf(of)]));
  return { type: "object", properties, required: Object.keys(value) };
}

export type Issue = { readonly path: Path; readonly message: string };

/** What is wrong with exactly this place. */
export const issueAt = (issues: readonly Issue[], path: Path): string | undefined =>
  issues.find(
    (issue) => issue.path.length === path.length && issue.path.every((step, at) => step === path[at]),
  )?.message;
