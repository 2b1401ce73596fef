/** What happened, in order: by attempt, with what was gone back over kept and marked. */
import { useState } from "react";
import type { TimelineRow } from "../../api/workflows.ts";
import { several } from "../../format/amounts.ts";
import { Button } from "../../ui/button.tsx";
import { Panel } from "../../ui/panel.tsx";
import { TimelineLine } from "./timeline-line.tsx";
import { type Attempt, attemptsOf } from "./timeline-words.ts";

const MOST = 150;

function AttemptRows({ attempt, rows, isOnly }: Attempt & { readonly isOnly: boolean }) {
  return (
    <>
      {isOnly ? null : (
        <h3 className="mt-5 mb-1 flex items-center gap-3 text-tiny font-semibold text-soft first:mt-0">
          Attempt {attempt}
          <span aria-hidden="true" className="h-px grow bg-line" />
        </h3>
      )}
      <ol className="relative before:absolute before:top-4 before:bottom-4 before:left-3.5 before:w-px before:bg-line">
        {rows.map((row) => (
          <TimelineLine key={row.seq} row={row} />
        ))}
      </ol>
    </>
  );
}

export function Timeline({ rows }: { readonly rows: readonly TimelineRow[] }) {
  const [isWhole, setWhole] = useState(false);
  const hidden = isWhole ? 0 : Math.max(0, rows.length - MOST);
  const attempts = attemptsOf(rows.slice(hidden));
  return (
    <Panel title="Timeline" aside={several(rows.length, "event")}>
      {hidden === 0 ? null : (
        <Button size="small" className="mb-3" onClick={() => setWhole(true)}>
          Show {several(hidden, "earlier event")}
        </Button>
      )}
      {attempts.map((attempt) => (
        <AttemptRows key={attempt.attempt} {...attempt} isOnly={attempts.length === 1} />
      ))}
    </Panel>
  );
}
