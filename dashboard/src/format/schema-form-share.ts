/**
 * How many boxes a form may have, however deep they lie: what would have more is written as JSON, and what is small beside it keeps
 * its boxes.
 */
import { allotted, sizeOf } from "./allotted.ts";
import { fieldOf, isObject, type Json } from "./json.ts";
import type { Control, Field } from "./schema-form.ts";

/** More than this nobody looks through, and a browser takes seconds for them. */
export const MOST_BOXES = 500;

function isTooMuch(control: Control, value: Json, share: number): boolean {
  switch (control.kind) {
    case "list":
    case "record":
      return sizeOf(value) > share;
    case "group":
      return control.fields.length > MOST_BOXES || (isObject(value) && Object.keys(value).length > share);
    case "variants":
      return isObject(value) && Object.keys(value).length > share;
    default:
      return false;
  }
}

/** The same control, or one box for all of it where that would have more boxes than it may. */
export const withinShare = (control: Control, value: Json, share: number): Control =>
  isTooMuch(control, value, share) ? { kind: "json" } : control;

/** How many boxes each field of a group may have. */
export const sharesOf = (fields: readonly Field[], value: Json, share: number): readonly number[] =>
  allotted(
    fields.map(({ name }) => sizeOf(fieldOf(value, name) ?? null)),
    share - 1,
  );
