/** How values stand on the wire: snake_case, times in RFC 3339 with Z, money with its micros as text. */
import { z } from "zod";
import type { Money } from "../kernel/money.ts";
import { actorOnWire, anyJson, moneyOnWire, timeOnWire } from "../kernel/values.ts";

export const timeSchema = timeOnWire;
export const moneySchema = moneyOnWire;
export const bySchema = actorOnWire;

export const json = anyJson;

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
/** What was on the page when they decided. */
export const shownSchema = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .optional()
  .meta({ description: "of the card, or of the row of a list, that the person saw; recorded with the vote" });
export const idSchema = z.string().min(1).max(600);
export const idParams = z.object({ id: idSchema });
