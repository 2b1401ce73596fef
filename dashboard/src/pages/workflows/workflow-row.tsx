import { Link } from "@tanstack/react-router";
import { nameOf } from "../../api/session.ts";
import type { ListedWorkflow } from "../../api/workflows.ts";
import { Badge } from "../../ui/badge.tsx";
import { Brief } from "../../ui/brief.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";
import { CheckpointProgress } from "./checkpoint-progress.tsx";
import { isOver } from "./status-words.ts";
import { waitsFor } from "./waits-for.ts";

/** The same columns for the heading and every row. */
export const COLUMNS =
  "lg:grid lg:grid-cols-[8.5rem_minmax(0,1.6fr)_6.5rem_minmax(0,1fr)_minmax(0,1.4fr)_7.5rem] lg:items-center lg:gap-4";

function Reason({ workflow }: { readonly workflow: ListedWorkflow }) {
  const waiting = waitsFor(workflow);
  if (waiting !== null)
    return (
      <span className="text-hold">
        {waiting.words}{" "}
        {waiting.name === "" ? null : <Strange text={waiting.name} className="font-semibold" />}
      </span>
    );
  if (workflow.error_message === null) return null;
  return <Brief text={workflow.error_message} className="line-clamp-2 text-soft" />;
}

export function WorkflowRow({ workflow }: { readonly workflow: ListedWorkflow }) {
  const { workflow_id: id, name, status, agent, attempt } = workflow;
  return (
    <Link
      to="/workflows/$id"
      params={{ id }}
      className={`flex flex-wrap items-center gap-x-3 gap-y-1.5 border-b border-line px-4 py-3 text-small hover:bg-sunken focus-visible:-outline-offset-2 ${COLUMNS}`}
    >
      <span className="flex items-center">
        <Badge status={status} />
      </span>
      <span className="min-w-0 max-lg:order-first max-lg:grow max-lg:basis-[calc(100%-7.5rem)]">
        <Strange text={name} className="block truncate text-base font-semibold" />
        <span className="flex gap-1.5 text-tiny whitespace-nowrap text-faint">
          <span className="truncate font-mono">{id}</span>
          {attempt > 1 ? <span className="font-semibold text-soft">attempt {attempt}</span> : null}
        </span>
      </span>
      <CheckpointProgress
        current={workflow.current_checkpoint}
        total={workflow.total_checkpoints}
        isOver={isOver(status)}
      />
      <Strange text={nameOf(agent)} className="min-w-0 truncate text-soft" />
      <span className="min-w-0 max-lg:order-last max-lg:w-full max-lg:empty:hidden">
        <Reason workflow={workflow} />
      </span>
      <When
        at={workflow.started_at}
        className="whitespace-nowrap text-soft max-lg:order-first max-lg:self-start lg:text-right"
      />
    </Link>
  );
}
