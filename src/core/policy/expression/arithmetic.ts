/** Sums, differences and order, of numbers, text, lists and times. */
import { type Meter, payForList, payForText, spendText } from "./meter.ts";
import type { Arithmetic } from "./syntax.ts";
import {
  ExpressionError,
  finite,
  isList,
  isMoment,
  isSpan,
  kindOf,
  moment,
  span,
  spoken,
  type Value,
} from "./values.ts";

function unfit(op: string, a: Value, b: Value): never {
  throw new ExpressionError(`${spoken(kindOf(a))} ${op} ${spoken(kindOf(b))} is nothing`);
}

export function add(a: Value, b: Value, meter: Meter): Value {
  if (typeof a === "number" && typeof b === "number") return finite(a + b);
  if (typeof a === "string" && typeof b === "string") {
    payForText(meter, a.length + b.length);
    return a + b;
  }
  if (isList(a) && isList(b)) {
    payForList(meter, a.length + b.length);
    return [...a, ...b];
  }
  if (isSpan(a) && isSpan(b)) return span(a.ms + b.ms);
  if (isMoment(a) && isSpan(b)) return moment(a.ms + b.ms);
  return isSpan(a) && isMoment(b) ? moment(a.ms + b.ms) : unfit("+", a, b);
}

export function subtract(a: Value, b: Value): Value {
  if (typeof a === "number" && typeof b === "number") return finite(a - b);
  if (isMoment(a) && isSpan(b)) return moment(a.ms - b.ms);
  if ((isMoment(a) && isMoment(b)) || (isSpan(a) && isSpan(b))) return span(a.ms - b.ms);
  return unfit("-", a, b);
}

export function arithmetic(op: Arithmetic, a: Value, b: Value): number {
  if (typeof a !== "number" || typeof b !== "number") return unfit(op, a, b);
  if (op === "*") return a * b;
  if (b === 0) throw new ExpressionError("division by zero");
  // What is left of a negative number may be -0, which JSON does not know.
  return op === "/" ? a / b : (a % b) + 0;
}

/** Below, at or above zero. Text is ordered by its UTF-16 units. */
export function ordered(a: Value, b: Value, meter: Meter): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") {
    spendText(meter, Math.min(a.length, b.length));
    if (a === b) return 0;
    return a < b ? -1 : 1;
  }
  if ((isMoment(a) && isMoment(b)) || (isSpan(a) && isSpan(b))) return a.ms - b.ms;
  return unfit("and", a, b);
}
