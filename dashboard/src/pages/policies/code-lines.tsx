/** A text with its line numbers; lines that something is said of are marked. */

import type { DiffLine } from "../../format/line-diff.ts";
import { classes } from "../../ui/classes.ts";
import { Strange } from "../../ui/strange.tsx";

const FRAME =
  "max-h-[70vh] overflow-auto rounded-base border border-line bg-sunken py-2 font-mono text-small leading-6 focus-visible:outline-2";
const NUMBER = "figures w-10 shrink-0 pr-3 text-right text-faint select-none";

type Props = { readonly label: string; readonly text: string };

export function CodeLines({ label, text }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has only a keyboard scrolls it too.
    <section aria-label={label} tabIndex={0} className={FRAME}>
      {text.split("\n").map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place.
        <div key={at} className="flex">
          <span aria-hidden="true" className={NUMBER}>
            {at + 1}
          </span>
          <Strange text={line} className="min-w-0 grow pr-3" />
        </div>
      ))}
    </section>
  );
}

const LOOKS = {
  same: { sign: " ", words: "", row: "" },
  out: { sign: "−", words: "taken out: ", row: "bg-stop-wash text-stop" },
  in: { sign: "+", words: "put in: ", row: "bg-go-wash text-go" },
} as const;

function ChangedLine({ line }: { readonly line: DiffLine }) {
  const { sign, words, row } = LOOKS[line.kind];
  return (
    <div className={classes("flex", row)}>
      <span aria-hidden="true" className={NUMBER}>
        {line.before ?? ""}
      </span>
      <span aria-hidden="true" className={NUMBER}>
        {line.after ?? ""}
      </span>
      <span aria-hidden="true" className="w-4 shrink-0 select-none">
        {sign}
      </span>
      <span className="sr-only">{words}</span>
      <Strange text={line.text} className="min-w-0 grow pr-3" />
    </div>
  );
}

export function DiffLines({
  label,
  lines,
}: {
  readonly label: string;
  readonly lines: readonly (DiffLine | null)[];
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has only a keyboard scrolls it too.
    <section aria-label={label} tabIndex={0} className={FRAME}>
      {lines.map((line, at) =>
        line === null ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place.
          <p key={at} className="px-3 text-faint">
            …
          </p>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place.
          <ChangedLine key={at} line={line} />
        ),
      )}
    </section>
  );
}
