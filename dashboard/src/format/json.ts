/** JSON as it comes from the server, told apart and compared. */
import type { Json, JsonObject } from "../../../src/kernel/json.ts";

export type { Json, JsonObject };
export type Path = readonly (string | number)[];

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const isList = (value: unknown): value is readonly Json[] => Array.isArray(value);

/** A field of something that may be no object; what every object has by nature is none of its fields. */
export const fieldOf = (value: unknown, name: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
export const textIn = (value: unknown, name: string): string | undefined => {
  const found = fieldOf(value, name);
  return typeof found === "string" ? found : undefined;
};

/** Whether two values say the same, whatever the order of their fields. */
export function isSame(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true;
  if (isList(one) && isList(other))
    return one.length === other.length && one.every((item, at) => isSame(item, other[at]));
  if (!isObject(one) || !isObject(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  );
}

/** A name that holds a dot, a bracket or the like is quoted: `a."b.c"` is not `a.b.c`. */
const stepText = (name: string): string =>
  /^[\p{L}\p{N}_$-]+( [\p{L}\p{N}_$-]+)*$/u.test(name) ? name : JSON.stringify(name);

/** `lines[2].text`, as people write where something stands. */
export const pathText = (path: Path): string =>
  path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step + 1}]`;
    return text === "" ? stepText(step) : `${text}.${stepText(step)}`;
  }, "");

/** What stands in an answer as "any JSON". */
export const jsonOf = (value: unknown): Json => (value === undefined ? null : (value as Json));
