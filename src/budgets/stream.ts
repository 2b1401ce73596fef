/**
 * A budget: its limit, the amounts reserved by running effects, and the amount spent. Events, fold, decisions and list
 * projection.
 * - A reservation is admitted only while spent + reserved + amount ≤ limit.
 * - A reservation ends once: settled with the true amount, or released. It stays while the effect is in doubt.
 * - A list row records only that a budget exists. Amounts stay in the streams, or every effect would write a row.
 */

import type { JsonObject } from "../kernel/json.ts";
import { type Money, moneyText, moneyToJson } from "../kernel/money.ts";
import { channelField, type Via } from "../kernel/principal.ts";
import { eventBody, type Fold, type NewEvent } from "../kernel/stream.ts";

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

const BUDGET_EVENTS = [
  "budget.limited",
  "budget.reserved",
  "budget.settled",
  "budget.released",
  "budget.refused",
];

const micros = (body: JsonObject): bigint => BigInt(String(body["micros"]));

function without(
  reservations: BudgetStreamState["reservations"],
  effect: string,
): BudgetStreamState["reservations"] {
  const rest = new Map(reservations);
  rest.delete(effect);
  return rest;
}

export const budgetFold: Fold<BudgetStreamState> = {
  version: 2,
  initial: { limit: null, spent: 0n, reserved: 0n, overrun: 0n, reservations: new Map() },
  evolve(state, event) {
    const body = eventBody("A budget", event, BUDGET_EVENTS);
    const effect = String(body["effect"]);
    const held = state.reservations.get(effect) ?? 0n;
    switch (event.type) {
      case "budget.limited": {
        return { ...state, limit: { currency: String(body["currency"]), micros: micros(body) } };
      }
      case "budget.reserved": {
        const amount = micros(body);
        const reservations = new Map(state.reservations).set(effect, amount);
        return { ...state, reserved: state.reserved + amount, reservations };
      }
      case "budget.settled": {
        const amount = micros(body);
        const over = amount > held ? amount - held : 0n;
        return {
          ...state,
          spent: state.spent + amount,
          reserved: state.reserved - held,
          overrun: state.overrun + over,
          reservations: without(state.reservations, effect),
        };
      }
      case "budget.released":
        return {
          ...state,
          reserved: state.reserved - held,
          reservations: without(state.reservations, effect),
        };
      default:
        return state;
    }
  },
};

export function limitBudget(limit: Money, by: string, how: Via = {}): NewEvent[] {
  return [{ type: "budget.limited", tv: 1, body: { ...moneyToJson(limit), by, ...channelField(how) } }];
}

type Reservation =
  | { readonly admitted: true; readonly events: NewEvent[] }
  | { readonly admitted: false; readonly reason: string; readonly events: NewEvent[] };

export function reserveAmount(state: BudgetStreamState, effect: string, amount: Money): Reservation {
  const no = (reason: string): Reservation => ({
    admitted: false,
    reason,
    events: [{ type: "budget.refused", tv: 1, body: { effect, ...moneyToJson(amount), reason } }],
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
    events: [{ type: "budget.reserved", tv: 1, body: { effect, ...moneyToJson(amount) } }],
  };
}

/** Ends a reservation. Does nothing if it has ended already. */
export function settleReservation(
  state: BudgetStreamState,
  effect: string,
  spent: bigint | "released",
): NewEvent[] {
  if (!state.reservations.has(effect)) return [];
  if (spent === "released") return [{ type: "budget.released", tv: 1, body: { effect } }];
  return [{ type: "budget.settled", tv: 1, body: { effect, micros: spent.toString() } }];
}

export function isBudgetName(id: unknown): id is string {
  return typeof id === "string" && /^[A-Za-z0-9_.:-]{1,128}$/.test(id);
}

export const budgetsView = {
  view: "budgets",
  kind: "budget",
  version: 1,
  /** Same timestamp for all rows, so that they sort by the age of their streams. */
  row(_id: string, { limit }: BudgetStreamState) {
    return limit === null ? undefined : { bucket: "open", at: 0, due: null, data: {} };
  },
  isSame: (before: BudgetStreamState, after: BudgetStreamState) =>
    (before.limit === null) === (after.limit === null),
} as const;
