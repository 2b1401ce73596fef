/**
 * The expressions of a standing grant: which arguments it covers, and what one use of it comes to. They are CEL over
 * `args`, as an action would run with them; secrets are handles there.
 *
 * X1. What cannot be evaluated covers nothing: an error is never a yes.
 */
import type { Json, JsonObject } from "../json.ts";
import { overArguments } from "../policy/expression.ts";

type Wanted = "bool" | "number";

function fault(text: string, wants: Wanted, schema: JsonObject | null): string | undefined {
  const checked = overArguments(text, wants, schema);
  const [first] = checked.ok ? [] : checked.flaws;
  return first === undefined ? undefined : `${first.message}, at character ${first.at + 1}`;
}

/** Why a text cannot be the `when` of a grant for a tool with this schema, as far as it is known; undefined when it can. */
export const whenFault = (text: string, schema: JsonObject | null): string | undefined =>
  fault(text, "bool", schema);

/** The same for its `amount`. */
export const amountFault = (text: string, schema: JsonObject | null): string | undefined =>
  fault(text, "number", schema);

function evaluate(text: string, wants: Wanted, args: Json): Json | undefined {
  const checked = overArguments(text, wants, null);
  if (!checked.ok) return undefined;
  try {
    return checked.evaluate(args);
  } catch {
    return undefined;
  }
}

export function holds(when: string | null, args: Json): boolean {
  return when === null || evaluate(when, "bool", args) === true;
}

const DECIMAL = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;
const MICRO_DIGITS = 6;

/** A number of units in micros, rounded up: what is shown as 0.1 is 100000 of them. */
function microsOf(units: number): bigint | undefined {
  const [, whole, rest = "", exponent = "0"] = DECIMAL.exec(String(units)) ?? [];
  if (whole === undefined) return undefined;
  const shift = Number(exponent) + MICRO_DIGITS - rest.length;
  const digits = BigInt(whole + rest);
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const unit = 10n ** BigInt(-shift);
  return (digits + unit - 1n) / unit;
}

/** What one use comes to; undefined where that cannot be said. */
export function amountIn(amount: string, args: Json): bigint | undefined {
  const units = evaluate(amount, "number", args);
  return typeof units === "number" ? microsOf(units) : undefined;
}
