/** SQL, commands and code: each line numbered, nothing coloured that might mislead. */
import { Strange } from "../strange.tsx";
import { Foldable } from "./foldable.tsx";

type Props = { readonly text: string; readonly language: string; readonly firstLine?: number };

/** More lines than anybody reads are not numbered: each number costs, and an agent may send a million. */
const MOST_NUMBERED = 2_000;

function Lines({ text }: { readonly text: string }) {
  const lines = text.split("\n").map((line, at) => ({ line, number: at + 1 }));
  if (lines.length > MOST_NUMBERED)
    return (
      <code className="block px-3 py-2 font-mono text-small">
        <Strange text={text} as="lines" isProse={false} />
      </code>
    );
  const width = { minWidth: `${String(lines.length).length + 1}ch` };
  return (
    <code className="block py-2 font-mono text-small">
      {lines.map(({ line, number }) => (
        <span key={number} className="flex gap-3 px-3">
          <span aria-hidden="true" style={width} className="shrink-0 text-right text-faint select-none">
            {number}
          </span>
          <Strange text={line} className="min-w-0 grow" />
        </span>
      ))}
    </code>
  );
}

export function CodeBlock({ text, language }: Props) {
  return (
    <figure className="min-w-0 overflow-hidden rounded-base border border-line bg-ground">
      <figcaption className="border-b border-line px-3 py-1 text-tiny font-semibold text-faint">
        {language}
      </figcaption>
      <Foldable text={text}>{(shown) => <Lines text={shown} />}</Foldable>
    </figure>
  );
}
