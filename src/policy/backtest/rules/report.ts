/**
 * The report of a back-test, and the argument that it sums over the changes, found by its path: `amount_usd`,
 * `order.total_usd`. A path that no action has is an error, because a sum of nothing would look like a result.
 */

import { HoldpointError } from "../../../kernel/errors.ts";
import { isJsonObject, type Json } from "../../../kernel/json.ts";
import { type MoneyJson, moneyText } from "../../../kernel/money.ts";
import { closestName } from "../../../kernel/spelling.ts";
import { visible } from "../../../kernel/text.ts";
import type { PolicySide, Transition, VerdictChange } from "./answers.ts";

const label = ({ verdict, revised }: PolicySide): string =>
  revised && verdict !== "block" ? `${verdict}, revised` : verdict;

/** Labels under which changes are counted. They tell if only the approvers differ. */
export function changeLabels({ from, to }: Pick<VerdictChange, "to"> & { readonly from: PolicySide }): {
  readonly from: string;
  readonly to: string;
} {
  const isOther = to.asks !== undefined && label(from) === label(to);
  return { from: label(from), to: isOther ? `${label(to)}, asks others` : label(to) };
}

const visibleMoney = ({ currency, micros }: MoneyJson): string =>
  visible(moneyText({ currency, micros: BigInt(micros) }));

/** Millionths without a currency. */
export const plainMicros = (micros: string): string =>
  moneyText({ currency: "", micros: BigInt(micros) }).trim();

export const moneyListText = (money: readonly MoneyJson[]): string => money.map(visibleMoney).join(", ");

const actionCount = (total: number): string => `${total} ${total === 1 ? "action" : "actions"}`;

function costless({ withoutCost, count: total }: Omit<Transition, "sums">): readonly string[] {
  if (withoutCost === 0) return [];
  const many = withoutCost === total ? "none" : `${withoutCost} not`;
  return [`${many} started, so no cost of theirs is recorded`];
}

/** `field`: the argument to sum. */
export function sumsText(row: Omit<Transition, "sums">, field: string | null): readonly string[] {
  const { money, amount } = row;
  const known = money.length === 0 ? [] : [moneyListText(money)];
  const sum =
    field === null ? [] : [`${visible(field)} ${plainMicros(amount.micros)} in ${actionCount(amount.count)}`];
  return [...known, ...sum, ...costless(row)];
}

const DEEPEST = 4;
const MOST_PATHS = 200;
const MOST_NAMED = 12;

/** The path to find and, until it is found, the paths that exist. */
export type AmountSearch = { readonly path: string; isThere: boolean; readonly others: Set<string> };

export const startAmountSearch = (path: string): AmountSearch => ({
  path,
  isThere: false,
  others: new Set(),
});

/** A key may contain dots. */
function valueAt(args: Json, path: string): Json | undefined {
  if (!isJsonObject(args)) return undefined;
  if (Object.hasOwn(args, path)) return args[path];
  const dot = path.indexOf(".");
  const key = path.slice(0, dot);
  if (dot < 0 || !Object.hasOwn(args, key)) return undefined;
  return valueAt(args[key] ?? null, path.slice(dot + 1));
}

function note(others: Set<string>, args: Json, before = "", depth = 1): void {
  if (!isJsonObject(args) || depth > DEEPEST) return;
  for (const [key, value] of Object.entries(args)) {
    if (others.size >= MOST_PATHS) return;
    if (typeof value === "number") others.add(before + key);
    else note(others, value ?? null, `${before + key}.`, depth + 1);
  }
}

/** In millionths of its unit. */
export function readAmount(sought: AmountSearch | null, args: Json): bigint | null {
  if (sought === null) return null;
  const value = valueAt(args, sought.path);
  if (typeof value !== "number") {
    if (!sought.isThere) note(sought.others, args);
    return null;
  }
  sought.isThere = true;
  const micros = Math.round(value * 1e6);
  return Number.isSafeInteger(micros) ? BigInt(micros) : null;
}

function namesOf({ path, others }: AmountSearch): string {
  if (others.size === 0) return "None of them has a number among its arguments; leave the amount out.";
  const meant = closestName(path, others);
  const list = [...others].filter((one) => one !== meant).toSorted();
  const named = (meant === undefined ? list : [meant, ...list]).slice(0, MOST_NAMED);
  const left = others.size - named.length;
  return `There are: ${named.join(", ")}${left > 0 ? `, and ${left} more` : ""}.`;
}

/** A sum of nothing would look like a result. */
export function checkAmountFound(sought: AmountSearch | null, compared: number): void {
  if (sought === null || sought.isThere || compared === 0) return;
  const meant = closestName(sought.path, sought.others);
  const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
  const what = `None of ${compared} recorded actions has a number "${sought.path}" among its arguments.${hint}`;
  throw new HoldpointError("invalid_input", what, { next: namesOf(sought) });
}
