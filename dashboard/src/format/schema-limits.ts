/** What a JSON Schema says of how large a value may be, as people would say it. */
import { several } from "./amounts.ts";
import { fieldOf, type Json } from "./json.ts";

const LIMITS: readonly (readonly [string, (limit: number) => string])[] = [
  ["minimum", (limit) => `at least ${limit}`],
  ["exclusiveMinimum", (limit) => `more than ${limit}`],
  ["maximum", (limit) => `at most ${limit}`],
  ["exclusiveMaximum", (limit) => `less than ${limit}`],
  ["maxLength", (limit) => `at most ${several(limit, "character")}`],
];

export function limitsText(schema: Json): string {
  const limits = LIMITS.flatMap(([name, words]) => {
    const limit = fieldOf(schema, name);
    // What every whole number is below says nothing.
    return typeof limit === "number" && Math.abs(limit) < Number.MAX_SAFE_INTEGER ? [words(limit)] : [];
  });
  return limits.join(", ");
}
