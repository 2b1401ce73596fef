/** The states with how many are in each: a figure to read and a place to go. */
import { Link } from "@tanstack/react-router";
import type { WorkflowStatus } from "../../api/workflows.ts";
import { countText } from "../../format/amounts.ts";
import { FILL, statusText, toneOf } from "../../ui/tone.ts";
import { STATES } from "./status-words.ts";

type Counts = { readonly [status in WorkflowStatus]: number };
type Props = {
  readonly counts: Counts | undefined;
  readonly total: number | undefined;
  readonly status: string;
};

/** The router says "page" of the one whose address is open, whatever is said here. */
const CHIP =
  "flex min-h-11 shrink-0 items-center gap-2 rounded-base border border-line bg-surface px-3 text-small whitespace-nowrap text-soft hover:border-edge hover:text-ink [&[aria-current]]:border-ink [&[aria-current]]:font-semibold [&[aria-current]]:text-ink";

function Chip({ value, count, status }: { value: string; count: number | undefined; status: string }) {
  return (
    <Link
      to="/workflows"
      search={(before) => ({ ...before, status: value })}
      aria-current={value === status ? "true" : undefined}
      className={CHIP}
    >
      <span aria-hidden="true" className={`size-2 rounded-full ${FILL[toneOf(value)]}`} />
      {value === "any" ? "all" : statusText(value)}
      <span className="figures text-faint">{count === undefined ? "–" : countText(count)}</span>
    </Link>
  );
}

export function StatusFilter({ counts, total, status }: Props) {
  return (
    <nav
      aria-label="By status"
      className="-mx-4 flex gap-2 overflow-x-auto px-4 py-1 sm:mx-0 sm:flex-wrap sm:px-0"
    >
      <Chip value="any" count={total} status={status} />
      {STATES.map((state) => (
        <Chip key={state} value={state} count={counts?.[state]} status={status} />
      ))}
    </nav>
  );
}
