/** Each checkpoint with what it captured, in three layers for three readers, and what was decided there. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { snapshotQuery, type TimelineRow } from "../../api/workflows.ts";
import { Badge } from "../../ui/badge.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Principals } from "../../ui/principals.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { Strange } from "../../ui/strange.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { When } from "../../ui/when.tsx";
import { ApproverLayer } from "./approver-layer.tsx";
import { type Layers, layersOf } from "./snapshot-layers.ts";
import { toneOfRow } from "./timeline-words.ts";

function Layer({ value, label }: { readonly value: unknown; readonly label: string }) {
  return value === null ? (
    <p className="text-small text-faint">The agent captured nothing here.</p>
  ) : (
    <JsonView value={value} label={label} lines={24} />
  );
}

function ThreeLayers({ layers }: { readonly layers: Layers }) {
  const [tab, setTab] = useState("approver");
  return (
    <Tabs
      label="What was captured"
      value={tab}
      onChange={setTab}
      tabs={[
        {
          id: "approver",
          title: "What the approver saw",
          content: <ApproverLayer layer={layers.approver} />,
        },
        { id: "task", title: "Task state", content: <Layer value={layers.task} label="Task state" /> },
        {
          id: "execution",
          title: "Execution context",
          content: <Layer value={layers.execution} label="Execution context" />,
        },
        {
          id: "all",
          title: "As stored",
          content: <Layer value={layers.whole} label="The snapshot as stored" />,
        },
      ]}
    />
  );
}

function Captured({ workflow, snapshot }: { readonly workflow: string; readonly snapshot: string }) {
  const { data, error, refetch } = useQuery(snapshotQuery(workflow, snapshot));
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />;
  return data === undefined ? <Loading lines={3} /> : <ThreeLayers layers={layersOf(data)} />;
}

function Decision({ row }: { readonly row: TimelineRow }) {
  if (row.ref === null)
    return (
      <>nobody was asked: {row.reason === "" ? "it was passed" : <Strange isProse text={row.reason} />}</>
    );
  if (row.by.length === 0) return <Strange text={row.reason === "" ? "people are asked" : row.reason} />;
  return (
    <>
      by <Principals of={row.by} />
      {row.reason === "" ? null : (
        <>
          : <Strange isProse text={row.reason} />
        </>
      )}
    </>
  );
}

type Props = { readonly workflow: string; readonly row: TimelineRow; readonly isOpenFirst: boolean };

function Checkpoint({ workflow, row, isOpenFirst }: Props) {
  const [isOpen, setOpen] = useState(isOpenFirst);
  const { checkpoint } = row;
  return (
    <details
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="group border-b border-line last:border-0"
    >
      <summary className="flex cursor-pointer flex-wrap items-center gap-x-3 gap-y-1 px-4 py-3 sm:px-5">
        <Strange text={row.name} className={`font-semibold ${row.is_back ? "line-through" : ""}`} />
        <Badge status={row.status === "open" ? "waiting" : row.status} tone={toneOfRow(row)} />
        {row.attempt > 1 || row.is_back ? (
          <span className="text-tiny text-faint">attempt {row.attempt}</span>
        ) : null}
        {checkpoint?.can_rollback === false ? <Badge status="no way back" tone="stop" /> : null}
        <When at={row.at} className="text-tiny text-faint sm:ml-auto" />
        <span className="w-full text-small text-soft">
          <Decision row={row} />
        </span>
      </summary>
      <div className="flex flex-col gap-3 px-4 pb-5 sm:px-5">
        {checkpoint === null || checkpoint.irreversible.length === 0 ? null : (
          <p className="rounded-base bg-stop-wash px-3 py-2 text-small text-stop">
            A rejection could not take back:{" "}
            <Strange
              text={checkpoint.irreversible.map(({ tool }) => tool).join(", ")}
              className="font-semibold"
            />
          </p>
        )}
        {row.ref === null ? null : (
          <Link
            to="/approvals/$id"
            params={{ id: row.ref }}
            className="inline-flex min-h-8 items-center self-start text-small underline underline-offset-3"
          >
            The approval: who was asked, and what was decided
          </Link>
        )}
        {isOpen && checkpoint !== null ? (
          <Captured workflow={workflow} snapshot={checkpoint.snapshot.snapshot_id} />
        ) : null}
      </div>
    </details>
  );
}

export function Checkpoints({
  workflow,
  rows,
}: {
  readonly workflow: string;
  readonly rows: readonly TimelineRow[];
}) {
  const checkpoints = rows.filter(({ kind }) => kind === "checkpoint").toReversed();
  return (
    <Panel title="Checkpoints" aside="newest first" isFlush>
      {checkpoints.length === 0 ? (
        <Empty icon="lock" title="No checkpoint was come to">
          A checkpoint is a named place where the state is captured and people may be asked.
        </Empty>
      ) : (
        checkpoints.map((row, index) => (
          <Checkpoint key={row.seq} workflow={workflow} row={row} isOpenFirst={index === 0} />
        ))
      )}
    </Panel>
  );
}
