/**
 * What expressions compute with: JSON as it is, and moments and lengths of time. Numbers are JSON numbers; there is no
 * second kind of them, and none that is not finite.
 *
 * X1. A value is reached by its own keys only; nothing inherited, computed or callable is ever seen.
 */
/** Symbols cannot occur in JSON, so no argument can pass for one of these. */
const MOMENT = Symbol("moment");
const SPAN = Symbol("span");

export type Moment = { readonly kind: typeof MOMENT; readonly ms: number };
export type Span = { readonly kind: typeof SPAN; readonly ms: number };
export type Value = null | boolean | number | string | readonly Value[] | ValueObject | Moment | Span;
export type ValueObject = { readonly [key: string]: Value };

export type Kind = "null" | "bool" | "number" | "string" | "list" | "object" | "moment" | "span";

/** Year 1 to 9999. */
const EARLIEST = -62_135_596_800_000;
const LATEST = 253_402_300_799_999;

export const moment = (ms: number): Moment => {
  if (!(ms >= EARLIEST && ms <= LATEST))
    throw new ExpressionError("the time is not between the years 1 and 9999");
  return { kind: MOMENT, ms };
};
export const span = (ms: number): Span => ({ kind: SPAN, ms: finite(ms) });

/** An expression that cannot be answered. The rule that holds it blocks. */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
}

/** The one error that nothing inside an expression can make up for. */
export class TooCostly extends ExpressionError {}

export function kindOf(value: Value): Kind {
  switch (typeof value) {
    case "string":
      return "string";
    case "number":
      return "number";
    case "boolean":
      return "bool";
    default:
      if (value === null) return "null";
      if (Array.isArray(value)) return "list";
      return timeKind(value as { readonly kind?: unknown });
  }
}

function timeKind(value: { readonly kind?: unknown }): Kind {
  if (value.kind === MOMENT) return "moment";
  return value.kind === SPAN ? "span" : "object";
}

export const isMoment = (value: Value): value is Moment => kindOf(value) === "moment";
export const isSpan = (value: Value): value is Span => kindOf(value) === "span";
export const isList = (value: Value): value is readonly Value[] => Array.isArray(value);
export const isObject = (value: Value): value is ValueObject => kindOf(value) === "object";

const SPOKEN: Readonly<Record<Kind, string>> = {
  null: "null",
  bool: "true or false",
  number: "a number",
  string: "text",
  list: "a list",
  object: "an object",
  moment: "a time",
  span: "a duration",
};
export const spoken = (kind: Kind): string => SPOKEN[kind];

export function finite(number: number): number {
  if (Number.isFinite(number)) return number;
  throw new ExpressionError("the result is not a finite number");
}
