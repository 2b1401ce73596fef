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

/** What people write down with what they do. */
export const reasonSchema = z.string().trim().min(1).max(10_000);
/** Only without authentication; otherwise it has to be whoever asks. */
export const bySchema = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .meta({ description: "the person; taken from the credential, and refused if it is somebody else" });
export const idSchema = z.string().min(1).max(600);
export const idParams = z.object({ id: idSchema });
