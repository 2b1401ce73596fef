/** Regular expressions in time linear in the text: `matches` finds the pattern anywhere in it. */
import { RE2JS } from "re2js";
import { type Meter, spend } from "./meter.ts";
import { ExpressionError } from "./values.ts";

export const LONGEST_PATTERN = 1_000;
const LARGEST_PROGRAM = 5_000;
/** How many instructions of a pattern over a character make one step. */
const INSTRUCTIONS_PER_STEP = 16;
const KEPT = 200;

export type Pattern = { readonly test: (text: string) => boolean; readonly size: number };

/** Why it is no pattern is the text of the error. */
export function compilePattern(source: string): Pattern {
  if (source.length > LONGEST_PATTERN)
    throw new ExpressionError(`the pattern is over ${LONGEST_PATTERN} characters`);
  try {
    const compiled = RE2JS.compile(source);
    const size = compiled.programSize();
    if (size <= LARGEST_PROGRAM) return { test: (text) => compiled.test(text), size };
  } catch (error) {
    throw new ExpressionError(`the pattern is not one: ${said(error)}`, { cause: error });
  }
  throw new ExpressionError("the pattern repeats too much");
}

function said(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text
    .replace(/^error parsing regexp: /, "")
    .slice(0, 200)
    .toWellFormed();
}

export function testPattern(pattern: Pattern, text: string, meter: Meter): boolean {
  spend(meter, 1 + (text.length * pattern.size) / INSTRUCTIONS_PER_STEP);
  return pattern.test(text);
}

/** Patterns that are themselves computed, or data. */
const recent = new Map<string, Pattern>();

export function patternFor(source: string, meter: Meter): Pattern {
  // Before the look: what a verdict costs must not hang on what came before it.
  spend(meter, LARGEST_PROGRAM);
  const known = recent.get(source);
  if (known !== undefined) return known;
  const pattern = compilePattern(source);
  const oldest = recent.keys().next();
  if (recent.size >= KEPT && oldest.done !== true) recent.delete(oldest.value);
  recent.set(source, pattern);
  return pattern;
}
