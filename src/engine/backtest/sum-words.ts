/** What changed verdicts come to, in words: money that was declared, and an argument that was asked for. */
import type { Transition } from "../../core/backtest/report.ts";
import { type MoneyJson, moneyText } from "../../kernel/money.ts";
import { visible } from "../../kernel/text.ts";

const text = ({ currency, micros }: MoneyJson): string =>
  visible(moneyText({ currency, micros: BigInt(micros) }));

/** Millionths of nothing in particular. */
export const plainMicros = (micros: string): string =>
  moneyText({ currency: "", micros: BigInt(micros) }).trim();

export const moneyWords = (money: readonly MoneyJson[]): string => money.map(text).join(", ");

const counted = (count: number): string => `${count} ${count === 1 ? "action" : "actions"}`;

function costless({ withoutCost, count }: Transition): readonly string[] {
  if (withoutCost === 0) return [];
  const many = withoutCost === count ? "none" : `${withoutCost} not`;
  return [`${many} started, so no cost of theirs is recorded`];
}

/** `field`: the argument that was asked to be summed up. */
export function sumWords(transition: Transition, field: string | undefined): readonly string[] {
  const { money, amount } = transition;
  const known = money.length === 0 ? [] : [moneyWords(money)];
  const sum =
    field === undefined
      ? []
      : [`${visible(field)} ${plainMicros(amount.micros)} in ${counted(amount.count)}`];
  return [...known, ...sum, ...costless(transition)];
}
