/** Agents, services and people's keys. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { keysQuery, latelyQuery } from "../../api/agents.ts";
import { may, useSession } from "../../api/session.ts";
import { Asked } from "../../ui/asked.tsx";
import { MoreRows } from "../../ui/more-rows.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";
import { IssueButton } from "./issue-button.tsx";
import { BLANK_KEY } from "./key-form.ts";
import { PrincipalCard } from "./principal-card.tsx";
import { KINDS, type Kind, type Principal, principalsOf } from "./principals.ts";

const TITLES: { readonly [kind in Kind]: string } = {
  agent: "Agents",
  service: "Services",
  person: "People's keys",
};

function Group({ kind, all }: { readonly kind: Kind; readonly all: readonly Principal[] }) {
  const own = all.filter((one) => one.kind === kind);
  if (own.length === 0) return null;
  return (
    <section aria-labelledby={`kind-${kind}`} className="flex flex-col gap-3">
      <h2 id={`kind-${kind}`} className="text-large font-semibold">
        {TITLES[kind]} <span className="figures text-small font-normal text-faint">{own.length}</span>
      </h2>
      {own.map((one) => (
        <PrincipalCard key={one.principal} of={one} />
      ))}
    </section>
  );
}

export function AgentsTab() {
  const keys = useInfiniteQuery(keysQuery);
  const lately = useQuery(latelyQuery).data ?? [];
  const canIssue = may(useSession(), "keys:write");
  return (
    <div className="flex flex-col gap-6">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-prose text-small text-soft">
          {canIssue
            ? "Whoever holds a key acts under its name. A key is shown once; when it was last used is not recorded."
            : "You see who has keys. To issue, rotate or revoke one takes keys:write, which admins have."}
        </p>
        <IssueButton first={BLANK_KEY} />
      </div>
      <Asked query={keys}>
        {({ pages }) => {
          const all = principalsOf(
            pages.flatMap((page) => page.keys),
            lately,
          );
          if (all.length === 0)
            return (
              <Panel>
                <Empty icon="key" title="Nobody has a key yet">
                  An agent in another process or on another machine needs one; an agent inside of a program
                  does not.
                </Empty>
              </Panel>
            );
          return KINDS.map((kind) => <Group key={kind} kind={kind} all={all} />);
        }}
      </Asked>
      <MoreRows list={keys} />
    </div>
  );
}
