/** What was before it was asked: the same agent with the same tool, and what its workflow had done. All of it as it stands now. */
import { Link } from "@tanstack/react-router";
import { countText, several } from "../../format/amounts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";
import { ArgumentsLine } from "./arguments-line.tsx";
import type { Desk } from "./use-desk.ts";
import { personName } from "./words.ts";

type History = NonNullable<Desk["card"]["history"]>;
type Workflow = NonNullable<Desk["card"]["workflow"]>;

function Figure({
  count,
  word,
  tone,
}: {
  readonly count: number;
  readonly word: string;
  readonly tone: string;
}) {
  return (
    <div className="min-w-0">
      <span className={`figures block text-title font-semibold ${count === 0 ? "text-faint" : tone}`}>
        {countText(count)}
      </span>
      <span className="text-small text-soft">{word}</span>
    </div>
  );
}

function PastRow({ row }: { readonly row: History["latest"][number] }) {
  return (
    <li>
      <Link
        to="/actions/$id"
        params={{ id: row.action_id }}
        className="flex min-h-11 items-center gap-3 px-4 py-1.5 text-small hover:bg-sunken sm:px-5"
      >
        <Badge status={row.phase} className="shrink-0" />
        <span className="min-w-0 grow truncate text-soft">
          <ArgumentsLine args={row.args} />
        </span>
        <When at={row.at} className="shrink-0 text-faint" />
      </Link>
    </li>
  );
}

export function HistoryPanel({ history }: { readonly history: History | null }) {
  if (history === null) return null;
  const { total, applied, refused, in_doubt, latest, is_all } = history;
  const who = (
    <>
      <Strange text={personName(history.agent)} /> with <Strange text={history.tool} className="font-mono" />
    </>
  );
  return (
    <Panel title="History" aside={who} isFlush>
      {total === 0 ? (
        <p className="p-4 text-small text-soft sm:px-5">
          {is_all
            ? "Never before: this agent had not used this tool until this was asked."
            : "Not among the latest actions of all agents, which is as far as was looked."}
        </p>
      ) : (
        <div className="flex flex-col gap-3 p-4 sm:px-5">
          <div className="grid grid-cols-4 gap-3">
            <Figure count={total} word={is_all ? "before" : "among the latest"} tone="text-ink" />
            <Figure count={applied} word="applied" tone="text-go" />
            <Figure count={refused} word="refused" tone="text-stop" />
            <Figure count={in_doubt} word="in doubt" tone="text-doubt" />
          </div>
          <p className="text-small text-faint">Proposed before this was asked, as it stands now.</p>
        </div>
      )}
      {latest.length === 0 ? null : (
        <ul className="divide-y divide-line border-t border-line">
          {latest.map((row) => (
            <PastRow key={row.action_id} row={row} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function DoneRow({ row }: { readonly row: Workflow["done"][number] }) {
  return (
    <li>
      <Link
        to="/actions/$id"
        params={{ id: row.action_id }}
        className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-0.5 px-4 py-1.5 text-small hover:bg-sunken sm:px-5"
      >
        <Badge status={row.is_undone ? "undone" : row.phase} className="shrink-0" />
        <Strange text={row.tool} className="font-mono" />
        {row.can_undo && !row.is_undone ? (
          <span className="flex items-center gap-1 text-note">
            <Icon name="undo" className="size-4" /> can be taken back
          </span>
        ) : null}
        <span className="min-w-0 grow basis-40 truncate text-soft">
          <ArgumentsLine args={row.args} />
        </span>
        <When at={row.at} className="shrink-0 text-faint" />
      </Link>
    </li>
  );
}

const NOTE = "border-t border-line px-4 py-2.5 text-small sm:px-5";

type WorkflowProps = { readonly workflow: Workflow | null; readonly isPending: boolean };

/** What is not among the rows, and what of them stays. */
function Notes({ workflow: { done, total, cannot_undo, since } }: { readonly workflow: Workflow }) {
  return (
    <>
      {total === done.length ? null : (
        <p className={`${NOTE} text-soft`}>
          The latest {done.length} of {countText(total)}.
        </p>
      )}
      {cannot_undo === 0 ? null : (
        <p className={`${NOTE} font-semibold text-stop`}>
          {several(cannot_undo, "effect")} of it cannot be undone.
        </p>
      )}
      {since === 0 ? null : (
        <p className={`${NOTE} text-soft`}>
          {several(since, "effect")} more since this was asked: its workflow shows all of them.
        </p>
      )}
    </>
  );
}

export function WorkflowPanel({ workflow, isPending }: WorkflowProps) {
  if (workflow === null) return null;
  const { workflow_id, name, attempt, done, since } = workflow;
  const link = (
    <Link to="/workflows/$id" params={{ id: workflow_id }} className="underline">
      <Strange text={name} />
    </Link>
  );
  const isFirst = isPending && since === 0;
  return (
    <Panel
      title={isPending ? "Done so far in its workflow" : "Done in its workflow before this was asked"}
      aside={
        <>
          {link}, attempt {attempt}
        </>
      }
      isFlush
    >
      {done.length === 0 ? (
        <p className="p-4 text-small text-soft sm:px-5">
          {isFirst
            ? "Nothing yet: this would be the first effect."
            : "Nothing had been done when this was asked."}
        </p>
      ) : (
        <ul className="divide-y divide-line">
          {done.map((row) => (
            <DoneRow key={row.action_id} row={row} />
          ))}
        </ul>
      )}
      <Notes workflow={workflow} />
    </Panel>
  );
}
