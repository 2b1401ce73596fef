/** Who one is, who is told, what was noticed, and the server itself. */
import { may, useSession } from "../../api/session.ts";
import { Page } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useTab } from "../../ui/use-tab.ts";
import { AlertsTab } from "./alerts-tab.tsx";
import { BudgetsTab } from "./budgets-tab.tsx";
import { EndpointsTab } from "./endpoints-tab.tsx";
import { ServerTab } from "./server-tab.tsx";
import { TenantsTab } from "./tenants-tab.tsx";
import { YouTab } from "./you-tab.tsx";

/** Each with the scope that it takes to see it; none where everybody may. */
const TABS = [
  { id: "you", title: "You", scope: null, content: <YouTab /> },
  { id: "endpoints", title: "Notifications", scope: "endpoints:read", content: <EndpointsTab /> },
  { id: "alerts", title: "Alerts", scope: "alerts:read", content: <AlertsTab /> },
  { id: "budgets", title: "Budgets", scope: "budgets:read", content: <BudgetsTab /> },
  { id: "tenants", title: "Tenants", scope: "tenants:manage", content: <TenantsTab /> },
  { id: "server", title: "Server", scope: null, content: <ServerTab /> },
];

export function SettingsPage() {
  const session = useSession();
  const tabs = TABS.filter(({ scope }) => scope === null || may(session, scope));
  const [tab, open] = useTab(
    "/settings",
    tabs.map(({ id }) => id),
  );
  return (
    <Page title="Settings">
      <Tabs label="Settings" tabs={tabs} value={tab} onChange={open} />
    </Page>
  );
}
