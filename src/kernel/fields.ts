/**
 * Checks of objects and values that a caller passes in, made before anything is read. A field that no code reads is
 * refused, because a misspelt limit would be no limit. The error names the field and the nearest known one. If a field
 * decides who approves, the object must be plain data: a prototype, getter, symbol or hidden property could hold a
 * value that the check does not see.
 */
import { HoldpointError } from "./errors.ts";
import { didYouMean } from "./spelling.ts";
import { displayValue } from "./text.ts";

/** Made by `{}` in this or another realm, or without a prototype. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  // The Object.prototype of another realm has its own methods, no prototype and no enumerable property.
  return (
    typeof prototype === "object" &&
    Object.getPrototypeOf(prototype) === null &&
    Object.hasOwn(prototype, "isPrototypeOf") &&
    Object.keys(prototype).length === 0
  );
}

/** ` has no field "quorom" (did you mean quorum?); there are …`, to follow the object's name. */
export const noField = (field: PropertyKey, known: readonly string[]): string =>
  ` has no field "${displayValue(field)}"${didYouMean(String(field), known)}; there are ${known.join(", ")}`;

/** The message about an unknown field; undefined if there is none. */
export function fieldFault(what: string, given: object, known: readonly string[]): string | undefined {
  const extra = Object.keys(given).find((field) => !known.includes(field));
  return extra === undefined ? undefined : `${what}${noField(extra, known)}`;
}

/** Why a value is not plain data with only these fields. */
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

/** Also refuses a field that is undefined, for callers that would read it as left out. */
export function fullDataFault(what: string, given: unknown, known: readonly string[]): string | undefined {
  const fault = dataFault(what, given, known);
  if (fault !== undefined) return fault;
  const [empty] = Object.entries(given as object).find(([, value]) => value === undefined) ?? [];
  return empty === undefined ? undefined : `${what}.${empty} is undefined; leave it out or give a value`;
}

/** Reports misuse, before anything is read. */
export function rejectInput(what: string): never {
  throw new HoldpointError("invalid_input", what);
}

/** Requires an object without unknown fields: a misspelt one would be ignored silently. */
export function checkFields<Given>(what: string, given: Given, fields: readonly string[]): Given {
  if (!isPlainObject(given)) return rejectInput(`${what} is an object: { ${fields.join(", ")} }.`);
  const fault = fieldFault(what, given, fields);
  return fault === undefined ? given : rejectInput(`${fault}.`);
}

/** A check of one value, and the end of the sentence that says what the value is: `is a list`. */
export type ValueCheck = { readonly isRight: (value: unknown) => boolean; readonly what: string };

export const checkNothing: ValueCheck = { isRight: () => true, what: "" };

export const oneOfCheck = (list: readonly string[]): ValueCheck => ({
  isRight: (value) => list.some((one) => one === value),
  what: `is one of ${list.join(", ")}`,
});

export const functionCheck: ValueCheck = {
  isRight: (value) => typeof value === "function",
  what: "is a function",
};

export function checkId(what: string, id: unknown): string {
  if (typeof id === "string" && id !== "" && id.length <= 600 && id.isWellFormed()) return id;
  return rejectInput(`${what} is named by a text that is not empty.`);
}

export function checkSignal(signal: unknown): void {
  if (!(signal instanceof AbortSignal)) rejectInput("Following takes an AbortSignal, which ends it.");
}

export function checkListener(progress: unknown): void {
  if (progress !== undefined && typeof progress !== "function")
    rejectInput("Progress is told to a function.");
}

export function checkRationale(rationale: unknown): void {
  if (rationale === undefined) return;
  if (typeof rationale !== "string" || rationale.length > 10_000 || !rationale.isWellFormed())
    rejectInput("A rationale is a text of at most 10000 characters.");
}

type Explained = { readonly says: string | null };
/** A state for users: the agent's explanation, `says` in the journal, is called `rationale`. */
export type WithRationale<State extends Explained> = State extends Explained
  ? Omit<State, "says"> & { readonly rationale: string | null }
  : never;

export function withRationale<State extends Explained>({ says, ...state }: State): WithRationale<State> {
  return { ...state, rationale: says } as unknown as WithRationale<State>;
}
