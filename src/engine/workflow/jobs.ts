/** A workflow told as jobs: one for the whole, an approval job for each checkpoint, a settlement at the end. */

import type { Runtime } from "../../runtime/runtime.ts";
import { entriesOf } from "./entries.ts";
import type { Entry } from "./recorded.ts";
import { workflowState } from "./workflows.ts";

export type Job = {
  readonly id: string;
  readonly kind: "main" | "approval" | "settlement";
  readonly name: string;
  readonly status: "open" | "completed" | "failed" | "rejected";
  readonly openedAt: number;
  readonly closedAt: number | null;
  readonly artifact: string | null;
  readonly approval: string | null;
  readonly by: readonly string[];
  readonly reason: string;
};

const jobId = (workflow: string, suffix: string): string => `job_${workflow.slice(3)}${suffix}`;

function open(workflow: string, kind: Job["kind"], name: string, entry: Entry): Job {
  const suffix = kind === "main" ? "" : `_${entry.seq}`;
  const fresh = {
    status: "open",
    closedAt: null,
    artifact: null,
    approval: null,
    by: [],
    reason: "",
  } as const;
  return { id: jobId(workflow, suffix), kind, name, openedAt: entry.at, ...fresh };
}

function approvalJob(workflow: string, entry: Entry): Job {
  const { name, snapshot, approval } = entry.body as unknown as {
    name: string;
    snapshot: { uri: string };
    approval?: string;
  };
  const job = { ...open(workflow, "approval", name, entry), artifact: snapshot.uri };
  if (approval !== undefined) return { ...job, approval };
  return { ...job, status: "completed", closedAt: entry.at, reason: String(entry.body["why"]) };
}

function decided(job: Job, entry: Entry): Job {
  const { decision, by, reason } = entry.body as unknown as {
    decision: string;
    by: string[];
    reason: string;
  };
  const status = decision === "approved" || decision === "modified" ? "completed" : "rejected";
  return { ...job, status, closedAt: entry.at, by, reason };
}

function fold(workflow: string, jobs: Job[], entry: Entry): void {
  const main = jobs[0];
  const end = (status: Job["status"], reason: string) => {
    if (main !== undefined) jobs[0] = { ...main, status, closedAt: entry.at, reason };
  };
  switch (entry.type) {
    case "workflow.created":
      jobs.push(open(workflow, "main", String(entry.body["name"]), entry));
      break;
    case "checkpoint.reached":
    case "checkpoint.raised":
    case "checkpoint.passed":
      jobs.push(approvalJob(workflow, entry));
      break;
    case "checkpoint.decided": {
      const at = jobs.findLastIndex(({ approval }) => approval === entry.body["approval"]);
      const job = jobs[at];
      if (job !== undefined) jobs[at] = decided(job, entry);
      break;
    }
    case "workflow.settling":
      jobs.push(open(workflow, "settlement", "settlement", entry));
      break;
    case "workflow.completed": {
      end("completed", "");
      const last = jobs.at(-1);
      if (last?.kind === "settlement")
        jobs[jobs.length - 1] = { ...last, status: "completed", closedAt: entry.at };
      break;
    }
    case "workflow.failed":
      end("failed", String(entry.body["reason"]));
  }
}

export async function jobsOf(place: Pick<Runtime, "store" | "tenant">, id: string): Promise<readonly Job[]> {
  await workflowState(place, id);
  const jobs: Job[] = [];
  for await (const entry of entriesOf(place, id)) fold(id, jobs, entry);
  return jobs;
}
