/**
 * How much of a value with very many parts is shown in its readable form: so many parts in all, however deep they lie. The
 * others are shown as JSON.
 *
 * A1. Never more parts than were given, whatever the value is.
 * A2. What is small is shown whole; what is large shares what is left, so that no part takes the place of all others.
 */
import { isObject, type Json } from "./json.ts";

/** Of something that is too large, less than this says nothing. */
const LEAST = 8;

const sizes = new WeakMap<object, number>();

function countOf(value: object): number {
  const parts: readonly Json[] = Array.isArray(value) ? value : Object.values(value);
  return parts.reduce<number>((sum, part) => sum + sizeOf(part), 1);
}

/** A value never changes: its parts are counted once. */
export function sizeOf(value: Json): number {
  if (!Array.isArray(value) && !isObject(value)) return 1;
  const size = sizes.get(value) ?? countOf(value);
  sizes.set(value, size);
  return size;
}

/** How many of the first may be shown at all. */
function shownOf(items: readonly number[], share: number): number {
  let needed = 0;
  const last = items.findIndex((size) => {
    needed += Math.min(size, LEAST);
    return needed > share;
  });
  return last === -1 ? items.length : Math.max(1, last);
}

/** The parts that each of the first may have; none for those after them. */
export function allotted(items: readonly number[], share: number): readonly number[] {
  const shown = items.slice(0, shownOf(items, share));
  const smallest = shown.map((_, at) => at).sort((one, other) => (shown[one] ?? 0) - (shown[other] ?? 0));
  const shares = shown.map(() => 0);
  let left = share;
  for (const [done, at] of smallest.entries()) {
    const fair = Math.floor(left / (shown.length - done));
    const own = Math.min(shown[at] ?? 0, Math.max(1, fair));
    shares[at] = own;
    left -= own;
  }
  return shares;
}
