/**
 * Text that Holdpoint did not write: an agent's, a tool's, a stranger's. It is always shown through here: as text, with what
 * would be invisible written out and marked, in the order in which it is stored. Only sentences that are written from right to
 * left are drawn so, and marked.
 */
import { useMemo } from "react";
import { visible, visibleJson } from "../../../src/kernel/text.ts";
import { countText } from "../format/amounts.ts";
import { hiddenRuns, type Piece } from "../format/hidden-runs.ts";
import { holdsRightToLeft } from "../format/right-to-left.ts";
import { classes } from "./classes.ts";

type Props = {
  readonly text: string;
  readonly className?: string;
  /** `json`: the text is JSON, and hidden characters become its own escapes. `lines`: line breaks are kept. */
  readonly as?: "line" | "lines" | "json";
  /** Sentences, to be read; everything else is exact. */
  readonly isProse?: boolean;
};

const shownAs = {
  line: visible,
  lines: (text: string) => text.split("\n").map(visible).join("\n"),
  json: visibleJson,
} as const;

const MARK = "rounded-small bg-hold-wash px-0.5 text-hold";

/** Before what they are written as, which is long. */
const Letters = ({ letters }: { readonly letters: string }) =>
  letters === "" ? null : <span className="font-semibold select-none">hidden letters “{letters}” </span>;

function Shown({ piece }: { readonly piece: Piece }) {
  if (piece.kind === "plain") return piece.text;
  if (piece.kind === "hidden")
    return (
      <mark title="characters that cannot be seen" className={MARK}>
        <Letters letters={piece.letters} />
        {piece.text}
      </mark>
    );
  return (
    <>
      <mark className={MARK}>
        {countText(piece.hidden)} more that cannot be seen follow, written out and not marked:{" "}
        <Letters letters={piece.letters} />
      </mark>
      {piece.text}
    </>
  );
}

const Turned = () => (
  <>
    <span className={classes(MARK, "text-tiny select-none")}>written right to left</span>{" "}
  </>
);

export function Strange({ text, className, as = "line", isProse = as === "lines" }: Props) {
  const isTurned = isProse && holdsRightToLeft(text);
  const pieces = useMemo(() => hiddenRuns(shownAs[as](text)), [text, as]);
  return (
    <bdi className={classes("strange", isTurned && "as-written", className)}>
      {isTurned ? <Turned /> : null}
      {pieces.map((piece) => (
        <Shown key={piece.at} piece={piece} />
      ))}
    </bdi>
  );
}
