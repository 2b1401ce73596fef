/**
 * Whether two calls have the same arguments, white space in their texts aside: a run of it is one, and at the ends it is none.
 * The first difference ends it, and takes no longer than what came before it.
 */
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { type Meter, spend, spendCharacters, spendKeys } from "./expression/meter.ts";

const SPACE = /\s/;
const RUN = /\s+/g;
/** Each run of white space is found and written anew. */
const STEPS_PER_CHARACTER = 2;

const evened = (text: string): string => text.trim().replace(RUN, " ");

function firstDifference(one: string, other: string): number {
  const end = Math.min(one.length, other.length);
  let at = 0;
  while (at < end && one.charCodeAt(at) === other.charCodeAt(at)) at += 1;
  return at;
}

/** What is the same up to a place is the same there without its white space too, unless that is where they differ. */
function areTextsAlike(one: string, other: string, meter: Meter): boolean {
  const at = firstDifference(one, other);
  spendCharacters(meter, at);
  if (at === one.length && at === other.length) return true;
  const isWritten = (text: string) => at < text.length && !SPACE.test(text.charAt(at));
  if (isWritten(one) && isWritten(other)) return false;
  spend(meter, STEPS_PER_CHARACTER * (one.length + other.length));
  return evened(one) === evened(other);
}

function areObjectsAlike(one: JsonObject, other: JsonObject, meter: Meter): boolean {
  const names = Object.keys(one);
  const others = Object.keys(other).length;
  spendKeys(meter, names.length + others);
  if (names.length !== others) return false;
  return names.every(
    (name) => Object.hasOwn(other, name) && isAlike(one[name] ?? null, other[name] ?? null, meter),
  );
}

export function isAlike(one: Json, other: Json, meter: Meter): boolean {
  spend(meter, 1);
  if (typeof one === "string" && typeof other === "string") return areTextsAlike(one, other, meter);
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((part, at) => isAlike(part, other[at] ?? null, meter));
  if (isJsonObject(one) && isJsonObject(other)) return areObjectsAlike(one, other, meter);
  return one === other;
}
