/** Who acts and who decides: agents and services with their keys, and people. */
import { Page } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useTab } from "../../ui/use-tab.ts";
import { AgentsTab } from "./agents-tab.tsx";
import { PeopleTab } from "./people-tab.tsx";

const TABS = [
  { id: "agents", title: "Agents and keys", content: <AgentsTab /> },
  { id: "people", title: "People", content: <PeopleTab /> },
];

export function AgentsPage() {
  const [tab, open] = useTab(
    "/agents",
    TABS.map(({ id }) => id),
  );
  return (
    <Page
      title="Agents and keys"
      lead="Who acts and who decides. Agents and services never vote, whatever roles they have."
    >
      <Tabs label="Agents and keys" tabs={TABS} value={tab} onChange={open} />
    </Page>
  );
}
