/**
 * Shared wire forms: snake_case, RFC 3339 times with Z, money with its micros as text; pages and their cursors.
 * A cursor is opaque and belongs to one list.
 */

import { z } from "zod";
import { makeCodec, type OnWire } from "../kernel/codec.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { actorOnWire, anyJson, moneyOnWire, timeOnWire } from "../kernel/values.ts";

export const timeSchema = timeOnWire;
export const moneySchema = moneyOnWire;
export const bySchema = actorOnWire;

export const json = anyJson;

export const time = (at: number): string => new Date(at).toISOString();
export const timeOrNull = (at: number | null | undefined): string | null => (at == null ? null : time(at));

/** How the agent would undo the action that it proposes. */
export const undoSchema = z.object({ tool: z.string(), args: json }).nullable();
export const undoOnWire = ({
  undo,
}: {
  readonly undo?: { readonly tool: string; readonly args: unknown } | undefined;
}) => (undo === undefined ? null : { tool: undo.tool, args: undo.args });

/** Drops the fields that were not sent. */
export function dropUndefinedFields<Given extends object>(
  given: Given,
): { [Field in keyof Given]?: Exclude<Given[Field], undefined> } {
  const there = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(there) as { [Field in keyof Given]?: Exclude<Given[Field], undefined> };
}

/** Digest of what was on the page when they decided. */
export const shownSchema = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .optional()
  .meta({ description: "of the card, or of the row of a list, that the person saw; recorded with the vote" });
export const idSchema = z.string().min(1).max(600);
export const idParams = z.object({ id: idSchema });

const MAX_PAGE_ROWS = 1_000;
const USUAL = 100;

const limitSchema = z.coerce
  .number()
  .int()
  .min(1)
  .max(MAX_PAGE_ROWS)
  .default(USUAL)
  .meta({ description: `how many, at most ${MAX_PAGE_ROWS}` });
const cursorSchema = z
  .string()
  .min(1)
  .max(400)
  .optional()
  .meta({ description: "`next_cursor` of the page before" });
export const nextCursor = z.string().nullable().meta({ description: "null on the last page" });

/** Query fields of every list. */
export const pageQuery = { limit: limitSchema, cursor: cursorSchema };

function notOurs(list: string): HoldpointError {
  return new HoldpointError("invalid_input", `The cursor is not one of the list of ${list}.`, {
    next: "Take next_cursor of the page before, as it is, or leave it out.",
  });
}

/** The runtime's `next`, as a cursor of one list. */
export function sealCursor(list: string, next: string | null): string | null {
  return next === null ? null : Buffer.from(`${list}\n${next}`).toString("base64url");
}

function openCursor(list: string, cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const text = Buffer.from(cursor, "base64url").toString();
  const [name, next] = text.split("\n");
  if (name !== list || next === undefined || sealCursor(list, next) !== cursor) throw notOurs(list);
  return next;
}

/** Page parameters for the runtime's lists. */
export function pageOf(
  list: string,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): { readonly limit: number; readonly after?: string } {
  const after = openCursor(list, cursor);
  return { limit, ...(after === undefined ? {} : { after }) };
}

/** For the bodies of hand-written routes. What is decoded is checked again as input of the library. */
export function bodyCodec<Schema extends z.ZodObject>(schema: Schema) {
  const { wire, decode } = makeCodec(schema);
  return {
    wire: wire as z.ZodType<OnWire<Schema, true>, OnWire<Schema, true>>,
    decode: decode as (body: OnWire<Schema, true>) => Partial<z.input<Schema>>,
  };
}
