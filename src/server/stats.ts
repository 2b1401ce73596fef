/** Figures over the workflows and approvals of a tenant. */
import { APPROVAL_STATUSES, type ApprovalStatus, QUESTION_ENDS, questionEnds } from "../approvals/state.ts";
import { ROSTER } from "../kernel/stream.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readState } from "../runtime/store-access.ts";
import { WORKFLOW_STATUSES, type WorkflowStatus } from "../workflows/state.ts";

type Place = Pick<Runtime, "store" | "tenant">;

/** Nobody has decided these. */
const UNDECIDED: readonly ApprovalStatus[] = [
  "pending",
  ...questionEnds.filter((end) => !QUESTION_ENDS[end].isDecision),
];
const AT_WORK: readonly WorkflowStatus[] = ["executing", "awaiting_approval", "rolling_back", "settling"];
const MOST = 1_000;

async function countsOf<Bucket extends string>(
  { store, tenant }: Place,
  view: string,
  buckets: readonly Bucket[],
) {
  const counts = await Promise.all(
    buckets.map(async (bucket) => [bucket, await store.count(tenant, view, bucket)] as const),
  );
  return Object.fromEntries(counts) as { readonly [bucket in Bucket]: number };
}

const sum = (counts: { readonly [bucket: string]: number }): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);

async function executors({ store, tenant }: Place): Promise<number> {
  const query = { view: "workflows", order: "newest", limit: MOST } as const;
  const rows = await Promise.all(AT_WORK.map((bucket) => store.query(tenant, { ...query, bucket })));
  return new Set(rows.flat().map(({ data }) => data["agent"])).size;
}

async function supervisors(place: Place): Promise<number> {
  const { members, suspended } = await readState(place, ROSTER);
  return [...members].filter(
    ([person, { roles }]) => roles.includes("supervisor") && !suspended.includes(person),
  ).length;
}

export async function statsOf(place: Place) {
  const states = await countsOf(place, "workflows", WORKFLOW_STATUSES);
  const decided = APPROVAL_STATUSES.filter((status) => !UNDECIDED.includes(status));
  return {
    total_workflows: sum(states),
    workflow_states: states,
    total_approvals_processed: sum(await countsOf(place, "approvals", decided)),
    pending_approvals: await place.store.count(place.tenant, "approvals", "pending"),
    active_executors: await executors(place),
    active_supervisors: await supervisors(place),
  };
}
