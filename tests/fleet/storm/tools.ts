/** What the checker has to know of the tools of the fleet. */
import type { EffectClass } from "../../../src/index.ts";

export const BUDGET = "shared";
/** Kept while it runs or is in doubt, and what it costs in the end. */
export const RESERVED = 2_000_000n;
export const SPENT = 1_500_000n;

export type Spec = {
  readonly effect: EffectClass;
  /** Whether the receiver's log has a line for it. */
  readonly isSeen: boolean;
  readonly costs: boolean;
};

const seen = (effect: EffectClass): Spec => ({ effect, isSeen: true, costs: false });

export const SPECS: ReadonlyMap<string, Spec> = new Map([
  ["once.pay", seen("once")],
  ["keyed.post", seen("keyed")],
  ["again.put", seen("idempotent")],
  ["probed.send", seen("probed")],
  ["bank.draw", { ...seen("once"), costs: true }],
  ["asked.wire", seen("once")],
  ["ship", seen("keyed")],
  ["trip.book", seen("keyed")],
  ["trip.pay", seen("once")],
  ["trip.tell", seen("keyed")],
  ["trip.book.undo", seen("keyed")],
  ["trip.pay.undo", seen("once")],
  ["trip.begin", { effect: "idempotent", isSeen: false, costs: false }],
]);
