/** Amounts as people type them, and back. Money is counted in millionths, as text. */
import type { Money } from "./amounts.ts";

const AMOUNT = /^(\d{1,24})(?:[.,](\d{1,6}))?$/;

/** Null where it is no amount. */
export function microsOf(typed: string): string | null {
  const found = AMOUNT.exec(typed.trim().replaceAll(/[\s_']/g, ""));
  if (found === null) return null;
  const [, whole = "", part = ""] = found;
  return BigInt(`${whole}${part.padEnd(6, "0")}`).toString();
}

/** Without zeros that say nothing. */
export function typedOf({ micros }: Pick<Money, "micros">): string {
  const digits = micros.padStart(7, "0");
  const part = digits.slice(-6).replace(/0+$/, "");
  const whole = digits.slice(0, -6);
  return part === "" ? whole : `${whole}.${part.padEnd(2, "0")}`;
}

/** How much of a limit that is, for a bar; the figures themselves stay exact. */
export function shareOf(part: string, whole: string): number {
  const limit = BigInt(whole);
  if (limit <= 0n) return BigInt(part) > 0n ? 1 : 0;
  return Number((BigInt(part) * 10_000n) / limit) / 10_000;
}
