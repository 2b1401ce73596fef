/**
 * A pattern over a text, paid for by what that text makes of it. Nearly every text leads through a few sets of places in the
 * pattern, over and over, and a character costs the same in a large pattern as in a small one. Some lead to a new set with each
 * character, which takes a thousand times as long, and the length of neither says so.
 *
 * R2. A set is paid for when a text first comes to it, whether or not it is known from an earlier text: the same text takes the
 *     same steps every time.
 * R3. What the library keeps of a pattern stays below `MOST_KEPT` before each text, so that no text ever finds it full.
 */
import type { RE2JS } from "re2js";
import { type Meter, spend } from "./meter.ts";

const STEPS_PER_CHARACTER = 2;
/** Each place of a set is looked up, followed and sorted in. */
const STEPS_PER_PLACE = 20;
const STEPS_PER_SET = 150;
const MOST_KEPT = 4_194_304;
const MOST_IN_A_TEXT = 268_435_456;
const END = -1;
const ANYWHERE = 0;
/** The library hands over a character with its width in the lowest bits. */
const WIDTH_BITS = 3;
const WIDTH = 7;

type Places = {
  readonly nfaStates: readonly number[];
  readonly isMatch: boolean;
  readonly next: readonly (Places | null)[] | null;
};
type Input = { readonly step: (at: number) => number; readonly endPos: () => number };
/** The parts of the library's automaton that are used here: it has no way to count what it does. */
type Automaton = {
  readonly failed: boolean;
  readonly numClasses: number;
  stateBudget: number;
  memBudget: number;
  clearCache(): void;
  runeClass(rune: number): number;
  step(from: Places, group: number, rune: number, anchor: number): Places | null;
  run(input: Input, at: number, anchor: number, from: Places, onMatch: OnMatch): boolean | null;
};
type OnMatch = (places: Places, atEnd: boolean) => boolean;

function automatonOf(pattern: RE2JS): Automaton | undefined {
  const { dfa } = (pattern as unknown as { readonly re2Input?: { readonly dfa?: Automaton } }).re2Input ?? {};
  const isKnown = dfa !== undefined && [dfa.run, dfa.step, dfa.runeClass, dfa.clearCache].every(isFunction);
  return isKnown && !dfa.failed && Number.isFinite(dfa.memBudget) ? dfa : undefined;
}

const isFunction = (part: unknown): boolean => typeof part === "function";

/** Goes on to the next set, and pays for each that is new to this text. */
function follower(automaton: Automaton, begin: Places, meter: Meter) {
  const seen = new Set([begin]);
  return (from: Places, group: number, rune: number): Places => {
    const next = from.next?.[group] ?? automaton.step(from, group, rune, ANYWHERE);
    // Steps run out long before that much is kept of one text.
    if (next === null) return spend(meter, Number.POSITIVE_INFINITY) as never;
    if (next === from || seen.has(next)) return next;
    seen.add(next);
    spend(meter, STEPS_PER_SET + automaton.numClasses + STEPS_PER_PLACE * next.nfaStates.length);
    return next;
  };
}

function run(automaton: Automaton, meter: Meter): Automaton["run"] {
  return (...[input, start, , begin, onMatch]) => {
    const follow = follower(automaton, begin, meter);
    const end = input.endPos();
    let places = begin;
    for (let at = start; at < end; ) {
      const read = input.step(at);
      const rune = read >> WIDTH_BITS;
      places = follow(places, automaton.runeClass(rune), rune);
      if (places.isMatch && onMatch(places, false)) return true;
      at += Math.max(1, read & WIDTH);
    }
    const last = follow(places, automaton.numClasses, END);
    return last.isMatch && onMatch(last, true);
  };
}

/** Where the library's automaton is not to be had, each character pays for the whole pattern. */
export function metered(pattern: RE2JS, size: number): (text: string, meter: Meter) => boolean {
  const automaton = automatonOf(pattern);
  if (automaton === undefined)
    return (text, meter) => {
      spend(meter, text.length * size * STEPS_PER_PLACE);
      return pattern.test(text);
    };
  automaton.stateBudget = MOST_IN_A_TEXT;
  automaton.clearCache();
  return (text, meter) => {
    if (automaton.memBudget < MOST_IN_A_TEXT - MOST_KEPT) automaton.clearCache();
    spend(meter, STEPS_PER_CHARACTER * text.length);
    automaton.run = run(automaton, meter);
    return pattern.test(text);
  };
}
