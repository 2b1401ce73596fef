/**
 * Compares a text with the fixture that pins it, and shows the first lines that differ. `npm run pins -- --update`
 * writes the fixtures instead.
 */
import { AssertionError } from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

const FIXTURES = new URL("./fixtures/", import.meta.url);
/** Changed lines that a message shows; the rest is counted. */
const MOST_SHOWN = 24;
/** How far ahead the comparison looks for lines that agree again. */
const LOOK_AHEAD = 400;
/** Longer lines are cut around the first character that differs. */
const MOST_CHARACTERS = 240;
/** A line of a fixture that names what the lines below it are about: a command, a route, an event type, a path of OpenAPI. */
const HEADING = /^== |^ {4}"\/[^"]*": \{$/;

type Change = {
  readonly line: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
};

/** The nearest pair of equal lines, counted from both positions; undefined when there is none within reach. */
function nextMatch(
  before: readonly string[],
  after: readonly string[],
): readonly [number, number] | undefined {
  const firstAt = new Map<string, number>();
  for (const [at, line] of after.slice(0, LOOK_AHEAD).entries())
    if (!firstAt.has(line)) firstAt.set(line, at);
  const pairs = before.slice(0, LOOK_AHEAD).flatMap((line, at) => {
    const there = firstAt.get(line);
    return there === undefined ? [] : [[at, there] as const];
  });
  return pairs.toSorted((a, b) => a[0] + a[1] - b[0] - b[1])[0];
}

function changesBetween(before: readonly string[], after: readonly string[]): readonly Change[] {
  const changes: Change[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (before[i] === after[j]) {
      [i, j] = [i + 1, j + 1];
      continue;
    }
    const [removed, added] = nextMatch(before.slice(i), after.slice(j)) ?? [
      before.length - i,
      after.length - j,
    ];
    changes.push({ line: i + 1, removed: before.slice(i, i + removed), added: after.slice(j, j + added) });
    [i, j] = [i + removed, j + added];
  }
  return changes;
}

/** The nearest heading above a line, so that a reader knows what it is about. */
function headingAbove(lines: readonly string[], line: number): string {
  const heading = lines.slice(0, line).findLast((text) => HEADING.test(text));
  return heading === undefined ? "" : `  ${heading.trim()}`;
}

/** The part of a line in which it first differs from another. */
function clip(line: string, other = ""): string {
  if (line.length <= MOST_CHARACTERS) return line;
  const same = [...line].findIndex((character, at) => character !== other[at]);
  const start = Math.max(0, Math.min(same - MOST_CHARACTERS / 4, line.length - MOST_CHARACTERS));
  const end = start + MOST_CHARACTERS;
  return `${start > 0 ? "…" : ""}${line.slice(start, end)}${end < line.length ? "…" : ""}`;
}

/** Lines that changed one for one stand in pairs. */
function changedLines({ removed, added }: Change): readonly string[] {
  const old = removed.map((text, at) => `- ${clip(text, added[at])}`);
  const now = added.map((text, at) => `+ ${clip(text, removed[at])}`);
  return old.length === now.length ? old.flatMap((line, at) => [line, now[at] ?? ""]) : [...old, ...now];
}

/** The first differing lines of two texts, `-` for the first and `+` for the second; "" when they are equal. */
export function describeDifference(before: string, after: string): string {
  if (before === after) return "";
  const [old, now] = [before.split("\n"), after.split("\n")];
  const shown = changesBetween(old, now).flatMap((change) => [
    `@@ line ${change.line} @@${headingAbove(old, change.line)}`,
    ...changedLines(change),
  ]);
  const rest = shown.length - MOST_SHOWN;
  return [...shown.slice(0, MOST_SHOWN), ...(rest > 0 ? [`… ${rest} more lines`] : [])].join("\n");
}

/** `name`: the path of the fixture below tests/pins/fixtures/. */
export function readPin(name: string): string {
  const file = new URL(name, FIXTURES);
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

/** Fails when the text is not the fixture's; under `--update` it writes the fixture. */
export function comparePin(name: string, text: string): void {
  const pinned = readPin(name);
  if (pinned === text) return;
  const file = new URL(name, FIXTURES);
  if (process.env["HOLDPOINT_PINS"] === "update") {
    mkdirSync(new URL("./", file), { recursive: true });
    writeFileSync(file, text);
    return;
  }
  const message = [
    `tests/pins/fixtures/${name} is not what the code does now ("-" is pinned, "+" is now):`,
    describeDifference(pinned, text),
    "If the change is meant: npm run pins -- --update, review the diff, and name it in CHANGELOG.md.",
  ].join("\n");
  throw new AssertionError({ message, stackStartFn: comparePin });
}
