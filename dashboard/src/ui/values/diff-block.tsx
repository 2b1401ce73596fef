/** A unified diff: what goes and what comes, by sign and by colour. */
import { useMemo } from "react";
import { type DiffLine, diffFigures, diffLines } from "../../format/diff-lines.ts";
import { classes } from "../classes.ts";
import { Strange } from "../strange.tsx";
import { Foldable } from "./foldable.tsx";

const LOOKS: { readonly [kind in DiffLine["kind"]]: string } = {
  file: "bg-sunken font-semibold text-soft",
  place: "bg-note-wash text-note",
  added: "bg-go-wash text-go",
  removed: "bg-stop-wash text-stop",
  same: "text-ink",
};

/** More lines than this are shown without colours: each costs, and an agent may send a million. */
const MOST_COLOURED = 2_000;

function Line({ line: { kind, text } }: { readonly line: DiffLine }) {
  const isSigned = kind === "added" || kind === "removed";
  return (
    <span className={classes("flex px-3", LOOKS[kind])}>
      {isSigned ? (
        <span className="w-4 shrink-0 font-semibold">
          <span aria-hidden="true">{kind === "added" ? "+" : "−"}</span>
          <span className="sr-only">{kind}: </span>
        </span>
      ) : null}
      <Strange
        text={isSigned ? text.slice(1) : text}
        className={classes("min-w-0 grow", !isSigned && "pl-4")}
      />
    </span>
  );
}

function Lines({ text }: { readonly text: string }) {
  const lines = useMemo(() => diffLines(text), [text]);
  return (
    <code className="block py-1 font-mono text-small">
      {lines.length > MOST_COLOURED ? (
        <Strange text={text} as="lines" isProse={false} className="px-3" />
      ) : (
        lines.map((line) => <Line key={line.at} line={line} />)
      )}
    </code>
  );
}

export function DiffBlock({ text }: { readonly text: string }) {
  const { added, removed } = useMemo(() => diffFigures(diffLines(text)), [text]);
  return (
    <figure className="min-w-0 overflow-hidden rounded-base border border-line bg-ground">
      <figcaption className="flex gap-3 border-b border-line px-3 py-1 text-tiny font-semibold text-faint">
        Difference
        <span className="text-go">+{added} added</span>
        <span className="text-stop">−{removed} removed</span>
      </figcaption>
      <Foldable text={text}>{(shown) => <Lines text={shown} />}</Foldable>
    </figure>
  );
}
