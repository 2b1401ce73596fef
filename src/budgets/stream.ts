/**
 * A budget: its limit, the amounts reserved by running effects, and the amount spent. Events, fold, decisions and list
 * projection.
 * - A reservation is admitted only while spent + reserved + amount ≤ limit.
 * - A reservation ends once: settled with the true amount, or released. It stays while the effect is in doubt.
 * - A list row records only that a budget exists. Amounts stay in the streams, or every effect would write a row.
 */

import { type Money, type MoneyJson, moneyFromJson, moneyText, moneyToJson } from "../kernel/money.ts";
import { channelField, type Via } from "../kernel/principal.ts";
import { defineStream, type NewEvent } from "../kernel/stream.ts";

export type BudgetStreamState = {
  /** null: the budget was never opened. */
  readonly limit: Money | null;
  readonly spent: bigint;
  readonly reserved: bigint;
  /** Spent beyond the reserved amounts, because a tool's estimate was too low. */
  readonly overrun: bigint;
  /** By effect. A map, because each step copies it and copying a large object takes ten times as long. */
  readonly reservations: ReadonlyMap<string, bigint>;
};

type Amount = { readonly effect: string; readonly micros: string };

function reserve(state: BudgetStreamState, { effect, micros }: MoneyJson & Amount): BudgetStreamState {
  const amount = BigInt(micros);
  const reservations = new Map(state.reservations).set(effect, amount);
  return { ...state, reserved: state.reserved + amount, reservations };
}

function release(state: BudgetStreamState, { effect }: Pick<Amount, "effect">): BudgetStreamState {
  const held = state.reservations.get(effect) ?? 0n;
  const reservations = new Map(state.reservations);
  reservations.delete(effect);
  return { ...state, reserved: state.reserved - held, reservations };
}

function settle(state: BudgetStreamState, { effect, micros }: Amount): BudgetStreamState {
  const over = BigInt(micros) - (state.reservations.get(effect) ?? 0n);
  const overrun = state.overrun + (over > 0n ? over : 0n);
  return { ...release(state, { effect }), spent: state.spent + BigInt(micros), overrun };
}

const { after, define } = defineStream<BudgetStreamState>();

export const budgetKind = define("budget", {
  what: "A budget",
  version: 2,
  initial: { limit: null, spent: 0n, reserved: 0n, overrun: 0n, reservations: new Map() },
  events: {
    "budget.limited": after(
      "live",
      "it has this limit from now on",
      (state, limit: MoneyJson & Via & { readonly by: string }) => ({
        ...state,
        limit: moneyFromJson(limit),
      }),
    ),
    "budget.reserved": after("live", "an effect that starts has reserved this", reserve),
    "budget.settled": after("live", "the effect happened; this was spent", settle),
    "budget.released": after("live", "the effect certainly did not happen; the reservation ends", release),
    "budget.refused": after(
      "live",
      "an effect asked for more than there was",
      (state, _: MoneyJson & Amount & { readonly reason: string }) => state,
    ),
  },
  lists: [
    {
      bucket: () => "open",
      data: () => ({}),
      /** Same timestamp for all rows, so that they sort by the age of their streams. */
      orders: { age: { view: "budgets", version: 1, only: ({ limit }) => limit !== null, at: () => 0 } },
      isFixed: true,
    },
  ],
});

export function limitBudget(limit: Money, by: string, how: Via = {}): NewEvent[] {
  return [budgetKind.event("budget.limited", { ...moneyToJson(limit), by, ...channelField(how) })];
}

type Reservation =
  | { readonly admitted: true; readonly events: NewEvent[] }
  | { readonly admitted: false; readonly reason: string; readonly events: NewEvent[] };

export function reserveAmount(state: BudgetStreamState, effect: string, amount: Money): Reservation {
  const no = (reason: string): Reservation => ({
    admitted: false,
    reason,
    events: [budgetKind.event("budget.refused", { effect, ...moneyToJson(amount), reason })],
  });
  if (state.limit === null) return no("the budget was never opened: hp.budgets.limit() opens it");
  if (state.limit.currency !== amount.currency) {
    return no(`the budget is in ${state.limit.currency}, the cost in ${amount.currency}`);
  }
  if (amount.micros < 0n) return no("a cost cannot be negative");
  const left = state.limit.micros - state.spent - state.reserved;
  if (amount.micros > left) {
    const { currency } = amount;
    return no(`it asks for ${moneyText(amount)} and ${moneyText({ currency, micros: left })} are left`);
  }
  return {
    admitted: true,
    events: [budgetKind.event("budget.reserved", { effect, ...moneyToJson(amount) })],
  };
}

/** Ends a reservation. Does nothing if it has ended already. */
export function settleReservation(
  state: BudgetStreamState,
  effect: string,
  spent: bigint | "released",
): NewEvent[] {
  if (!state.reservations.has(effect)) return [];
  if (spent === "released") return [budgetKind.event("budget.released", { effect })];
  return [budgetKind.event("budget.settled", { effect, micros: spent.toString() })];
}

export function isBudgetName(id: unknown): id is string {
  return typeof id === "string" && /^[A-Za-z0-9_.:-]{1,128}$/.test(id);
}
