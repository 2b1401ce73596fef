/**
 * Regular expressions in linear time: `matches` finds the pattern anywhere in the text. Patterns come from the policy
 * and are compiled with it, never from arguments: compiling may take a second. A match costs what the text makes of the
 * pattern: each set of positions is charged when a text first reaches it, cached or not, so the same text always costs
 * the same steps. Before each text the library's cache is kept below `MOST_KEPT`, so that no text ever finds it full.
 */
import { RE2JS } from "re2js";
import { ExpressionError, type Meter, spend } from "./values.ts";

const STEPS_PER_CHARACTER = 2;
/** Each position of a set is looked up, followed and inserted in order. */
const STEPS_PER_PLACE = 20;
const STEPS_PER_SET = 150;
const MOST_KEPT = 4_194_304;
const MOST_IN_A_TEXT = 268_435_456;
const END = -1;
const ANYWHERE = 0;
/** The library returns a character with its width in the lowest bits. */
const WIDTH_BITS = 3;
const WIDTH = 7;

type Places = {
  readonly nfaStates: readonly number[];
  readonly isMatch: boolean;
  readonly next: readonly (Places | null)[] | null;
};
type Input = { readonly step: (at: number) => number; readonly endPos: () => number };
/** The parts of the library's automaton that are used here. The library cannot count its own work. */
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

/** Moves to the next set, and charges for each set that is new to this text. */
function follower(automaton: Automaton, begin: Places, meter: Meter) {
  const seen = new Set([begin]);
  return (from: Places, group: number, rune: number): Places => {
    const next = from.next?.[group] ?? automaton.step(from, group, rune, ANYWHERE);
    // Not reached in practice: the steps run out long before one text fills the cache.
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

/** If the library's automaton is not available, each character is charged for the whole pattern. */
export function meterPattern(pattern: RE2JS, size: number): (text: string, meter: Meter) => boolean {
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

export const LONGEST_PATTERN = 1_000;
const LARGEST_PROGRAM = 5_000;
const STEPS_TO_BEGIN = 40;
const KEPT = 500;

type Pattern = { readonly test: (text: string, meter: Meter) => boolean };

function made(source: string): Pattern | string {
  if (source.length > LONGEST_PATTERN) return `the pattern is over ${LONGEST_PATTERN} characters`;
  try {
    const compiled = RE2JS.compile(source);
    const size = compiled.programSize();
    return size > LARGEST_PROGRAM ? "the pattern repeats too much" : { test: meterPattern(compiled, size) };
  } catch (error) {
    return `the pattern is not one: ${said(error)}`;
  }
}

function said(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text
    .replace(/^error parsing regexp: /, "")
    .slice(0, 200)
    .toWellFormed();
}

/** A cache: a rule for many tools is checked for each of them, and a policy is read repeatedly. */
const recent = new Map<string, Pattern | string>();

/** The pattern, or why it is invalid. */
export function patternOf(source: string): Pattern | string {
  const known = recent.get(source);
  if (known !== undefined) return known;
  const pattern = made(source);
  const oldest = recent.keys().next();
  if (recent.size >= KEPT && oldest.done !== true) recent.delete(oldest.value);
  recent.set(source, pattern);
  return pattern;
}

export function testPattern(pattern: Pattern, text: string, meter: Meter): boolean {
  spend(meter, STEPS_TO_BEGIN);
  return pattern.test(text, meter);
}

/** Only an unchecked tree gets here. */
export function noPattern(): never {
  throw new ExpressionError("the pattern has to stand in the policy");
}
