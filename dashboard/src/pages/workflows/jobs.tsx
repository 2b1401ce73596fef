/** The same history as jobs: one for the whole, one for each checkpoint, a settlement at the end. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type Job, jobsQuery } from "../../api/workflows.ts";
import { Badge } from "../../ui/badge.tsx";
import { Known } from "../../ui/known.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Principals } from "../../ui/principals.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";

const KINDS: { readonly [kind in Job["kind"]]: string } = {
  main: "the whole",
  approval: "approval",
  settlement: "settlement",
};

function JobLine({ job }: { readonly job: Job }) {
  const isBelow = job.kind !== "main";
  return (
    <li
      className={`flex flex-col gap-1 border-b border-line px-4 py-3 last:border-0 sm:px-5 ${isBelow ? "sm:pl-10" : ""}`}
    >
      <p className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <span className="text-small text-faint">{KINDS[job.kind]}</span>
        <Strange text={job.name} className="font-semibold" />
        <Badge status={job.status} />
        <span className="text-tiny text-faint sm:ml-auto">
          opened <When at={job.opened_at} />
          {job.closed_at === null ? null : (
            <>
              , closed <When at={job.closed_at} />
            </>
          )}
        </span>
      </p>
      <p className="flex flex-wrap items-center gap-x-3 text-small text-soft">
        <Known id={job.job_id} isShort />
        {job.approval_id === null ? null : (
          <Link to="/approvals/$id" params={{ id: job.approval_id }} className="underline underline-offset-3">
            approval
          </Link>
        )}
        {job.by.length === 0 ? null : (
          <span>
            by <Principals of={job.by} />
          </span>
        )}
        <Strange isProse text={job.reason} />
      </p>
      {job.artifact_uri === null ? null : <Known id={job.artifact_uri} className="text-faint" />}
    </li>
  );
}

export function Jobs({ workflow }: { readonly workflow: string }) {
  const { data, error, refetch } = useQuery(jobsQuery(workflow));
  return (
    <Panel title="Jobs" aside="the audit trail of the work" isFlush>
      {error === null ? null : (
        <div className="p-4">
          <Failure error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {data === undefined && error === null ? <Loading lines={3} /> : null}
      <ul>
        {data?.jobs.map((job) => (
          <JobLine key={job.job_id} job={job} />
        ))}
      </ul>
    </Panel>
  );
}
