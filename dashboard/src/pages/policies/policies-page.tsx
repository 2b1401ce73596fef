/** What agents may do: the policies in force and before, tried out, and what people permitted beforehand. */
import { Suspense } from "react";
import { may, useSession } from "../../api/session.ts";
import { lazyPart } from "../../shell/lazy-part.ts";
import { NotAllowed } from "../../ui/not-allowed.tsx";
import { Page } from "../../ui/page.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Loading } from "../../ui/states.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useTab } from "../../ui/use-tab.ts";
import { ExplainTab } from "./explain-tab.tsx";
import { GrantsTab } from "./grants-tab.tsx";
import { SuggestionsTab } from "./suggestions-tab.tsx";
import { VersionsTab } from "./versions-tab.tsx";

const BacktestTab = lazyPart(async () => (await import("./backtest-tab.tsx")).BacktestTab);

function Backtest() {
  return (
    <Suspense fallback={<Loading />}>
      <BacktestTab />
    </Suspense>
  );
}

function Grants() {
  if (may(useSession(), "grants:read")) return <GrantsTab />;
  return (
    <Panel>
      <NotAllowed what="The list of standing grants" scope="grants:read" />
    </Panel>
  );
}

const TABS = [
  { id: "versions", title: "In force", content: <VersionsTab /> },
  { id: "explain", title: "Explain", content: <ExplainTab /> },
  { id: "backtest", title: "Back-test", content: <Backtest /> },
  { id: "suggestions", title: "Suggestions", content: <SuggestionsTab /> },
  { id: "grants", title: "Standing grants", content: <Grants /> },
];

export function PoliciesPage() {
  const [tab, open] = useTab(
    "/policies",
    TABS.map(({ id }) => id),
  );
  return (
    <Page
      title="Policies"
      lead="What agents may do, what people are asked about, and what is refused. Trying a policy out here puts nothing in force."
    >
      <Tabs label="Policies" tabs={TABS} value={tab} onChange={open} />
    </Page>
  );
}
