/** A standing grant: what it permits, how much of it is used, and until when. */
import { useState } from "react";
import { client } from "../../api/client.ts";
import { byOf, may, nameOf, useSession } from "../../api/session.ts";
import { countText, moneyText } from "../../format/amounts.ts";
import { shareOf } from "../../format/money-input.ts";
import { momentText } from "../../format/times.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Meter } from "../../ui/meter.tsx";
import { ReasonButton } from "../../ui/reason-button.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";
import { GrantUses } from "./grant-uses.tsx";
import type { Grant } from "./policy-queries.ts";

type Props = { readonly grant: Grant };

function Permits({ grant: { tool, agent, when, status, reason } }: Props) {
  return (
    <div className="min-w-0">
      <p className="flex flex-wrap items-center gap-2">
        <code className="font-mono font-semibold">
          <Strange text={tool} />
        </code>
        <Badge status={status} tone={status === "active" ? "go" : "plain"} />
      </p>
      {when === null ? null : <Strange text={`when ${when}`} className="block font-mono text-small" />}
      <p className="text-small text-soft">
        {agent === null ? "for any agent" : <Strange text={`for ${agent}`} />} ·{" "}
        <Strange isProse text={reason} />
      </p>
    </div>
  );
}

function Used({ grant: { uses, used, limit, status } }: Props) {
  const tone = status === "active" ? "go" : "plain";
  return (
    <div className="flex flex-col gap-2">
      <Meter
        label="Uses"
        text={`${countText(used)} of ${countText(uses)}`}
        parts={[{ name: "used", share: used / uses, tone }]}
      />
      {limit === null ? null : (
        <Meter
          label="In all"
          text={`${moneyText(limit.spent)} of ${moneyText(limit.total)}`}
          parts={[{ name: "spent", share: shareOf(limit.spent.micros, limit.total.micros), tone }]}
        />
      )}
    </div>
  );
}

function Ending({ grant: { by, given_at, expires_at, revoked, status } }: Props) {
  return (
    <div className="text-small text-soft">
      <p>
        <Strange text={nameOf(by)} className="font-semibold text-ink" /> gave it <When at={given_at} />
      </p>
      {revoked === null ? (
        <p>
          {status === "expired" ? "It ended " : "It ends "}
          <When at={expires_at} />, {momentText(expires_at)}
        </p>
      ) : (
        <p className="text-stop">
          <Strange text={nameOf(revoked.by)} /> revoked it <When at={revoked.at} />:{" "}
          <Strange isProse text={revoked.reason} />
        </p>
      )}
    </div>
  );
}

function Revoke({ grant: { grant_id, tool } }: Props) {
  const session = useSession();
  if (!may(session, "grants:write")) return null;
  return (
    <ReasonButton
      label="Revoke"
      title="Revoke a standing grant"
      says={
        <>
          From now on nothing starts by it, and people are asked about{" "}
          <Strange text={tool} className="font-mono" /> again. What has started goes on.
        </>
      }
      submit="Revoke it"
      touches="grants"
      told="The grant is revoked."
      does={(reason) => client.grants.revoke(grant_id, { reason, ...byOf(session) })}
    />
  );
}

export function GrantRow({ grant, isOpen: isOpenAtFirst }: Props & { readonly isOpen: boolean }) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  return (
    <li className="flex flex-col gap-3 p-4 sm:px-5">
      <div className="grid gap-x-6 gap-y-3 md:grid-cols-[minmax(0,1.4fr)_minmax(0,1fr)_minmax(0,1fr)]">
        <Permits grant={grant} />
        <Used grant={grant} />
        <Ending grant={grant} />
      </div>
      <div className="flex flex-wrap gap-2">
        <Button size="small" kind="quiet" aria-expanded={isOpen} icon="down" onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Hide its uses" : "Every use"}
        </Button>
        {grant.status === "active" ? <Revoke grant={grant} /> : null}
      </div>
      {isOpen ? <GrantUses id={grant.grant_id} /> : null}
    </li>
  );
}
