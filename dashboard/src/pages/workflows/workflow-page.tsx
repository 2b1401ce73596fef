/** One workflow: where it stands and how it came there, with everything that proves it. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { may, useSession } from "../../api/session.ts";
import { type TimelineRow, timelineQuery, type Workflow, workflowQuery } from "../../api/workflows.ts";
import { JsonView } from "../../ui/json-view.tsx";
import { isMissing, Missing } from "../../ui/missing.tsx";
import { Page } from "../../ui/page.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { type Tab, Tabs } from "../../ui/tabs.tsx";
import { Checkpoints } from "./checkpoints.tsx";
import { Effects } from "./effects.tsx";
import { Jobs } from "./jobs.tsx";
import { StoppedNote } from "./operate.tsx";
import { StateMachine } from "./state-machine.tsx";
import { Timeline } from "./timeline.tsx";
import { wayOf } from "./way.ts";
import { WaySteps } from "./way-steps.tsx";
import { WorkflowFacts } from "./workflow-facts.tsx";
import { WorkflowFailure } from "./workflow-failure.tsx";
import { WorkflowHead } from "./workflow-head.tsx";
import { WorkflowJournal } from "./workflow-journal.tsx";
import { WorkflowWaits } from "./workflow-waits.tsx";

type Shown = { readonly workflow: Workflow; readonly rows: readonly TimelineRow[] };

function Values({ workflow }: { readonly workflow: Workflow }) {
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Panel title="Input">
        <JsonView value={workflow.input} label="Input" lines={24} />
      </Panel>
      <Panel title="Result">
        {workflow.status === "completed" ? (
          <JsonView value={workflow.result} label="Result" lines={24} />
        ) : (
          <p className="text-small text-faint">There is none: it has not completed.</p>
        )}
      </Panel>
    </div>
  );
}

function Life({ workflow, rows }: Shown) {
  const way = wayOf(rows, workflow.status);
  return (
    <div className="grid gap-4 lg:grid-cols-[minmax(0,1.9fr)_minmax(0,1fr)]">
      <Panel title="Current state">
        <div className="flex flex-col gap-5">
          <StateMachine way={way} now={workflow.status} />
          <WorkflowFacts workflow={workflow} />
        </div>
      </Panel>
      <Panel title="The way it went">
        <WaySteps way={way} />
      </Panel>
    </div>
  );
}

function Parts({ workflow, rows }: Shown) {
  const { workflow_id: id } = workflow;
  const session = useSession();
  const tab = useSearch({ from: "/workflows/$id" })["tab"] ?? "timeline";
  const go = useNavigate({ from: "/workflows/$id" });
  const tabs: readonly Tab[] = [
    { id: "timeline", title: "Timeline", content: <Timeline rows={rows} /> },
    { id: "checkpoints", title: "Checkpoints", content: <Checkpoints workflow={id} rows={rows} /> },
    { id: "effects", title: "Actions and effects", content: <Effects rows={rows} /> },
    { id: "jobs", title: "Jobs", content: <Jobs workflow={id} /> },
    { id: "values", title: "Input and result", content: <Values workflow={workflow} /> },
    ...(may(session, "journal:read")
      ? [{ id: "journal", title: "Journal", content: <WorkflowJournal id={id} /> }]
      : []),
  ];
  const value = tabs.some((one) => one.id === tab) ? tab : "timeline";
  return (
    <Tabs
      label="Parts of the workflow"
      tabs={tabs}
      value={value}
      onChange={(next) => void go({ search: { tab: next }, replace: true, resetScroll: false })}
    />
  );
}

export function WorkflowPage() {
  const { id } = useParams({ from: "/workflows/$id" });
  const workflow = useQuery(workflowQuery(id));
  const timeline = useQuery(timelineQuery(id));
  const error = workflow.error ?? timeline.error;
  const again = () => {
    void workflow.refetch();
    void timeline.refetch();
  };
  const shown = workflow.data === undefined || timeline.data === undefined ? null : workflow.data;
  if (shown === null && isMissing(error))
    return (
      <Missing what="workflow">
        <Link to="/workflows" className="underline">
          See the workflows
        </Link>
      </Missing>
    );
  return (
    <Page title={shown?.name ?? "Workflow"} isBare={shown !== null}>
      {error === null ? null : <Failure error={error} onRetry={again} />}
      {shown === null && error === null ? <Loading /> : null}
      {shown === null ? null : (
        <>
          <WorkflowHead workflow={shown} />
          <StoppedNote id={id} />
          <WorkflowWaits workflow={shown} />
          <WorkflowFailure workflow={shown} />
          <Life workflow={shown} rows={timeline.data?.rows ?? []} />
          <Parts workflow={shown} rows={timeline.data?.rows ?? []} />
        </>
      )}
    </Page>
  );
}
