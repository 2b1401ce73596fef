import { ExpressionError, kindOf, spoken, TooCostly, type Value } from "./values.ts";

export function isTrue(value: Value): boolean {
  if (typeof value === "boolean") return value;
  throw new ExpressionError(`true or false is needed, and this is ${spoken(kindOf(value))}`);
}

/** An error that another side, or another item, may make up for. */
export function canBeMadeUpFor(error: unknown): boolean {
  return error instanceof ExpressionError && !(error instanceof TooCostly);
}
