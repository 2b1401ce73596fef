/** Which policies are in force, which were, and what they say. */
import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { Asked } from "../../ui/asked.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";
import { firstVersion, otherTexts, policyGroups } from "./policy-groups.ts";
import { type Version, versionsQuery } from "./policy-queries.ts";
import { VersionList } from "./version-list.tsx";
import { VersionView } from "./version-view.tsx";

function NoPolicies() {
  return (
    <Panel>
      <Empty icon="policy" title="No policy document was put in force yet">
        A program names its policy file when it begins; every version of it is kept here. Until then each
        tool's own rule decides, and whatever has none asks people.
      </Empty>
    </Panel>
  );
}

function Versions({ versions }: { readonly versions: readonly Version[] }) {
  const search = useSearch({ from: "/policies" });
  const groups = policyGroups(versions);
  const named = versions.filter(({ digest }) => digest === search["version"]);
  const open = named.find(({ at }) => at === search["since"]) ?? named.at(-1) ?? firstVersion(groups);
  if (open === undefined) return <NoPolicies />;
  return (
    <div className="grid items-start gap-4 lg:grid-cols-[20rem_minmax(0,1fr)]">
      <VersionList groups={groups} open={open} />
      <VersionView
        key={`${open.digest}${open.at}`}
        version={open}
        against={search["against"] ?? ""}
        others={otherTexts(groups, open)}
      />
    </div>
  );
}

export function VersionsTab() {
  return <Asked query={useQuery(versionsQuery)}>{(versions) => <Versions versions={versions} />}</Asked>;
}
