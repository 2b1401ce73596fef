/** What it called and what became of it, each with its receipt. */
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { TimelineRow } from "../../api/workflows.ts";
import { several } from "../../format/amounts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";
import { ReceiptPanel } from "../actions/receipt-panel.tsx";

/** What has an outcome has a receipt. */
const ENDED: readonly string[] = ["applied", "not_applied", "in_doubt", "undone"];

function Effect({ row, id }: { readonly row: TimelineRow; readonly id: string }) {
  const [isOpen, setOpen] = useState(false);
  const { kind, name, status, reason, attempt } = row;
  const head = (
    <>
      <Strange text={name} className="font-semibold" />
      {kind === "undo" ? <Badge status="takes it back" tone="doubt" /> : null}
      <Badge
        status={status === "open" ? "under way" : status}
        tone={status === "undone" ? "go" : undefined}
      />
      {row.is_undone ? <Badge status="taken back" tone="doubt" /> : null}
      {attempt > 1 || row.is_back ? <span className="text-tiny text-faint">attempt {attempt}</span> : null}
      <When at={row.at} className="text-tiny text-faint sm:ml-auto" />
      {reason === "" ? null : <Strange isProse text={reason} className="w-full text-small text-soft" />}
    </>
  );
  const line = "flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-3 sm:px-5";
  return (
    <li className="border-b border-line last:border-0">
      {ENDED.includes(status) ? (
        <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary className={`cursor-pointer ${line}`}>{head}</summary>
          <div className="flex flex-col gap-4 px-4 pb-5 sm:px-5">
            <ActionLink id={id} />
            {isOpen ? <ReceiptPanel id={id} /> : null}
          </div>
        </details>
      ) : (
        <div className={line}>
          {head}
          <ActionLink id={id} />
        </div>
      )}
    </li>
  );
}

function ActionLink({ id }: { readonly id: string }) {
  return (
    <Link
      to="/actions/$id"
      params={{ id }}
      className="inline-flex min-h-8 items-center self-start text-small underline underline-offset-3"
    >
      The action: what was proposed, approved and run
    </Link>
  );
}

export function Effects({ rows }: { readonly rows: readonly TimelineRow[] }) {
  const calls = rows.filter(({ kind, ref }) => (kind === "call" || kind === "undo") && ref !== null);
  return (
    <Panel title="Actions and effects" aside={several(calls.length, "action")} isFlush>
      {calls.length === 0 ? (
        <Empty icon="play" title="It has called nothing yet" />
      ) : (
        <ul>
          {calls.map((row) => (
            <Effect key={row.seq} row={row} id={row.ref ?? ""} />
          ))}
        </ul>
      )}
    </Panel>
  );
}
