/** Entries of the journal as they were written: number, type, time, hash, and the body where somebody opens it. */
import { useState } from "react";
import type { JournalLine } from "../../api/actions.ts";
import { JsonView } from "../../ui/json-view.tsx";
import { Known } from "../../ui/known.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";

type Props = {
  readonly entries: readonly JournalLine[];
  /** Which stream each stands in, where they are of several. */
  readonly hasStreams?: boolean;
};

function Entry({ entry, hasStreams }: { readonly entry: JournalLine; readonly hasStreams: boolean }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="border-b border-line last:border-0"
    >
      <summary className="grid cursor-pointer grid-cols-[2.5rem_minmax(0,1fr)_auto] items-baseline gap-3 px-4 py-2 text-small sm:px-5">
        <span className="figures text-right text-faint">{entry.seq}</span>
        <span className="min-w-0">
          <Strange text={entry.type} className="font-mono font-semibold" />
          {hasStreams ? (
            <Strange text={entry.stream} className="ml-2 font-mono text-tiny break-all text-faint" />
          ) : null}
        </span>
        <When at={entry.at} className="text-tiny text-faint" />
      </summary>
      {isOpen ? (
        <div className="flex flex-col gap-2 px-4 pb-4 sm:pr-5 sm:pl-18">
          <p className="flex flex-wrap items-center gap-x-2 text-tiny text-faint">
            <Strange text={`${entry.stream}#${entry.seq}`} className="font-mono" /> at position{" "}
            {entry.position}, hash <Known id={entry.hash} isShort />
          </p>
          <JsonView value={entry.body} label={`Body of entry ${entry.seq}`} />
        </div>
      ) : null}
    </details>
  );
}

export function Entries({ entries, hasStreams = false }: Props) {
  return (
    <div>
      {entries.map((entry) => (
        <Entry key={`${entry.stream}#${entry.seq}`} entry={entry} hasStreams={hasStreams} />
      ))}
    </div>
  );
}
