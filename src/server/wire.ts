/** How values stand on the wire: snake_case, times in RFC 3339 with Z, money with its micros as text. */
import { z } from "zod";
import type { Money } from "../core/money.ts";

export const timeSchema = z.iso.datetime().meta({ description: "RFC 3339, in UTC" });
export const json = z.unknown().meta({ description: "any JSON" });
export const moneySchema = z.object({
  currency: z.string(),
  micros: z
    .string()
    .regex(/^-?\d{1,30}$/)
    .meta({ description: "millionths of the currency, as text" }),
});

export const time = (at: number): string => new Date(at).toISOString();
export const timeOrNull = (at: number | null | undefined): string | null => (at == null ? null : time(at));
export const money = ({ currency, micros }: Money): { currency: string; micros: string } => ({
  currency,
  micros: String(micros),
});

/** How an agent says that it would take back what it asks for. */
export const undoSchema = z.object({ tool: z.string(), args: json }).nullable();
export const undoOnWire = ({
  undo,
}: {
  readonly undo?: { readonly tool: string; readonly args: unknown };
}) => (undo === undefined ? null : { tool: undo.tool, args: undo.args });

/** Fields that were not sent are not there. */
export function sent<Given extends object>(
  given: Given,
): { [Field in keyof Given]?: Exclude<Given[Field], undefined> } {
  const there = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(there) as { [Field in keyof Given]?: Exclude<Given[Field], undefined> };
}

/** What people write down with what they do. */
export const reasonSchema = z.string().trim().min(1).max(10_000);
/** Only without authentication; otherwise it has to be whoever asks. */
export const bySchema = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .meta({ description: "the person; taken from the credential, and refused if it is somebody else" });
/** What was on the page when they decided. */
export const shownSchema = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .optional()
  .meta({ description: "of the card, or of the row of a list, that the person saw; recorded with the vote" });
export const idSchema = z.string().min(1).max(600);
export const idParams = z.object({ id: idSchema });
