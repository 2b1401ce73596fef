/**
 * Where characters that cannot be seen stand in a text that has them written out. A text of a million of them is told in few
 * pieces: neighbours in one, alike ones counted. None is left out; those that stand for letters are read too.
 */
import { ESCAPES } from "../../../src/kernel/text.ts";
import { countText } from "./amounts.ts";

export type Piece =
  | { readonly kind: "plain"; readonly at: number; readonly text: string }
  /** One or several that cannot be seen, as they are told, and the letters that tags among them stand for. */
  | { readonly kind: "hidden"; readonly at: number; readonly text: string; readonly letters: string }
  /** All that follows: written out, and no longer marked. */
  | {
      readonly kind: "rest";
      readonly at: number;
      readonly text: string;
      readonly letters: string;
      readonly hidden: number;
    };

const MOST_RUNS = 1_000;
/** In one run: so many are written one by one, and so many groups of alike ones counted. */
const MOST_WRITTEN = 100;
const MOST_COUNTED = 100;

/** A tag, U+E0020 to U+E007E, as `visible` writes it and as JSON does: an ASCII letter that nobody sees and models read. */
const TAGS = /\\(?:u\{e00|udb40\\udc)(?!7f)([2-7][\da-f])/g;

function lettersIn(written: string): string {
  let letters = "";
  for (const [, code = ""] of written.matchAll(TAGS))
    letters += String.fromCharCode(Number.parseInt(code, 16));
  return letters;
}

type Alike = { readonly written: string; count: number };
/** `counted`: where the groups of alike ones end. */
type Run = { readonly at: number; end: number; count: number; readonly alike: Alike[]; counted: number };

function add(run: Run, written: string): void {
  const isMore = run.counted === run.end;
  run.end += written.length;
  run.count += 1;
  const last = run.alike.at(-1);
  if (isMore && last?.written === written) last.count += 1;
  else if (isMore && run.alike.length < MOST_COUNTED) run.alike.push({ written, count: 1 });
  else return;
  run.counted = run.end;
}

function wordsOf(text: string, { at, end, count, alike, counted }: Run): string {
  if (count <= MOST_WRITTEN) return text.slice(at, end);
  const groups = alike.map(({ written, count: times }) =>
    times === 1 ? written : ` ${written} × ${countText(times)} `,
  );
  return `${groups.join("").replaceAll("  ", " ")}${text.slice(counted, end)}`.trim();
}

function hiddenPiece(text: string, run: Run): Piece {
  const letters = lettersIn(text.slice(run.at, run.end));
  return { kind: "hidden", at: run.at, text: wordsOf(text, run), letters };
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
      const run = { at: index, end: index, count: 0, alike: [], counted: index };
      add(run, written);
      runs.push(run);
    } else hidden += 1;
  }
  const pieces: Piece[] = [];
  let from = 0;
  for (const run of runs) {
    if (run.at > from) pieces.push({ kind: "plain", at: from, text: text.slice(from, run.at) });
    pieces.push(hiddenPiece(text, run));
    from = run.end;
  }
  const left = text.slice(from);
  if (hidden > 0)
    return [...pieces, { kind: "rest", at: from, text: left, letters: lettersIn(left), hidden }];
  return left === "" ? pieces : [...pieces, { kind: "plain", at: from, text: left }];
}
