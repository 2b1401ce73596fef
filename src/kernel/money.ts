/**
 * Money is an integer number of micros (millionths) of a currency; in JSON the integer is a decimal string. Also checks
 * amounts that programs pass in: a field other than currency and micros is refused, not ignored.
 */

import { fieldFault, rejectInput, type ValueCheck } from "./fields.ts";
import { displayValue } from "./text.ts";

/** Money is an integer number of micros (millionths) of a currency; in JSON the integer is a decimal string. */
export type Money = { readonly currency: string; readonly micros: bigint };
export type MoneyJson = { readonly currency: string; readonly micros: string };

export const moneyToJson = (money: Money): MoneyJson => ({
  currency: money.currency,
  micros: money.micros.toString(),
});

export const moneyFromJson = ({ currency, micros }: MoneyJson): Money => ({
  currency,
  micros: BigInt(micros),
});

/** `12.5 USD`, exactly. */
export function moneyText({ currency, micros }: Money): string {
  const digits = micros.toString().replace("-", "").padStart(7, "0");
  const rest = digits.slice(-6).replace(/0+$/, "");
  return `${micros < 0n ? "-" : ""}${digits.slice(0, -6)}${rest === "" ? "" : `.${rest}`} ${currency}`;
}

const DECIMAL = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;
const MICRO_DIGITS = 6;

/** Units of a currency as micros, exactly; undefined for what is no amount, or finer than a micro. */
function exactMicros(units: string): bigint | undefined {
  const [, whole, rest = ""] = /^(\d{1,18})(?:\.(\d+))?$/.exec(units) ?? [];
  const digits = rest.replace(/0+$/, "");
  if (whole === undefined || digits.length > MICRO_DIGITS) return undefined;
  return BigInt(whole + digits.padEnd(MICRO_DIGITS, "0"));
}

/** An amount as people write it: `10.00 USD`. Undefined if it is none, negative, or finer than a micro. */
export function parseMoney(text: string): Money | undefined {
  const [, units = "", currency = ""] = /^(\S+)\s+([A-Z]{3,8})$/.exec(text) ?? [];
  const micros = exactMicros(units);
  return micros === undefined ? undefined : { currency, micros };
}

/**
 * An amount from its text: `money("10.00 USD")`. Throws `invalid_input` for a negative amount and for one that is finer than a
 * micro: money is never rounded.
 */
export function money(text: string): Money {
  return (
    parseMoney(String(text)) ??
    rejectInput(
      `"${displayValue(text)}" is no amount of money. Write it as "10.00 USD", with at most ${MICRO_DIGITS} decimals.`,
    )
  );
}

/** An amount of US dollars: `usd(10)`, `usd("0.25")`. */
export const usd = (amount: number | string): Money => money(`${amount} USD`);

/** Converts units to micros, rounded up: 0.1 is 100000 micros. Undefined if it is no valid amount. */
export function unitsToMicros(units: number): bigint | undefined {
  const [, whole, rest = "", exponent = "0"] = DECIMAL.exec(String(units)) ?? [];
  if (whole === undefined) return undefined;
  const shift = Number(exponent) + MICRO_DIGITS - rest.length;
  const digits = BigInt(whole + rest);
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const unit = 10n ** BigInt(-shift);
  return (digits + unit - 1n) / unit;
}

/** Refuses any other field, such as a period, which would be ignored silently. */
export const moneyFault = (what: string, given: unknown): string | undefined =>
  typeof given === "object" && given !== null ? fieldFault(what, given, ["currency", "micros"]) : undefined;

export const amountCheck: ValueCheck = {
  isRight: (value) => moneyFault("", value) === undefined && isMoney(value) && value.micros >= 0n,
  what: "is { currency, micros } with micros as a bigint of at least 0",
};

/** Requires an amount of at least 0, with no field but currency and micros. */
export function checkAmount(what: string, given: Money): Money {
  const fault = moneyFault(what, given);
  if (fault !== undefined) rejectInput(`${fault}.`);
  return amountCheck.isRight(given) ? given : rejectInput(`${what} ${amountCheck.what}.`);
}

export function isMoney(value: unknown): value is Money {
  const money = value as Money | null;
  return (
    typeof money === "object" &&
    money !== null &&
    typeof money.currency === "string" &&
    /^[A-Z]{3,8}$/.test(money.currency) &&
    typeof money.micros === "bigint"
  );
}

/** The largest cost per currency: costs that a tool declares for several budgets are the same money. */
export function dearest(costs: readonly MoneyJson[]): ReadonlyMap<string, bigint> {
  const most = new Map<string, bigint>();
  for (const { currency, micros } of costs) {
    const amount = BigInt(micros);
    if ((most.get(currency) ?? -1n) < amount) most.set(currency, amount);
  }
  return most;
}

export const moneyList = (money: ReadonlyMap<string, bigint>): readonly MoneyJson[] =>
  [...money].map(([currency, micros]) => moneyToJson({ currency, micros }));
