/**
 * Which numbers are money: by their name, or by a currency that stands beside them. Only the way it is shown hangs on this:
 * the digits are always those of the arguments.
 */
import { moneyText } from "./amounts.ts";
import { isObject, type Json, type JsonObject } from "./json.ts";
import { exactNumber, fromMinor } from "./numbers.ts";

export type MoneyShown = { readonly amount: string; readonly currency: string; readonly as: string | null };

/** Those that a name may end with. None of them is a word of English: `retry_all` and `max_try` are no money. */
const CURRENCIES = new Set(
  "AUD CAD CHF CNY DKK EUR GBP HKD INR JPY NOK NZD PLN SEK SGD USD USDC USDT".split(" "),
);
/** Those whose small coin is a hundredth. */
const HUNDREDTHS = new Set(
  "AUD BRL CAD CHF CZK DKK EUR GBP HKD INR MXN NOK NZD PLN SEK SGD USD ZAR".split(" "),
);
const IS_AMOUNT =
  /(^|_)(amount|price|total|subtotal|cost|fee|sum|refund|balance|payment|charge|salary|budget|value)(_|$)/;
const MINOR = /_(cents|pence|minor|minor_units)$/;

/** Only plain letters: the capital of `ſ` is S, and `uſd` is no currency. */
const IS_PLAIN = /^[\x20-\x7e]*$/;
const snake = (name: string): string =>
  IS_PLAIN.test(name) ? name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase() : name;
const currencyIn = (name: string): string | null => {
  const last = name.split("_").at(-1)?.toUpperCase() ?? "";
  return IS_PLAIN.test(name) && name.includes("_") && CURRENCIES.has(last) ? last : null;
};

const CODE = /^[A-Z]{3,5}$/;
const codeOf = (value: Json): string | null =>
  typeof value === "string" && IS_PLAIN.test(value) && CODE.test(value.toUpperCase())
    ? value.toUpperCase()
    : null;

/** What fields of these names say, where they agree: `undefined` where there is none, `null` where nobody can say. */
function currencyOf(names: readonly string[], siblings: JsonObject): string | null | undefined {
  const said = Object.entries(siblings).filter(([name]) => names.includes(snake(name)));
  if (said.length === 0) return undefined;
  const codes = new Set(said.map(([, value]) => codeOf(value)));
  const [code = null] = codes;
  return codes.size === 1 ? code : null;
}

/** The amount's own currency before the one of all that stands there. */
function currencyBeside(name: string, siblings: JsonObject): string | null {
  const stem = name.replace(MINOR, "");
  const own = currencyOf([`${name}_currency`, `${stem}_currency`], siblings);
  return own === undefined ? (currencyOf(["currency", "currency_code"], siblings) ?? null) : own;
}

const amountOf = (value: Json): number | null => {
  if (typeof value === "number") return value;
  return typeof value === "string" && /^-?\d{1,15}(\.\d{1,6})?$/.test(value) ? Number(value) : null;
};

/** As it stands there: "849" is a text, and 849 a number. */
const written = (value: Json): string =>
  typeof value === "number" ? exactNumber(value) : JSON.stringify(value);

function inMinor(value: Json, number: number, currency: string | null): MoneyShown {
  const amount = currency !== null && HUNDREDTHS.has(currency) ? fromMinor(number) : null;
  return amount === null || currency === null
    ? { amount: written(value), currency: `${currency ?? ""} in small coin`.trim(), as: null }
    : { amount, currency, as: `${written(value)} hundredths` };
}

/** Undefined where it is no money, or nobody can say which. */
export function moneyOf(name: string, value: Json, siblings: JsonObject): MoneyShown | undefined {
  const known = snake(name);
  const amount = amountOf(value);
  if (amount === null) return undefined;
  const ownCurrency = currencyIn(known);
  if (ownCurrency !== null) return { amount: digitsOf(value, ownCurrency), currency: ownCurrency, as: null };
  if (MINOR.test(known)) return inMinor(value, amount, currencyBeside(known, siblings));
  const beside = IS_AMOUNT.test(known) ? currencyBeside(known, siblings) : null;
  return beside === null ? undefined : { amount: digitsOf(value, beside), currency: beside, as: null };
}

/** Text keeps its digits, a number of it might lose some, and its quotes. Half a coin's place is filled, as people write money. */
function digitsOf(value: Json, currency: string): string {
  const text = written(value);
  if (typeof value !== "number") return text;
  return HUNDREDTHS.has(currency) && /\.\d$/.test(text) ? `${text}0` : text;
}

/** Money as Holdpoint itself writes it. */
export function microsOf(value: Json): MoneyShown | undefined {
  if (!isObject(value) || Object.keys(value).length !== 2) return undefined;
  const { currency, micros } = value;
  if (typeof currency !== "string" || !CODE.test(currency)) return undefined;
  if (typeof micros !== "string" || !/^-?\d{1,30}$/.test(micros)) return undefined;
  const text = moneyText({ currency, micros });
  return { amount: text.slice(0, text.length - currency.length - 1), currency, as: null };
}
