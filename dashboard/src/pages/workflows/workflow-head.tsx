import { Link } from "@tanstack/react-router";
import type { Workflow } from "../../api/workflows.ts";
import { Badge } from "../../ui/badge.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Known } from "../../ui/known.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";
import { Operate } from "./operate.tsx";
import { MEANINGS } from "./status-words.ts";

export function WorkflowHead({ workflow }: { readonly workflow: Workflow }) {
  const { name, status, attempt, workflow_id: id, description } = workflow;
  return (
    <header className="flex flex-col gap-3">
      <Link
        to="/workflows"
        className="flex items-center gap-1 self-start text-small text-soft hover:text-ink"
      >
        <Icon name="back" className="size-4" />
        Workflows
      </Link>
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0">
          <h1 className="flex flex-wrap items-center gap-x-3 gap-y-1 text-title font-semibold tracking-tight">
            <Strange text={name} />
            <Badge status={status} className="text-small" />
          </h1>
          <p className="mt-1 flex flex-wrap items-center gap-x-2 text-small text-soft">
            <Known id={id} />
            <span>
              begun <When at={workflow.started_at} />
              {workflow.completed_at === null ? null : (
                <>
                  , ended <When at={workflow.completed_at} />
                </>
              )}
            </span>
            {attempt > 1 ? <span className="font-semibold">attempt {attempt}</span> : null}
          </p>
        </div>
        <Operate workflow={workflow} />
      </div>
      {description === "" ? null : <Strange isProse text={description} className="max-w-prose text-soft" />}
      <p className="text-small text-soft">{MEANINGS[status]}</p>
    </header>
  );
}
