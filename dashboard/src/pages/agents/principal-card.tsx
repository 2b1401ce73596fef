/** One agent, service or person with keys: whether it is stopped, what it did lately, and its keys. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { visible } from "../../../../src/kernel/text.ts";
import { LATELY_DAYS, type Share } from "../../api/agents.ts";
import { may, nameOf, useSession } from "../../api/session.ts";
import { switchOfQuery } from "../../api/switch.ts";
import { several } from "../../format/amounts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Strange } from "../../ui/strange.tsx";
import { TurnSwitch } from "../../ui/turn-switch.tsx";
import { When } from "../../ui/when.tsx";
import { IssueButton } from "./issue-button.tsx";
import { BLANK_KEY } from "./key-form.ts";
import { KeyRow } from "./key-row.tsx";
import type { Kind, Principal } from "./principals.ts";

const ICONS = { agent: "agent", service: "nodes", person: "person" } as const satisfies {
  readonly [kind in Kind]: string;
};

function Lately({ lately }: { readonly lately: Share | null }) {
  if (lately === null) return <>nothing in the last {LATELY_DAYS} days</>;
  const parts = [
    several(lately.actions, "action"),
    `${several(lately.asked, "question")} to people`,
    ...(lately.rejected > 0 ? [`${lately.rejected} rejected`] : []),
    ...(lately.in_doubt > 0 ? [`${lately.in_doubt} in doubt`] : []),
  ];
  return (
    <>
      {parts.join(", ")} in the last {LATELY_DAYS} days
    </>
  );
}

type Props = { readonly of: Principal };

function Stopped({ of }: Props) {
  const { data } = useQuery(switchOfQuery({ agent: of.principal }));
  if (data?.paused !== true) return null;
  return (
    <p className="flex flex-wrap items-center gap-x-2 border-b border-line bg-stop-wash px-4 py-2 text-small text-stop sm:px-5">
      <Icon name="stop" className="size-4" />
      <span className="font-semibold">Stopped</span>
      <span>
        by <Strange text={nameOf(data.by)} /> {data.at === null ? null : <When at={data.at} />}:{" "}
        <Strange isProse text={data.reason ?? ""} />
      </span>
    </p>
  );
}

function Switch({ of }: Props) {
  const { data } = useQuery(switchOfQuery({ agent: of.principal }));
  const canTurn = may(useSession(), "switch:write");
  if (data === undefined || !canTurn) return null;
  return <TurnSwitch whose={{ agent: of.principal }} name={of.principal} isStopped={data.paused} />;
}

function Keys({ of: { keys, kind } }: Props) {
  const [isAll, setAll] = useState(false);
  const live = keys.filter(({ status }) => status === "active");
  const shown = isAll ? keys : live;
  return (
    <>
      <ul className="divide-y divide-line">
        {shown.map((key) => (
          <KeyRow key={key.key_id} of={key} />
        ))}
      </ul>
      {shown.length === 0 ? (
        <p className="px-4 py-3 text-small text-soft sm:px-5">
          {keys.length === 0 && kind === "agent"
            ? "It has no key: it acts inside of a program."
            : "None of its keys works any more."}
        </p>
      ) : null}
      {live.length === keys.length ? null : (
        <div className="border-t border-line px-4 py-1.5">
          <Button kind="quiet" size="small" aria-expanded={isAll} onClick={() => setAll(!isAll)}>
            {isAll ? "Hide" : "Show"}{" "}
            {several(keys.length - live.length, "key that ended", "keys that ended")}
          </Button>
        </div>
      )}
    </>
  );
}

export function PrincipalCard({ of }: Props) {
  const session = useSession();
  const isMine = of.kind !== "person" || of.principal === session.principal;
  return (
    <section aria-label={visible(of.principal)} className="rounded-large border border-line bg-surface">
      <header className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line px-4 py-3 sm:px-5">
        <Icon name={ICONS[of.kind]} className="size-5 text-soft" />
        <div className="min-w-0 flex-1 basis-52">
          <h3 className="flex items-center gap-2 text-base font-semibold">
            <Strange text={of.name} />
            {of.keys.length === 0 ? <Badge status="no key" tone="plain" /> : null}
          </h3>
          {of.kind === "person" ? null : (
            <p className="text-small text-soft">
              <Lately lately={of.lately} /> ·{" "}
              <Link to="/workflows" search={{ agent: of.principal }} className="underline">
                its workflows
              </Link>
            </p>
          )}
        </div>
        <div className="flex gap-2">
          {of.kind === "person" ? null : <Switch of={of} />}
          {isMine ? <IssueButton first={{ ...BLANK_KEY, kind: of.kind, who: of.name }} isSmall /> : null}
        </div>
      </header>
      {of.kind === "person" ? null : <Stopped of={of} />}
      <Keys of={of} />
    </section>
  );
}
