/** What monitors found, and people's word that they have seen it. */
import { infiniteQueryOptions, useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { AnswerOf, InputOf } from "holdpoint/client";
import { useState } from "react";
import { client } from "../../api/client.ts";
import { byOf, may, nameOf, useSession } from "../../api/session.ts";
import { useDeed } from "../../api/use-deed.ts";
import { Asked } from "../../ui/asked.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { MoreRows } from "../../ui/more-rows.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Segments } from "../../ui/segments.tsx";
import { Empty, Failure } from "../../ui/states.tsx";
import { Strange } from "../../ui/strange.tsx";
import { toast } from "../../ui/toaster.tsx";
import type { Tone } from "../../ui/tone.ts";
import { When } from "../../ui/when.tsx";

type Alert = AnswerOf<"GET /api/alerts">["alerts"][number];
type Status = NonNullable<InputOf<"GET /api/alerts">["status"]>;

const alertsQuery = (status: Status) =>
  infiniteQueryOptions({
    queryKey: ["alerts", "list", status],
    queryFn: ({ pageParam }) => client.alerts.list({ status, limit: 50, cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });

const TONES: { readonly [severity in Alert["severity"]]: Tone } = {
  info: "note",
  warning: "hold",
  critical: "stop",
};

function Acknowledge({ of }: { readonly of: Alert }) {
  const session = useSession();
  const deed = useDeed({
    does: () => client.alerts.acknowledge(of.alert_id, byOf(session)),
    touches: "alerts",
    onDone: () => toast("It is recorded that you have seen it."),
  });
  if (of.acknowledged_by !== null)
    return (
      <p className="text-small text-soft">
        seen by <Strange text={nameOf(of.acknowledged_by)} />
      </p>
    );
  if (!may(session, "alerts:acknowledge")) return null;
  return (
    <>
      <Button size="small" icon="check" isBusy={deed.isBusy} onClick={() => deed.run(undefined)}>
        I have seen it
      </Button>
      {deed.error === undefined ? null : <Failure error={deed.error} />}
    </>
  );
}

function About({ of: { workflow_id, approval_id } }: { readonly of: Alert }) {
  return (
    <>
      {workflow_id === null ? null : (
        <Link to="/workflows/$id" params={{ id: workflow_id }} className="underline">
          its workflow
        </Link>
      )}
      {approval_id === null ? null : (
        <Link to="/approvals/$id" params={{ id: approval_id }} className="underline">
          its approval
        </Link>
      )}
    </>
  );
}

function AlertRow({ of }: { readonly of: Alert }) {
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-2 px-4 py-3 sm:px-5">
      <div className="min-w-0 grow">
        <p className="flex flex-wrap items-center gap-2">
          <Badge status={of.severity} tone={TONES[of.severity]} />
          <Strange text={of.says} className="font-semibold" />
        </p>
        <p className="flex flex-wrap gap-x-3 text-small text-soft">
          <span>
            <Strange text={of.monitor} />, rule <Strange text={of.rule} className="font-mono" />
          </span>
          <span>
            raised <When at={of.raised_at} />
            {of.cleared_at === null ? null : (
              <>
                , over <When at={of.cleared_at} />
              </>
            )}
          </span>
          <About of={of} />
        </p>
      </div>
      <Acknowledge of={of} />
    </li>
  );
}

const STATUSES: readonly { readonly id: Status; readonly title: string }[] = [
  { id: "standing", title: "Standing" },
  { id: "cleared", title: "Over" },
  { id: "any", title: "All" },
];

export function AlertsTab() {
  const [status, setStatus] = useState<Status>("standing");
  const list = useInfiniteQuery(alertsQuery(status));
  return (
    <Panel
      isFlush
      title="Alerts"
      aside={<Segments label="Which alerts" value={status} options={STATUSES} onChange={setStatus} />}
    >
      <Asked query={list}>
        {({ pages }) => {
          const alerts = pages.flatMap((page) => page.alerts);
          if (alerts.length === 0)
            return (
              <Empty
                icon="bell"
                title={status === "standing" ? "There are no active alerts" : "There are none"}
              >
                Monitors are rules over the live journal: they notice what waits too long, fails too often or
                costs too much.
              </Empty>
            );
          return (
            <ul className="divide-y divide-line">
              {alerts.map((alert) => (
                <AlertRow key={alert.alert_id} of={alert} />
              ))}
            </ul>
          );
        }}
      </Asked>
      <MoreRows list={list} />
    </Panel>
  );
}
