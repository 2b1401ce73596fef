/**
 * The steps that a verdict may take.
 *
 * M1. Whatever takes time in proportion to its input is paid for before it is done. So a verdict's work is bounded, whatever the
 *     arguments and the history are.
 */
import { ExpressionError, TooCostly } from "./values.ts";

export const STEPS_PER_VERDICT = 1_000_000;
/** Characters that are looked at in one step. */
const CHARACTERS_PER_STEP = 32;
export const LONGEST_TEXT = 262_144;
export const LONGEST_LIST = 10_000;

export type Meter = { left: number };

export function spend(meter: Meter, steps: number): void {
  meter.left -= steps;
  if (meter.left < 0)
    throw new TooCostly(`the policy takes more than ${STEPS_PER_VERDICT} steps over this action`);
}

export function spendText(meter: Meter, characters: number): void {
  spend(meter, 1 + characters / CHARACTERS_PER_STEP);
}

/** Text that an expression makes. */
export function payForText(meter: Meter, characters: number): void {
  if (characters > LONGEST_TEXT) throw new ExpressionError(`the text is over ${LONGEST_TEXT} characters`);
  spendText(meter, characters);
}

/** A list that an expression makes. */
export function payForList(meter: Meter, items: number): void {
  if (items > LONGEST_LIST) throw new ExpressionError(`the list has over ${LONGEST_LIST} items`);
  spend(meter, 1 + items);
}
