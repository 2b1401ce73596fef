/** One operation of the timeline. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { TimelineRow } from "../../api/workflows.ts";
import { spanText } from "../../format/times.ts";
import { useNow } from "../../live/use-now.ts";
import { Badge } from "../../ui/badge.tsx";
import { classes } from "../../ui/classes.ts";
import { Icon } from "../../ui/icon.tsx";
import { Principals } from "../../ui/principals.tsx";
import { Strange } from "../../ui/strange.tsx";
import { WASH } from "../../ui/tone.ts";
import { When } from "../../ui/when.tsx";
import { kindOf, toneOfRow, tookMs } from "./timeline-words.ts";

const LINK = "underline decoration-edge underline-offset-3 hover:decoration-ink";

const emptyName = (kind: string): string => (kind === "rollback" ? "back to the start" : kindOf(kind).word);

/** To what has a page of its own. */
function Name({ row }: { readonly row: TimelineRow }) {
  const { kind, ref, is_back: isBack } = row;
  const name = row.title ?? row.name;
  const text = (
    <Strange
      text={name === "" ? emptyName(kind) : name}
      className={isBack ? "text-faint line-through" : ""}
    />
  );
  if (ref === null) return <span className="font-semibold">{text}</span>;
  const own = { className: classes("font-semibold", LINK) };
  if (ref.startsWith("act_"))
    return (
      <Link to="/actions/$id" params={{ id: ref }} {...own}>
        {text}
      </Link>
    );
  if (ref.startsWith("apr_"))
    return (
      <Link to="/approvals/$id" params={{ id: ref }} {...own}>
        {text}
      </Link>
    );
  if (ref.startsWith("wf_"))
    return (
      <Link to="/workflows/$id" params={{ id: ref }} {...own}>
        {text}
      </Link>
    );
  return <span className="font-semibold">{text}</span>;
}

function Open({ row }: { readonly row: TimelineRow }) {
  const now = useNow();
  return (
    <span className="figures text-hold">
      {row.kind === "call" ? "open" : "waits"} for {spanText(now - Date.parse(row.at))}
      {row.until === null ? null : (
        <>
          , until <When at={row.until} />
        </>
      )}
    </span>
  );
}

function Timing({ row }: { readonly row: TimelineRow }) {
  const took = tookMs(row);
  return (
    <span className="text-tiny text-faint">
      <When at={row.at} />
      {took === null ? null : ` · took ${spanText(took)}`}
    </span>
  );
}

function Marks({ row }: { readonly row: TimelineRow }) {
  const { status, is_undone: isUndone, is_back: isBack, kind } = row;
  return (
    <>
      {status === "open" || kind === "log" ? null : (
        <Badge status={status} tone={isBack ? "plain" : toneOfRow(row)} />
      )}
      {isUndone ? <Badge status="taken back" tone="doubt" /> : null}
      {isBack && !isUndone && kind !== "log" ? <Badge status="gone back over" tone="plain" /> : null}
    </>
  );
}

function Said({ children }: { readonly children: ReactNode }) {
  return <p className="mt-0.5 border-l-2 border-line pl-2 text-small text-soft">{children}</p>;
}

/** What a rollback left behind. */
function Report({ report }: { readonly report: NonNullable<TimelineRow["report"]> }) {
  const left = [
    ...report.not_undone.map(({ action_id }) => action_id),
    ...report.irreversible.map((one) => one.tool),
  ];
  return (
    <Said>
      {report.undone.length === 0 ? "nothing was there to take back" : `${report.undone.length} taken back`}
      {left.length === 0 ? null : (
        <span className="font-semibold text-stop">
          ; not taken back: <Strange text={left.join(", ")} />
        </span>
      )}
    </Said>
  );
}

export function TimelineLine({ row }: { readonly row: TimelineRow }) {
  const { kind, branch, by, reason, is_back: isBack, report } = row;
  const { word, icon } = kindOf(kind);
  return (
    <li className="relative flex gap-3 py-2" style={{ paddingLeft: `${branch.length * 1.5}rem` }}>
      <span
        aria-hidden="true"
        className={`z-10 flex size-7 shrink-0 items-center justify-center rounded-full ring-4 ring-surface ${WASH[toneOfRow(row)]}`}
      >
        <Icon name={icon} className="size-4" />
      </span>
      <div className="min-w-0 grow">
        <p className="flex flex-wrap items-baseline gap-x-2 gap-y-1">
          {row.name === "" ? null : <span className="text-small text-faint">{word}</span>}
          <Name row={row} />
          <Marks row={row} />
          {row.status === "open" && !isBack ? <Open row={row} /> : null}
          {branch.length === 0 ? null : (
            <span className="text-tiny text-faint">branch {branch.join(".")}</span>
          )}
          <span className="sm:ml-auto">
            <Timing row={row} />
          </span>
        </p>
        {reason === "" && by.length === 0 ? null : (
          <Said>
            <Principals of={by} />
            {by.length > 0 && reason !== "" ? ": " : null}
            <Strange isProse text={reason} />
          </Said>
        )}
        {report === null ? null : <Report report={report} />}
      </div>
    </li>
  );
}
