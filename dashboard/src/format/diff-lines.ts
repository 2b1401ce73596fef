/** Unified diffs, line by line. */
export type DiffLine = {
  readonly kind: "file" | "place" | "added" | "removed" | "same";
  /** As it stands there, the sign included. */
  readonly text: string;
  readonly at: number;
};

const HUNK = /^@@ -\d+(,\d+)? \+\d+(,\d+)? @@/m;
const HEAD =
  /^(diff --git |index [0-9a-f]+|--- |\+\+\+ |new file|deleted file|rename |similarity |old mode|new mode)/;

export const isDiff = (text: string): boolean => HUNK.test(text) && /^[+-]/m.test(text);

function kindOf(line: string, isInHunk: boolean): DiffLine["kind"] {
  if (line.startsWith("@@")) return "place";
  if (!isInHunk || line.startsWith("diff --git ")) return HEAD.test(line) ? "file" : "same";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "same";
}

/** A line that only looks like a heading counts as what it is: within a hunk, `--- x` takes `-- x` away. */
export function diffLines(text: string): readonly DiffLine[] {
  let left = { before: 0, after: 0 };
  return text.split("\n").map((line, at) => {
    const opens = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
    if (opens !== null) {
      left = { before: Number(opens[1] ?? 1), after: Number(opens[2] ?? 1) };
      return { kind: "place", text: line, at };
    }
    const isInHunk = left.before > 0 || left.after > 0;
    const kind = kindOf(line, isInHunk);
    if (isInHunk) left = spent(left, kind);
    return { kind, text: line, at };
  });
}

function spent(left: { before: number; after: number }, kind: DiffLine["kind"]) {
  return {
    before: left.before - (kind === "removed" || kind === "same" ? 1 : 0),
    after: left.after - (kind === "added" || kind === "same" ? 1 : 0),
  };
}

export function diffFigures(lines: readonly DiffLine[]): {
  readonly added: number;
  readonly removed: number;
} {
  const count = (kind: DiffLine["kind"]) => lines.filter((line) => line.kind === kind).length;
  return { added: count("added"), removed: count("removed") };
}
