/** A number among the arguments that a back-test sums up, by its path: `amount_usd`, `order.total_usd`. */
import { HoldpointError } from "../../kernel/errors.ts";
import { isJsonObject, type Json } from "../../kernel/json.ts";
import { closestName } from "../../kernel/spelling.ts";

const DEEPEST = 4;
const MOST_PATHS = 200;
const MOST_NAMED = 12;

/** What was looked for, and what there is instead as long as it was not found. */
export type Sought = { readonly path: string; isThere: boolean; readonly others: Set<string> };

export const seek = (path: string): Sought => ({ path, isThere: false, others: new Set() });

/** A key may itself have dots in it. */
function valueAt(args: Json, path: string): Json | undefined {
  if (!isJsonObject(args)) return undefined;
  if (Object.hasOwn(args, path)) return args[path];
  const dot = path.indexOf(".");
  const key = path.slice(0, dot);
  if (dot < 0 || !Object.hasOwn(args, key)) return undefined;
  return valueAt(args[key] ?? null, path.slice(dot + 1));
}

function note(others: Set<string>, args: Json, before = "", depth = 1): void {
  if (!isJsonObject(args) || depth > DEEPEST) return;
  for (const [key, value] of Object.entries(args)) {
    if (others.size >= MOST_PATHS) return;
    if (typeof value === "number") others.add(before + key);
    else note(others, value ?? null, `${before + key}.`, depth + 1);
  }
}

/** In millionths of whatever it counts. */
export function amountIn(sought: Sought | null, args: Json): bigint | null {
  if (sought === null) return null;
  const value = valueAt(args, sought.path);
  if (typeof value !== "number") {
    if (!sought.isThere) note(sought.others, args);
    return null;
  }
  sought.isThere = true;
  const micros = Math.round(value * 1e6);
  return Number.isSafeInteger(micros) ? BigInt(micros) : null;
}

function namesOf({ path, others }: Sought): string {
  if (others.size === 0) return "None of them has a number among its arguments; leave the amount out.";
  const meant = closestName(path, others);
  const list = [...others].filter((one) => one !== meant).toSorted();
  const named = (meant === undefined ? list : [meant, ...list]).slice(0, MOST_NAMED);
  const left = others.size - named.length;
  return `There are: ${named.join(", ")}${left > 0 ? `, and ${left} more` : ""}.`;
}

/** Sums of nothing would pass for an answer. */
export function checkSought(sought: Sought | null, compared: number): void {
  if (sought === null || sought.isThere || compared === 0) return;
  const meant = closestName(sought.path, sought.others);
  const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
  const what = `None of ${compared} recorded actions has a number "${sought.path}" among its arguments.${hint}`;
  throw new HoldpointError("invalid_input", what, { next: namesOf(sought) });
}
