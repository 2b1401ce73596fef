import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isHoldpointError } from "../kernel/errors.ts";
import type { NewEvent } from "../kernel/stream.ts";
import {
  type BudgetStreamState,
  budgetKind,
  limitBudget,
  reserveAmount,
  settleReservation,
} from "./stream.ts";

const usd = (micros: bigint) => ({ currency: "USD", micros });
const fold = (
  events: readonly NewEvent[],
  from: BudgetStreamState = budgetKind.fold.initial,
): BudgetStreamState =>
  events.reduce(
    (state, event, index) => budgetKind.fold.evolve(state, { ...event, at: 1, seq: index + 1 }),
    from,
  );
const open = (micros: bigint) => fold(limitBudget(usd(micros), "person:ann"));
const reserved = (state: BudgetStreamState, effect: string, micros: bigint) =>
  fold(reserveAmount(state, effect, usd(micros)).events, state);

describe("a budget", () => {
  test("admits up to its limit and not one micro more", () => {
    assert.equal(reserveAmount(open(100n), "e", usd(100n)).admitted, true);
    assert.equal(reserveAmount(open(100n), "e", usd(101n)).admitted, false);
  });

  test("counts what is reserved and what is spent against the limit", () => {
    const state = reserved(open(100n), "e1", 60n);
    assert.equal(reserveAmount(state, "e2", usd(41n)).admitted, false);
    const spent = fold(settleReservation(state, "e1", 30n), state);
    assert.equal(reserveAmount(spent, "e2", usd(70n)).admitted, true);
    assert.equal(reserveAmount(spent, "e2", usd(71n)).admitted, false);
  });

  test("that is lowered below what is spent admits nothing, and keeps what was spent", () => {
    const state = fold(limitBudget(usd(10n), "person:ann"), reserved(open(100n), "e1", 60n));
    assert.equal(reserveAmount(state, "e2", usd(0n)).admitted, false);
    assert.equal(state.reserved, 60n);
  });

  test("holds amounts that no floating-point number could", () => {
    const huge = 9_007_199_254_740_993n;
    const state = reserved(open(huge), "e1", huge);
    assert.equal(state.reserved, huge);
    assert.equal(reserveAmount(state, "e2", usd(1n)).admitted, false);
  });

  test("ends a reservation once", () => {
    const state = reserved(open(100n), "e1", 60n);
    const ended = fold(settleReservation(state, "e1", "released"), state);
    assert.deepEqual(settleReservation(ended, "e1", 60n), []);
    assert.deepEqual([ended.reserved, ended.spent], [0n, 0n]);
  });

  test("shows what was spent beyond what had been reserved", () => {
    const state = reserved(open(100n), "e1", 60n);
    assert.partialDeepStrictEqual(fold(settleReservation(state, "e1", 75n), state), {
      spent: 75n,
      overrun: 15n,
      reserved: 0n,
    });
  });

  test("keeps the state it was made from as it was", () => {
    const before = reserved(open(100n), "e1", 10n);
    const after = reserved(fold(settleReservation(before, "e1", 10n), before), "e2", 20n);
    assert.deepEqual([...before.reservations], [["e1", 10n]]);
    assert.deepEqual([...after.reservations], [["e2", 20n]]);
  });

  test("meets an unknown or a newer event with an error, never with a guess", () => {
    const unknown = (error: unknown) => isHoldpointError(error, "unknown_event");
    assert.throws(() => fold([{ type: "budget.gifted", tv: 1, body: {} }]), unknown);
    assert.throws(
      () => fold([{ type: "budget.limited", tv: 2, body: { currency: "USD", micros: "1" } }]),
      unknown,
    );
  });

  test("cannot be read once an amount was erased", () => {
    const erased = { type: "budget.reserved", tv: 1, at: 1, seq: 1, body: null };
    assert.throws(
      () => budgetKind.fold.evolve(open(1n), erased),
      (error) => isHoldpointError(error, "body_erased"),
    );
  });
});
