/** Lists in pages: a cursor is opaque to whoever gets it, and belongs to one list. */
import { z } from "zod";
import { HoldpointError } from "../kernel/errors.ts";

export const MOST = 1_000;
const USUAL = 100;

export const limitSchema = z.coerce
  .number()
  .int()
  .min(1)
  .max(MOST)
  .default(USUAL)
  .meta({ description: `how many, at most ${MOST}` });
export const cursorSchema = z
  .string()
  .min(1)
  .max(400)
  .optional()
  .meta({ description: "`next_cursor` of the page before" });
export const nextCursor = z.string().nullable().meta({ description: "null on the last page" });

/** The fields of every list's query. */
export const pageQuery = { limit: limitSchema, cursor: cursorSchema };

function notOurs(list: string): HoldpointError {
  return new HoldpointError("invalid_input", `The cursor is not one of the list of ${list}.`, {
    next: "Take next_cursor of the page before, as it is, or leave it out.",
  });
}

/** What the engine calls `next`, as a cursor of one list. */
export function sealCursor(list: string, next: string | null): string | null {
  return next === null ? null : Buffer.from(`${list}\n${next}`).toString("base64url");
}

export function openCursor(list: string, cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const text = Buffer.from(cursor, "base64url").toString();
  const [name, next] = text.split("\n");
  if (name !== list || next === undefined || sealCursor(list, next) !== cursor) throw notOurs(list);
  return next;
}

/** Handed on to the engine's lists. */
export function pageOf(
  list: string,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): { readonly limit: number; readonly after?: string } {
  const after = openCursor(list, cursor);
  return { limit, ...(after === undefined ? {} : { after }) };
}
