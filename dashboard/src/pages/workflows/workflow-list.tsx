import { client } from "../../api/client.ts";
import { nameOf } from "../../api/session.ts";
import type { ListedWorkflow, WorkflowStatus } from "../../api/workflows.ts";
import { several } from "../../format/amounts.ts";
import { belowBy } from "../../live/merged-pages.ts";
import { useLongList } from "../../live/use-long-list.ts";
import { Button } from "../../ui/button.tsx";
import { LongList } from "../../ui/long-list.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { Strange } from "../../ui/strange.tsx";
import { statusText } from "../../ui/tone.ts";
import { COLUMNS, WorkflowRow } from "./workflow-row.tsx";

export type Filters = {
  readonly status: WorkflowStatus | "any";
  readonly q: string;
  readonly agent: string;
  readonly order: "newest" | "oldest";
};
type Props = { readonly filters: Filters; readonly onClear: (name: "q" | "agent" | "status") => void };

const PAGE = 100;
const HEIGHT = 66;
const idOf = ({ workflow_id }: ListedWorkflow): string => workflow_id;
const IS_BELOW = belowBy(({ started_at }: ListedWorkflow) => started_at);

async function pageOf({ status, q, agent, order }: Filters, cursor: string | undefined) {
  const { workflows, next_cursor } = await client.workflows.list({
    ...{ status, order, limit: PAGE, waits: "true" },
    ...(q === "" ? {} : { q }),
    ...(agent === "" ? {} : { agent }),
    ...(cursor === undefined ? {} : { cursor }),
  });
  return { items: workflows, next: next_cursor };
}

function Heading() {
  return (
    <div
      aria-hidden="true"
      className={`hidden border-b border-line px-4 py-2 text-tiny font-semibold text-faint ${COLUMNS}`}
    >
      <span>Status</span>
      <span>Workflow</span>
      <span>Checkpoints</span>
      <span>Agent</span>
      <span>Waits for, or why it failed</span>
      <span className="text-right">Begun</span>
    </div>
  );
}

function Nothing({ filters: { status, q, agent }, onClear }: Props) {
  if (q !== "")
    return (
      <Empty icon="search" title="Nothing fits">
        <p className="mb-3">
          No workflow{status === "any" ? "" : ` that is ${statusText(status)}`} has <Strange text={q} /> in
          it.
        </p>
        <Button size="small" onClick={() => onClear("q")}>
          Clear the search
        </Button>
      </Empty>
    );
  if (status !== "any" || agent !== "")
    return (
      <Empty icon="flow" title={`None ${status === "any" ? "" : `is ${statusText(status)}`}`}>
        <p>Nothing stands here at the moment; what comes appears by itself.</p>
      </Empty>
    );
  return (
    <Empty icon="flow" title="No workflow yet">
      <p>
        A program starts one with <code className="font-mono">hp.workflow(…)</code>, an agent with{" "}
        <code className="font-mono">POST /api/workflows</code>. It appears here by itself.
      </p>
    </Empty>
  );
}

export function WorkflowList({ filters, onClear }: Props) {
  const list = useLongList({
    key: ["workflows", "list", filters],
    fetch: (cursor) => pageOf(filters, cursor),
    idOf,
    isBelow: IS_BELOW[filters.order],
  });
  const { items, hasMore, more, head, isLooking, failed } = list;
  return (
    <Panel isFlush>
      {filters.agent === "" ? null : (
        <p className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2 text-small">
          Only of <Strange text={nameOf(filters.agent)} className="font-semibold" />
          <Button size="small" kind="quiet" icon="cross" onClick={() => onClear("agent")}>
            Of all agents
          </Button>
        </p>
      )}
      {failed === null ? null : (
        <div className="p-4">
          <Failure error={failed} onRetry={() => void head.refetch()} />
        </div>
      )}
      {isLooking && failed === null ? <Loading /> : null}
      {head.isSuccess && items.length === 0 && !isLooking ? (
        <Nothing filters={filters} onClear={onClear} />
      ) : null}
      {items.length === 0 ? null : (
        <>
          <Heading />
          <LongList
            label="Workflows"
            items={items}
            idOf={idOf}
            row={(workflow) => <WorkflowRow workflow={workflow} />}
            height={HEIGHT}
            hasMore={hasMore}
            onMore={more}
          />
          <p role="status" className="px-4 py-2.5 text-tiny text-faint">
            {hasMore
              ? `${several(items.length, "workflow")}; more come as you scroll`
              : several(items.length, "workflow")}
          </p>
        </>
      )}
    </Panel>
  );
}
