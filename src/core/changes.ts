/**
 * What differs between two values, place by place.
 *
 * F1. Put in at their places, the changes make the one value out of the other: nothing that differs is left out.
 * F2. Only what differs is named: a field of an object, an item of a list, or a whole value of another kind.
 */
import { isJsonObject, type Json } from "./json.ts";

export type Path = readonly (string | number)[];

/** Without `before` it was not there, and without `after` it is not there any more. */
export type Change = { readonly path: Path; readonly before?: Json; readonly after?: Json };

type Place = { readonly path: Path; readonly before: Json | undefined; readonly after: Json | undefined };

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

function placesIn({ path, before, after }: Place): readonly Place[] | undefined {
  if (isList(before) && isList(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, at) => ({
      path: [...path, at],
      before: before[at],
      after: after[at],
    }));
  }
  if (!isJsonObject(before) || !isJsonObject(after)) return undefined;
  const own = (value: { readonly [key: string]: Json }, key: string) =>
    Object.hasOwn(value, key) ? value[key] : undefined;
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].map((key) => ({
    path: [...path, key],
    before: own(before, key),
    after: own(after, key),
  }));
}

function changesAt(place: Place): readonly Change[] {
  const { path, before, after } = place;
  if (before === after) return [];
  const within = placesIn(place);
  if (within !== undefined) return within.flatMap(changesAt);
  return [{ path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }];
}

/** In the order in which the values are written, what was there before first. */
export const changesBetween = (before: Json, after: Json): readonly Change[] =>
  changesAt({ path: [], before, after });
