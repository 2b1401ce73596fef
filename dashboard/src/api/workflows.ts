/** What the pages of workflows ask for. */
import { queryOptions } from "@tanstack/react-query";
import type { AnswerOf } from "holdpoint/client";
import { client } from "./client.ts";

export type ListedWorkflow = AnswerOf<"GET /api/workflows">["workflows"][number];
export type Workflow = AnswerOf<"GET /api/workflows/{id}">;
export type WorkflowStatus = Workflow["status"];
export type TimelineRow = AnswerOf<"GET /api/workflows/{id}/timeline">["rows"][number];
export type Job = AnswerOf<"GET /api/workflows/{id}/jobs">["jobs"][number];
export type Outlook = AnswerOf<"GET /api/workflows/{id}/rollback">;
export type RollbackTarget = Outlook["targets"][number];

export const statsQuery = queryOptions({
  queryKey: ["workflows", "stats"],
  queryFn: () => client.workflows.stats(),
});

export const workflowQuery = (id: string) =>
  queryOptions({ queryKey: ["workflows", id], queryFn: () => client.workflows.get(id) });

export const timelineQuery = (id: string) =>
  queryOptions({ queryKey: ["workflows", id, "timeline"], queryFn: () => client.workflows.timeline(id) });

export const jobsQuery = (id: string) =>
  queryOptions({ queryKey: ["workflows", id, "jobs"], queryFn: () => client.workflows.jobs(id) });

/** A snapshot never changes. */
export const snapshotQuery = (id: string, snapshot: string) =>
  queryOptions({
    queryKey: ["snapshots", id, snapshot],
    queryFn: () => client.workflows.snapshot(id, snapshot),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const outlookQuery = (id: string) =>
  queryOptions({
    queryKey: ["workflows", id, "rollback"],
    queryFn: () => client.workflows.rollbackOutlook(id),
  });

export const workflowSwitchQuery = (id: string) =>
  queryOptions({
    queryKey: ["switch", "workflow", id],
    queryFn: () => client.killSwitch.paused({ workflow_id: id }),
  });
