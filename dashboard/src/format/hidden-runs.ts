/**
 * Where characters that cannot be seen stand in a text that has them written out. A text of a million of them is told in few
 * pieces: neighbours in one, alike ones counted; what is left out of that, or no longer told apart, is said.
 */
import { ESCAPES } from "../../../src/core/visible.ts";
import { countText } from "./amounts.ts";

export type Piece =
  | { readonly kind: "plain"; readonly at: number; readonly text: string }
  /** One or several that cannot be seen, as they are told. */
  | { readonly kind: "hidden"; readonly at: number; readonly text: string }
  /** All that follows: written out, and no longer marked. */
  | { readonly kind: "rest"; readonly at: number; readonly text: string; readonly hidden: number };

const MOST_RUNS = 1_000;
/** In one run: so many are written one by one, and so many that differ are told at all. */
const MOST_WRITTEN = 100;
const MOST_TOLD = 100;

type Alike = { readonly written: string; count: number };
type Run = { readonly at: number; end: number; count: number; readonly alike: Alike[]; told: number };

function add(run: Run, written: string): void {
  run.end += written.length;
  run.count += 1;
  const last = run.alike.at(-1);
  const isMore = run.told + 1 === run.count;
  if (isMore && last?.written === written) last.count += 1;
  else if (isMore && run.alike.length < MOST_TOLD) run.alike.push({ written, count: 1 });
  else return;
  run.told += 1;
}

function wordsOf({ count, alike, told }: Run): string {
  if (count <= MOST_WRITTEN) return alike.map(({ written, count: times }) => written.repeat(times)).join("");
  const groups = alike.map(({ written, count: times }) =>
    times === 1 ? written : `${written} × ${countText(times)}`,
  );
  return `${groups.join(" ")}${told === count ? "" : ` … and ${countText(count - told)} more, left out here`}`;
}

/** `text` as `visible` or `visibleJson` wrote it. */
export function hiddenRuns(text: string): readonly Piece[] {
  const runs: Run[] = [];
  let hidden = 0;
  for (const { 0: written, 1: isBackslash, index } of text.matchAll(ESCAPES)) {
    if (isBackslash !== undefined) continue;
    const last = runs.at(-1);
    if (last?.end === index) add(last, written);
    else if (runs.length < MOST_RUNS) {
      const run = { at: index, end: index, count: 0, alike: [], told: 0 };
      add(run, written);
      runs.push(run);
    } else hidden += 1;
  }
  const pieces: Piece[] = [];
  let from = 0;
  for (const run of runs) {
    if (run.at > from) pieces.push({ kind: "plain", at: from, text: text.slice(from, run.at) });
    pieces.push({ kind: "hidden", at: run.at, text: wordsOf(run) });
    from = run.end;
  }
  const left = text.slice(from);
  if (hidden > 0) return [...pieces, { kind: "rest", at: from, text: left, hidden }];
  return left === "" ? pieces : [...pieces, { kind: "plain", at: from, text: left }];
}
