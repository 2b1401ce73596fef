/** Money and counts in words. Money comes in millionths, as text: it is never a number here. */
const MICROS = 1_000_000n;
const COUNT = new Intl.NumberFormat("en");

export type Money = { readonly currency: string; readonly micros: string };

export function moneyText({ currency, micros }: Money): string {
  const whole = BigInt(micros);
  const size = whole < 0n ? -whole : whole;
  const part = (size % MICROS)
    .toString()
    .padStart(6, "0")
    .replace(/0{1,4}$/, "");
  return `${whole < 0n ? "−" : ""}${COUNT.format(size / MICROS)}.${part} ${currency}`;
}

export const countText = (count: number): string => COUNT.format(count);
export const several = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`;
