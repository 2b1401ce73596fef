/**
 * The steps that a verdict may take.
 *
 * M1. Whatever takes time in proportion to its input is paid for, before it is done or at once where only doing it tells how
 *     much it is. So a verdict's work is bounded, whatever the arguments and the history are.
 * M2. A step is some 8 nanoseconds of a usual machine, which is what a part of an expression takes: what takes longer costs more
 *     of them. All the steps that a verdict may take are some 20 milliseconds.
 */
import { ExpressionError, TooCostly } from "./values.ts";

export const STEPS_PER_VERDICT = 2_500_000;
/** An error that another side, or another item, makes up for: to throw one takes long. */
export const STEPS_PER_ERROR = 1_200;
/** A time that is read or written as text, and a number that is rounded by its text. */
export const STEPS_PER_READING = 200;
/** A number as text, and text as a number. */
export const STEPS_PER_NUMBER = 80;
/** To list the keys of an object takes longer than to go through a list. */
const STEPS_PER_KEY = 6;
/** Characters that are looked at in one step. */
const CHARACTERS_PER_STEP = 8;
const CHARACTERS_COUNTED_PER_STEP = 2;
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

/** Text that is gone through character by character. */
export function spendCharacters(meter: Meter, characters: number): void {
  spend(meter, 1 + characters / CHARACTERS_COUNTED_PER_STEP);
}

export function spendKeys(meter: Meter, keys: number): void {
  spend(meter, 1 + STEPS_PER_KEY * keys);
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
