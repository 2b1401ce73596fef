/** One approval in the list: what, by whom, with which arguments, how dangerous, how long yet. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { memo } from "react";
import { type Approval, approvalQuery, type Summary } from "../../api/approvals.ts";
import { Badge } from "../../ui/badge.tsx";
import { classes } from "../../ui/classes.ts";
import { Icon } from "../../ui/icon.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";
import { ArgumentsLine } from "./arguments-line.tsx";
import { Deadline } from "./deadline.tsx";
import { RiskBadge } from "./risk-badge.tsx";
import type { Row } from "./use-inbox.ts";
import { endWords, kindWord, namesText, personName, statusWord, votesText } from "./words.ts";

function Votes({ row }: { readonly row: Summary }) {
  const text = votesText(row);
  if (text === "") return null;
  return (
    <span className="figures flex items-center gap-1 whitespace-nowrap text-soft">
      <Icon name="person" className="size-3.5" /> {text}
    </span>
  );
}

const goneWords = (approval: Approval): string =>
  approval.status === "pending" ? "It waits for others now." : endWords(approval);

/** Decided by somebody else while one looked. */
function Gone({ id }: { readonly id: string }) {
  const { data } = useQuery(approvalQuery(id));
  const words = data === undefined ? "It is decided." : goneWords(data);
  return (
    <span role="status" className="font-semibold text-note">
      <Strange text={words} />
    </span>
  );
}

/** On a phone the signs stand below the name: both are read whole. */
function What({ row }: { readonly row: Summary }) {
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-0.5 md:flex-nowrap">
      <Strange
        text={row.title}
        className="min-w-0 truncate font-semibold whitespace-nowrap max-md:basis-full"
      />
      {row.title.startsWith(row.tool) ? null : (
        <Strange text={row.tool} className="min-w-0 truncate whitespace-nowrap text-faint" />
      )}
      {row.about === "action" ? null : <Badge status={kindWord(row.about)} tone="note" />}
      {row.risk === null || row.risk === "low" ? null : <RiskBadge level={row.risk} />}
      {row.is_irreversible && row.status === "pending" ? (
        <Badge status="cannot be undone" tone="stop" />
      ) : null}
    </span>
  );
}

function Decided({ row }: { readonly row: Summary }) {
  return (
    <span className="flex items-center gap-2">
      <Badge status={statusWord(row)} />
      <span className="truncate text-soft">
        <Strange text={namesText(row.decided_by)} className="whitespace-nowrap" />
      </span>
    </span>
  );
}

function Figures({ row }: { readonly row: Summary }) {
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-3 md:contents">
      <span className="flex min-w-0 items-center gap-1.5 text-soft md:justify-self-start">
        <Icon name="agent" className="size-4" />
        <Strange text={personName(row.agent)} className="min-w-0 truncate whitespace-nowrap" />
      </span>
      <span className="flex min-w-0 flex-wrap items-center gap-x-3 md:flex-col md:items-end md:justify-center">
        {row.status === "pending" ? <Deadline row={row} /> : <Decided row={row} />}
        <span className="flex gap-3">
          <Votes row={row} />
          <When at={row.decided_at ?? row.requested_at} className="figures whitespace-nowrap text-faint" />
        </span>
      </span>
    </span>
  );
}

type BoxProps = { readonly item: Row; readonly isSelected: boolean; readonly onSelect: (id: string) => void };

function SelectBox({ item: { id, row, isGone }, isSelected, onSelect }: BoxProps) {
  return (
    <label className="flex w-11 shrink-0 cursor-pointer items-center justify-center">
      <input
        type="checkbox"
        tabIndex={-1}
        disabled={isGone}
        checked={isSelected}
        onChange={() => onSelect(id)}
        className="size-5 accent-hold"
      />
      <span className="sr-only">
        Select <Strange text={row.tool} />
      </span>
    </label>
  );
}

const COLUMNS =
  "grid min-w-0 grow content-center gap-x-4 gap-y-1 py-2 pr-4 text-small sm:pr-5 focus-visible:-outline-offset-2 md:grid-cols-[minmax(0,1fr)_8rem_12rem]";

type Props = BoxProps & {
  readonly isAt: boolean;
  readonly canSelect: boolean;
  readonly onFocus: (id: string) => void;
};

function groundOf({ isGone }: Row, isSelected: boolean): string {
  if (isGone) return "bg-note-wash";
  return isSelected ? "bg-hold-wash" : "bg-surface hover:bg-sunken";
}

export const InboxRow = memo(function InboxRow(props: Props) {
  const { item, isAt, isSelected, canSelect, onSelect, onFocus } = props;
  const { row, id, isGone } = item;
  return (
    <div
      data-row={id}
      className={classes(
        "flex h-full items-stretch border-b border-line transition-colors",
        groundOf(item, isSelected),
        isAt && "shadow-[inset_3px_0_0_var(--hold)]",
      )}
    >
      {canSelect ? <SelectBox item={item} isSelected={isSelected} onSelect={onSelect} /> : null}
      <Link
        to="/approvals/$id"
        params={{ id }}
        onFocus={() => onFocus(id)}
        className={classes(COLUMNS, canSelect ? "pl-1" : "pl-4 sm:pl-5")}
      >
        <span className="flex min-w-0 flex-col gap-0.5">
          <What row={row} />
          <span className="block truncate">
            {isGone ? <Gone id={id} /> : <ArgumentsLine args={row.args} />}
          </span>
        </span>
        <Figures row={row} />
      </Link>
    </div>
  );
});
