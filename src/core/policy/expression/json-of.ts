/** As JSON that can be stored; a time has to be turned into text first. Paid for as it goes. */
import type { Json } from "../../../kernel/json.ts";
import { type Meter, spend, spendKeys } from "./meter.ts";
import {
  ExpressionError,
  isList,
  isMoment,
  isSpan,
  kindOf,
  spoken,
  type Value,
  type ValueObject,
} from "./values.ts";

export function jsonOf(value: Value, meter: Meter): Json {
  if (isMoment(value) || isSpan(value))
    throw new ExpressionError(`${spoken(kindOf(value))} is not JSON; use string(…)`);
  spend(meter, 1);
  if (isList(value)) return value.map((part) => jsonOf(part, meter));
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value as ValueObject);
  spendKeys(meter, 2 * entries.length);
  return Object.fromEntries(entries.map(([key, part]) => [key, jsonOf(part, meter)]));
}
