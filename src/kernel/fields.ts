/**
 * The fields of an object that a caller hands over.
 *
 * H1. A field that nothing reads is refused: a misspelt limit would be no limit. The fault names the field and the nearest
 *     known spelling.
 * H2. Where a field decides who approves, the object is plain data: no prototype, getter, symbol or hidden property can say
 *     something that the check does not see.
 */
import { shown } from "../core/error-text.ts";
import { didYouMean } from "../core/policy/nearest.ts";

/** Made by `{}`, in this realm or another, or without a prototype. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  // The Object.prototype of another realm has methods of its own, no prototype, and nothing that could be taken for a field.
  return (
    typeof prototype === "object" &&
    Object.getPrototypeOf(prototype) === null &&
    Object.hasOwn(prototype, "isPrototypeOf") &&
    Object.keys(prototype).length === 0
  );
}

/** ` has no field "quorom" (did you mean quorum?); there are …`, to follow the name of the object. */
export const noField = (field: PropertyKey, known: readonly string[]): string =>
  ` has no field "${shown(field)}"${didYouMean(String(field), known)}; there are ${known.join(", ")}`;

/** Why an object has a field that nothing reads; undefined when it has none. */
export function fieldFault(what: string, given: object, known: readonly string[]): string | undefined {
  const extra = Object.keys(given).find((field) => !known.includes(field));
  return extra === undefined ? undefined : `${what}${noField(extra, known)}`;
}

/** Why a value is not plain data that has only these fields (H2). */
export function dataFault(what: string, given: unknown, known: readonly string[]): string | undefined {
  if (!isPlainObject(given)) return `${what} is not an object of plain data`;
  for (const key of Reflect.ownKeys(given)) {
    if (typeof key === "symbol" || !known.includes(key)) return `${what}${noField(key, known)}`;
    const property = Object.getOwnPropertyDescriptor(given, key);
    if (property === undefined || !("value" in property))
      return `${what}.${key} is computed by a getter; give its value`;
    if (property.enumerable !== true) return `${what}.${key} is a hidden property; give it as a plain one`;
  }
  return undefined;
}

/** The same where a field that is undefined would be read as one that was left out. */
export function fullDataFault(what: string, given: unknown, known: readonly string[]): string | undefined {
  const fault = dataFault(what, given, known);
  if (fault !== undefined) return fault;
  const [empty] = Object.entries(given as object).find(([, value]) => value === undefined) ?? [];
  return empty === undefined ? undefined : `${what}.${empty} is undefined; leave it out or give a value`;
}
