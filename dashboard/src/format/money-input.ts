/** Amounts as people type them, and back. Money is counted in millionths, as text. */
import type { Money } from "./amounts.ts";

const AMOUNT = /^(\d{1,24})(?:[.,](\d{1,6}))?$/;
/** A thousand for one half of the world and one for the other. Before three digits a nought is no thousand. */
const EITHER = /^(?!0+[.,])\d+[.,]\d{3}$/;

const withoutGaps = (typed: string): string => typed.replaceAll(/[\s_']/g, "");

/** Null where it is no amount, or one that can be read in two ways. */
export function microsOf(typed: string): string | null {
  const plain = withoutGaps(typed);
  const found = EITHER.test(plain) ? null : AMOUNT.exec(plain);
  if (found === null) return null;
  const [, whole = "", part = ""] = found;
  return BigInt(`${whole}${part.padEnd(6, "0")}`).toString();
}

/** Why what was typed is no amount; undefined where it is one. */
export function amountFault(typed: string): string | undefined {
  if (microsOf(typed) !== null) return undefined;
  return EITHER.test(withoutGaps(typed))
    ? "It can be read in two ways: 1000 for a thousand, 1.00 for one."
    : "An amount such as 500 or 12.50.";
}

/** Without zeros that say nothing. Three digits would be read as thousands: they have a fourth. */
export function typedOf({ micros }: Pick<Money, "micros">): string {
  const digits = micros.padStart(7, "0");
  const part = digits.slice(-6).replace(/0+$/, "");
  const whole = digits.slice(0, -6);
  return part === "" ? whole : `${whole}.${part.padEnd(part.length === 3 ? 4 : 2, "0")}`;
}

/** How much of a limit that is, for a bar; the figures themselves stay exact. */
export function shareOf(part: string, whole: string): number {
  const limit = BigInt(whole);
  if (limit <= 0n) return BigInt(part) > 0n ? 1 : 0;
  return Number((BigInt(part) * 10_000n) / limit) / 10_000;
}
