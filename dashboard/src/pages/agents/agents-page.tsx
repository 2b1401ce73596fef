/** Who acts and who decides: agents and services with their keys, and people. */
import { Link } from "@tanstack/react-router";
import { may, useSession } from "../../api/session.ts";
import { NotAllowed } from "../../ui/not-allowed.tsx";
import { Page } from "../../ui/page.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useTab } from "../../ui/use-tab.ts";
import { AgentsTab } from "./agents-tab.tsx";
import { PeopleTab } from "./people-tab.tsx";

function Keys() {
  if (may(useSession(), "keys:read")) return <AgentsTab />;
  return (
    <Panel>
      <NotAllowed what="Seeing keys" scope="keys:read" />
      <p className="text-small text-soft">
        An agent can be stopped without it, where you may: on the page of the{" "}
        <Link to="/kill-switch" className="underline">
          kill switch
        </Link>
        .
      </p>
    </Panel>
  );
}

const TABS = [
  { id: "agents", title: "Agents and keys", content: <Keys /> },
  { id: "people", title: "People", content: <PeopleTab /> },
];

export function AgentsPage() {
  const tabs = may(useSession(), "keys:read") ? TABS : TABS.toReversed();
  const [tab, open] = useTab(
    "/agents",
    tabs.map(({ id }) => id),
  );
  return (
    <Page
      title="Agents and keys"
      lead="Who acts and who decides. Agents and services never vote, whatever roles they have."
    >
      <Tabs label="Agents and keys" tabs={tabs} value={tab} onChange={open} />
    </Page>
  );
}
