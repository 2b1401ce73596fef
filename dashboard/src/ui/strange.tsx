/**
 * Text that Holdpoint did not write: an agent's, a tool's, a stranger's. It is always shown through here: as text, in one
 * direction, with what would be invisible written out and marked.
 */
import { ESCAPES, visible, visibleJson } from "../../../src/core/visible.ts";
import { classes } from "./classes.ts";

type Piece = { readonly text: string; readonly isEscape: boolean; readonly at: number };

function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const found of text.matchAll(ESCAPES)) {
    if (found[1] !== undefined) continue;
    if (found.index > from) pieces.push({ text: text.slice(from, found.index), isEscape: false, at: from });
    pieces.push({ text: found[0], isEscape: true, at: found.index });
    from = found.index + found[0].length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), isEscape: false, at: from });
  return pieces;
}

type Props = {
  readonly text: string;
  readonly className?: string;
  /** `json`: the text is JSON, and hidden characters become its own escapes. `lines`: line breaks are kept. */
  readonly as?: "line" | "lines" | "json";
};

const shownAs = {
  line: visible,
  lines: (text: string) => text.split("\n").map(visible).join("\n"),
  json: visibleJson,
} as const;

export function Strange({ text, className, as = "line" }: Props) {
  return (
    <bdi className={classes("strange", className)}>
      {piecesOf(shownAs[as](text)).map(({ text: part, isEscape, at }) =>
        isEscape ? (
          <mark
            key={at}
            title="a character that cannot be seen"
            className="rounded-small bg-hold-wash px-0.5 text-hold"
          >
            {part}
          </mark>
        ) : (
          part
        ),
      )}
    </bdi>
  );
}
