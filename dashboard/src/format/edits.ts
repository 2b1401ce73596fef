/** What somebody changes before they approve: kept whole while it is written, sent as the fields that differ. */
import { fieldOf, isList, isObject, isSame, type Json, type JsonObject, type Path } from "./json.ts";

/** The same value with another one at that place. */
export function withAt(value: Json, path: Path, put: Json): Json {
  const [step, ...rest] = path;
  if (step === undefined) return put;
  if (typeof step === "number") {
    const items = isList(value) ? value : [];
    return items.map((item, at) => (at === step ? withAt(item, rest, put) : item));
  }
  const fields = isObject(value) ? value : {};
  return { ...fields, [step]: withAt(fieldOf(fields, step) ?? null, rest, put) };
}

/** The same value without what stands there. */
export function withoutAt(value: Json, path: Path): Json {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (isList(value))
    return rest.length === 0
      ? value.filter((_, at) => at !== step)
      : value.map((item, at) => (at === step ? withoutAt(item, rest) : item));
  if (!isObject(value)) return value;
  const gone = fieldOf(value, String(step));
  const { [step]: _, ...others } = value;
  return rest.length === 0 || gone === undefined ? others : { ...value, [step]: withoutAt(gone, rest) };
}

/**
 * The fields that differ, each with its whole new value: what the server puts in their place. Undefined where nothing differs.
 * What is no object is replaced whole.
 */
export function editOf(before: Json, after: Json): Json | undefined {
  if (isSame(before, after)) return undefined;
  if (!isObject(before) || !isObject(after)) return after;
  return changedFields(before, after);
}

function changedFields(before: JsonObject, after: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => !isSame(fieldOf(before, name), value)),
  );
}

/** A field that was proposed can be changed and not be left out; below it everything can. */
export const canLeaveOut = (before: Json, path: Path): boolean =>
  path.length !== 1 || !isObject(before) || !Object.hasOwn(before, String(path[0]));

export type Change = {
  readonly path: Path;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
};

/** Where two values differ, as deep as both are objects. */
export function changesBetween(
  before: Json | undefined,
  after: Json | undefined,
  at: Path = [],
): readonly Change[] {
  if (isSame(before, after)) return [];
  if (!isObject(before) || !isObject(after)) return [{ path: at, before, after }];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => changesBetween(fieldOf(before, name), fieldOf(after, name), [...at, name]));
}

/** Where something was proposed that is left out in what was written, and stays in what would run. */
export function staysIn(
  before: Json | undefined,
  written: Json | undefined,
  would: Json | undefined,
  at: Path = [],
): readonly Path[] {
  if (would === undefined || before === undefined) return [];
  if (written === undefined) return [at];
  if (!isObject(before)) return [];
  return Object.keys(before).flatMap((name) =>
    staysIn(fieldOf(before, name), fieldOf(written, name), fieldOf(would, name), [...at, name]),
  );
}
