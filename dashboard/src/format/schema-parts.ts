/** What a JSON Schema is put together from: what it points to, a value that may be nothing, and kinds that a constant tells apart. */
import { fieldOf, isList, isObject, isSame, type Json } from "./json.ts";

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

export const branchesOf = (schema: Json): readonly Json[] | undefined => {
  const branches = fieldOf(schema, "anyOf") ?? fieldOf(schema, "oneOf");
  return isList(branches) && branches.length > 0 ? branches : undefined;
};

const isNull = (schema: Json): boolean => isSame(fieldOf(schema, "type"), "null");

/** What is said of the whole is said of what is left of it. */
function besides(schema: Json, left: readonly Json[]): Json | undefined {
  const [only, ...more] = left;
  if (only === undefined) return undefined;
  const description = fieldOf(schema, "description");
  const said = description === undefined ? {} : { description };
  if (more.length > 0) return { ...said, anyOf: left };
  return isObject(only) ? { ...said, ...only } : only;
}

/** The schema of the value where there is one; undefined where it may not be nothing. */
export function nullableOf(schema: Json): Json | undefined {
  const types = fieldOf(schema, "type");
  if (isObject(schema) && isList(types) && types.includes("null") && types.length > 1) {
    const others = types.filter((type) => type !== "null");
    return { ...schema, type: others.length === 1 ? (others[0] ?? null) : others };
  }
  const branches = branchesOf(schema);
  const left = branches?.filter((branch) => !isNull(branch));
  return left === undefined || left.length === branches?.length ? undefined : besides(schema, left);
}

export type Variant = { readonly is: Json; readonly schema: Json };
export type Variants = { readonly by: string; readonly options: readonly Variant[] };

const constantOf = (schema: Json, name: string): Json | undefined => {
  const needed = fieldOf(schema, "required");
  const isNeeded = isList(needed) && needed.includes(name);
  return isNeeded ? fieldOf(fieldOf(fieldOf(schema, "properties"), name), "const") : undefined;
};

function toldBy(name: string, branches: readonly Json[]): Variants | undefined {
  const options = branches.flatMap((schema) => {
    const is = constantOf(schema, name);
    return is === undefined ? [] : [{ is, schema }];
  });
  const isClear = options.every(({ is }, at) => options.findIndex((one) => isSame(one.is, is)) === at);
  return options.length === branches.length && isClear ? { by: name, options } : undefined;
}

/** Objects of several kinds, where one field that all of them have is a constant of its own in each. */
export function variantsOf(schema: Json, root: Json): Variants | undefined {
  const branches = branchesOf(schema)?.map((branch) => resolved(branch, root));
  if (branches === undefined || branches.length < 2) return undefined;
  const names = Object.keys(fieldOf(branches[0], "properties") ?? {});
  return names.map((name) => toldBy(name, branches)).find((found) => found !== undefined);
}
