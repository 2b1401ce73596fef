/** Unified diffs, line by line. */
export type DiffLine = {
  readonly kind: "file" | "place" | "added" | "removed" | "same";
  /** As it stands there, the sign included. */
  readonly text: string;
  readonly at: number;
};

/** Lines of a hunk that are still to come. */
type Left = { readonly before: number; readonly after: number };

const HUNK = /^@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@/;
const HEAD =
  /^(diff --git |index [0-9a-f]+|--- |\+\+\+ |(new|deleted) file mode |(rename|copy) (from|to) |(dis)?similarity index |(old|new) mode )/;
/** A context line that is empty may have lost its blank. */
const WITHIN = /^([-+ ]|\\ |\r?$)/;
const NONE_LEFT: Left = { before: 0, after: 0 };

const isOpen = ({ before, after }: Left): boolean => before > 0 || after > 0;

function leftIn(line: string): Left | undefined {
  const opens = HUNK.exec(line);
  return opens === null ? undefined : { before: Number(opens[1] ?? 1), after: Number(opens[2] ?? 1) };
}

function kindOf(line: string, isInHunk: boolean): DiffLine["kind"] {
  // "\ No newline at end of file" counts as no line.
  if (line.startsWith("@@") || line.startsWith("\\ ")) return "place";
  if (!isInHunk) return HEAD.test(line) ? "file" : "same";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "same";
}

function spent(left: Left, kind: DiffLine["kind"]): Left {
  return {
    before: left.before - (kind === "removed" || kind === "same" ? 1 : 0),
    after: left.after - (kind === "added" || kind === "same" ? 1 : 0),
  };
}

/** What was read last: some head, `---`, `+++`, or a hunk. */
type Read = { readonly last: "head" | "minus" | "plus" | "hunk"; readonly left: Left };

function readInHunk({ left }: Read, line: string): Read | undefined {
  const then = spent(left, kindOf(line, true));
  return WITHIN.test(line) && then.before >= 0 && then.after >= 0 ? { last: "hunk", left: then } : undefined;
}

/** Undefined where that line cannot stand there. */
function readNext(read: Read, line: string): Read | undefined {
  const { last, left } = read;
  if (isOpen(left)) return readInHunk(read, line);
  const opened = leftIn(line);
  if (opened !== undefined)
    return last === "plus" || last === "hunk" ? { last: "hunk", left: opened } : undefined;
  if (last === "minus") return line.startsWith("+++ ") ? { last: "plus", left } : undefined;
  if (last === "plus" || line.startsWith("+++ ")) return undefined;
  if (last === "hunk" && line.startsWith("\\ ")) return read;
  if (line.startsWith("--- ")) return { last: "minus", left };
  return HEAD.test(line) ? { last: "head", left } : undefined;
}

/**
 * Whether all of it is a diff: heads, hunks of as many lines as they say, and nothing else. A text that only holds one is none:
 * lines of it that run would be marked as taken away.
 */
export function isDiff(text: string): boolean {
  if (!/^(diff --git |--- )/.test(text)) return false;
  let read: Read | undefined = { last: "head", left: NONE_LEFT };
  for (const line of text.replace(/\n$/, "").split("\n")) {
    read = readNext(read, line);
    if (read === undefined) return false;
  }
  return read.last === "hunk" && !isOpen(read.left);
}

/** Of a diff, or its beginning. Within a hunk, a line that only looks like a heading is none: `--- x` takes `-- x` away. */
export function diffLines(text: string): readonly DiffLine[] {
  let left = NONE_LEFT;
  return text.split("\n").map((line, at) => {
    const isInHunk = isOpen(left);
    const kind = kindOf(line, isInHunk);
    left = isInHunk ? spent(left, kind) : (leftIn(line) ?? NONE_LEFT);
    return { kind, text: line, at };
  });
}

export function diffFigures(lines: readonly DiffLine[]): {
  readonly added: number;
  readonly removed: number;
} {
  const count = (kind: DiffLine["kind"]) => lines.filter((line) => line.kind === kind).length;
  return { added: count("added"), removed: count("removed") };
}
