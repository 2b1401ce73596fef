/** Equal as data: by their own keys, in any order. Paid for as it goes. */
import { type Meter, spend, spendKeys, spendText } from "./meter.ts";
import { isList, isObject, kindOf, type Moment, type Value, type ValueObject } from "./values.ts";

function equalLists(a: readonly Value[], b: readonly Value[], meter: Meter): boolean {
  return a.length === b.length && a.every((part, index) => equal(part, b[index] ?? null, meter));
}

function equalObjects(a: ValueObject, b: ValueObject, meter: Meter): boolean {
  const keys = Object.keys(a);
  spendKeys(meter, keys.length);
  const others = Object.keys(b).length;
  spendKeys(meter, others);
  if (keys.length !== others) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equal(a[key] ?? null, b[key] ?? null, meter));
}

export function equal(a: Value, b: Value, meter: Meter): boolean {
  spend(meter, 1);
  if (typeof a === "string" && typeof b === "string") {
    if (a.length !== b.length) return false;
    spendText(meter, a.length);
    return a === b;
  }
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  const kind = kindOf(a);
  if (kind !== kindOf(b)) return false;
  if (isList(a) && isList(b)) return equalLists(a, b, meter);
  if (isObject(a) && isObject(b)) return equalObjects(a, b, meter);
  return (a as Moment).ms === (b as Moment).ms;
}
