/** What became of a text, line by line: the fewest lines taken out and put in. */
export type DiffLine = {
  readonly kind: "same" | "out" | "in";
  readonly text: string;
  /** Line numbers, from 1; null on the side where the line is not. */
  readonly before: number | null;
  readonly after: number | null;
};

type Lines = readonly string[];

/** Lengths of what both have in common from each pair of lines on. */
function commonFrom(before: Lines, after: Lines): readonly Uint32Array[] {
  const table = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let row = before.length - 1; row >= 0; row -= 1) {
    const own = table[row] ?? new Uint32Array();
    const next = table[row + 1] ?? new Uint32Array();
    for (let column = after.length - 1; column >= 0; column -= 1)
      own[column] =
        before[row] === after[column]
          ? (next[column + 1] ?? 0) + 1
          : Math.max(next[column] ?? 0, own[column + 1] ?? 0);
  }
  return table;
}

type Kind = DiffLine["kind"];
type Kinds = readonly Kind[];
type Place = { readonly row: number; readonly column: number };

function kindAt(
  { row, column }: Place,
  [before, after]: readonly [Lines, Lines],
  table: readonly Uint32Array[],
): Kind {
  if (column >= after.length) return "out";
  if (row >= before.length) return "in";
  if (before[row] === after[column]) return "same";
  return (table[row + 1]?.[column] ?? 0) >= (table[row]?.[column + 1] ?? 0) ? "out" : "in";
}

function kindsOf(before: Lines, after: Lines): Kinds {
  const table = commonFrom(before, after);
  const kinds: Kind[] = [];
  let row = 0;
  let column = 0;
  while (row < before.length || column < after.length) {
    const kind = kindAt({ row, column }, [before, after], table);
    kinds.push(kind);
    if (kind !== "in") row += 1;
    if (kind !== "out") column += 1;
  }
  return kinds;
}

function sharedStart(before: Lines, after: Lines): number {
  const most = Math.min(before.length, after.length);
  let count = 0;
  while (count < most && before[count] === after[count]) count += 1;
  return count;
}

/** Beginnings and ends that are alike are not compared pair by pair: versions differ in a few lines. */
function allKinds(before: Lines, after: Lines): Kinds {
  const start = sharedStart(before, after);
  const restBefore = before.slice(start);
  const restAfter = after.slice(start);
  const end = sharedStart(restBefore.toReversed(), restAfter.toReversed());
  const middle = kindsOf(
    restBefore.slice(0, restBefore.length - end),
    restAfter.slice(0, restAfter.length - end),
  );
  const same = (count: number): Kinds => Array.from({ length: count }, () => "same" as const);
  return [...same(start), ...middle, ...same(end)];
}

export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [left, right] = [before.split("\n"), after.split("\n")];
  let row = 0;
  let column = 0;
  return allKinds(left, right).map((kind) => {
    const text = (kind === "in" ? right[column] : left[row]) ?? "";
    if (kind !== "in") row += 1;
    if (kind !== "out") column += 1;
    return { kind, text, before: kind === "in" ? null : row, after: kind === "out" ? null : column };
  });
}

/** Lines that changed, with a few around them; null stands where lines that are alike were left out. */
export function changedParts(lines: readonly DiffLine[], around = 3): readonly (DiffLine | null)[] {
  const isNear = lines.map((_line, at) =>
    lines.slice(Math.max(0, at - around), at + around + 1).some(({ kind }) => kind !== "same"),
  );
  return lines.flatMap((line, at) => {
    if (isNear[at] === true) return [line];
    return at === 0 || isNear[at - 1] === true ? [null] : [];
  });
}
