/** Standing grants: what people permit before it is asked for. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { may, useSession } from "../../api/session.ts";
import { Asked } from "../../ui/asked.tsx";
import { DialogButton } from "../../ui/dialog-button.tsx";
import { MoreRows } from "../../ui/more-rows.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Segments } from "../../ui/segments.tsx";
import { Empty } from "../../ui/states.tsx";
import { GiveGrant } from "./give-grant.tsx";
import { BLANK_GRANT } from "./grant-form.ts";
import { GrantRow } from "./grant-row.tsx";
import { type GrantStatus, grantsQuery } from "./policy-queries.ts";

const STATUSES: readonly { readonly id: GrantStatus; readonly title: string }[] = [
  { id: "active", title: "Usable" },
  { id: "used_up", title: "Used up" },
  { id: "expired", title: "Expired" },
  { id: "revoked", title: "Revoked" },
  { id: "any", title: "All" },
];

const statusOf = (named: string | undefined): GrantStatus =>
  STATUSES.find(({ id }) => id === named)?.id ?? "active";

function NoGrants({ status }: { readonly status: GrantStatus }) {
  return (
    <Empty icon="key" title={status === "any" ? "No grant was ever given" : "There is none of these"}>
      Somebody who approves the fiftieth refund of twelve dollars no longer looks. A standing grant says once
      what may run without asking: so often, for so much, until then.
    </Empty>
  );
}

function GiveButton() {
  return (
    <DialogButton label="Give a grant" kind="main" size="base" icon="key" title="Give a standing grant">
      {({ onClose }) => <GiveGrant first={BLANK_GRANT} onClose={onClose} />}
    </DialogButton>
  );
}

export function GrantsTab() {
  const session = useSession();
  const navigate = useNavigate();
  const search = useSearch({ from: "/policies" });
  const status = statusOf(search["status"]);
  const list = useInfiniteQuery(grantsQuery(status));
  const show = (next: GrantStatus) =>
    void navigate({ to: "/policies", search: { tab: "grants", status: next } });
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <Segments label="Which grants" value={status} options={STATUSES} onChange={show} />
        {may(session, "grants:write") ? <GiveButton /> : null}
      </div>
      <Panel isFlush>
        <Asked query={list}>
          {({ pages }) => {
            const grants = pages.flatMap((page) => page.grants);
            if (grants.length === 0) return <NoGrants status={status} />;
            return (
              <ul className="divide-y divide-line">
                {grants.map((grant) => (
                  <GrantRow key={grant.grant_id} grant={grant} isOpen={grant.grant_id === search["grant"]} />
                ))}
              </ul>
            );
          }}
        </Asked>
        <MoreRows list={list} />
      </Panel>
    </div>
  );
}
