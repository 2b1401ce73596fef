/**
 * Regular expressions in time linear in the text: `matches` finds the pattern anywhere in it.
 *
 * R1. A pattern stands in the policy and is compiled with it. To compile one may take a second, so none comes from arguments.
 */
import { RE2JS } from "re2js";
import { type Meter, spend } from "./meter.ts";
import { metered } from "./metered-pattern.ts";
import { ExpressionError } from "./values.ts";

export const LONGEST_PATTERN = 1_000;
const LARGEST_PROGRAM = 5_000;
const STEPS_TO_BEGIN = 40;
const KEPT = 500;

export type Pattern = { readonly test: (text: string, meter: Meter) => boolean };

function made(source: string): Pattern | string {
  if (source.length > LONGEST_PATTERN) return `the pattern is over ${LONGEST_PATTERN} characters`;
  try {
    const compiled = RE2JS.compile(source);
    const size = compiled.programSize();
    return size > LARGEST_PROGRAM ? "the pattern repeats too much" : { test: metered(compiled, size) };
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

/** A rule for many tools is checked for each of them, and a policy is read again and again. */
const recent = new Map<string, Pattern | string>();

/** The pattern, or why it is none. */
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

/** Only a tree that was not checked gets here. */
export function noPattern(): never {
  throw new ExpressionError("the pattern has to stand in the policy");
}
