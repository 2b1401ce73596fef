/** Every workflow, by where it stands. Filters are in the address, so that a list can be sent to somebody. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { statsQuery, type WorkflowStatus } from "../../api/workflows.ts";
import { Page } from "../../ui/page.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { StatusFilter } from "./status-filter.tsx";
import { STATES } from "./status-words.ts";
import { type Filters, WorkflowList } from "./workflow-list.tsx";

const statusOf = (text: string | undefined): WorkflowStatus | "any" =>
  STATES.find((state) => state === text) ?? "any";

export function WorkflowsPage() {
  const search = useSearch({ from: "/workflows" });
  const go = useNavigate({ from: "/workflows" });
  const { data: stats } = useQuery(statsQuery);
  const filters: Filters = {
    status: statusOf(search["status"]),
    q: search["q"] ?? "",
    agent: search["agent"] ?? "",
    order: search["order"] === "oldest" ? "oldest" : "newest",
  };
  const set = useCallback(
    (name: string, value: string) => {
      const next = (before: { readonly [name: string]: string }) =>
        Object.fromEntries(Object.entries({ ...before, [name]: value }).filter(([, text]) => text !== ""));
      void go({ search: next, replace: true });
    },
    [go],
  );
  const setText = useCallback((text: string) => set("q", text), [set]);
  return (
    <Page title="Workflows" lead="Tasks of several operations: where each stands, and what it waits for.">
      <StatusFilter counts={stats?.workflow_states} total={stats?.total_workflows} status={filters.status} />
      <search className="flex flex-wrap gap-2">
        <SearchBox label="Name, id, agent, checkpoint or reason" value={filters.q} onChange={setText} />
        <select
          aria-label="Order"
          value={filters.order}
          onChange={(event) => set("order", event.target.value)}
          className="min-h-11 rounded-base border border-edge bg-surface px-3 text-base"
        >
          <option value="newest">Newest first</option>
          <option value="oldest">Oldest first</option>
        </select>
      </search>
      <WorkflowList key={JSON.stringify(filters)} filters={filters} onClear={(name) => set(name, "")} />
    </Page>
  );
}
