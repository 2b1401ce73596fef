/** Money is an integer number of micros (millionths) of a currency; in JSON the integer is a decimal string. */
export type Money = { readonly currency: string; readonly micros: bigint };
export type MoneyJson = { readonly currency: string; readonly micros: string };

export const moneyToJson = (money: Money): MoneyJson => ({
  currency: money.currency,
  micros: money.micros.toString(),
});

/** `12.5 USD`, exactly. */
export function moneyText({ currency, micros }: Money): string {
  const digits = micros.toString().replace("-", "").padStart(7, "0");
  const rest = digits.slice(-6).replace(/0+$/, "");
  return `${micros < 0n ? "-" : ""}${digits.slice(0, -6)}${rest === "" ? "" : `.${rest}`} ${currency}`;
}
