/** Money is an integer number of micros (millionths) of a currency; in JSON the integer is a decimal string. */
export type Money = { readonly currency: string; readonly micros: bigint };
export type MoneyJson = { readonly currency: string; readonly micros: string };

export const moneyToJson = (money: Money): MoneyJson => ({
  currency: money.currency,
  micros: money.micros.toString(),
});
