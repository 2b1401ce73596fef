/** What it is, who asks, since when. */
import { Link } from "@tanstack/react-router";
import type { RefObject } from "react";
import type { Approval, Card } from "../../api/approvals.ts";
import { Badge } from "../../ui/badge.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";
import { Deadline } from "./deadline.tsx";
import { lastInbox } from "./last-inbox.ts";
import { RiskBadge } from "./risk-badge.tsx";
import type { Neighbours } from "./use-neighbours.ts";
import { headText, kindWord, personName, statusWord } from "./words.ts";

function Steps({ neighbours: { before, next, go } }: { readonly neighbours: Neighbours }) {
  return (
    <span className="flex gap-1">
      {[["back", "Approval before", before] as const, ["next", "Next approval", next] as const].map(
        ([icon, label, to]) => (
          <button
            key={icon}
            type="button"
            aria-label={label}
            disabled={to === null}
            onClick={() => go(to)}
            className="inline-flex size-9 items-center justify-center rounded-base text-soft hover:bg-sunken disabled:opacity-40"
          >
            <Icon name={icon} className="size-4" />
          </button>
        ),
      )}
    </span>
  );
}

type Props = {
  readonly approval: Approval;
  readonly card: Card;
  readonly neighbours: Neighbours;
  readonly place: RefObject<HTMLHeadingElement | null>;
};

export function CardHeading({ approval, card, neighbours, place }: Props) {
  const acts = approval.requester.filter((one) => one !== approval.agent);
  return (
    <header className="flex flex-col gap-2">
      <div className="flex items-center justify-between gap-3">
        <Link
          to="/approvals"
          search={lastInbox().address}
          className="-ml-1 flex min-h-9 items-center gap-1 text-small font-semibold text-soft hover:text-ink"
        >
          <Icon name="back" className="size-4" /> Approvals
        </Link>
        <Steps neighbours={neighbours} />
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <Badge status={statusWord(approval)} />
        <Badge status={kindWord(approval.about)} tone="plain" />
        {card.risk === null ? null : <RiskBadge level={card.risk.level} />}
        {card.is_irreversible ? <Badge status="cannot be undone" tone="stop" /> : null}
      </div>
      <h1 ref={place} tabIndex={-1} className="text-title outline-none font-semibold tracking-tight">
        <Strange text={headText(approval, card)} />
      </h1>
      {approval.about === "action" ? (
        <p className="text-soft">
          <Strange text={card.heading} />
        </p>
      ) : null}
      <p className="flex flex-wrap items-center gap-x-2 text-soft">
        <Icon name="agent" className="size-4" />
        <span>
          asked by <Strange text={personName(approval.agent)} className="font-semibold text-ink" />
          {acts.length === 0 ? null : (
            <>
              {" "}
              for <Strange text={acts.map(personName).join(", ")} className="font-semibold text-ink" />
            </>
          )}
        </span>
        <span aria-hidden="true">·</span>
        <When at={approval.requested_at} />
        <Deadline row={approval} />
      </p>
    </header>
  );
}
