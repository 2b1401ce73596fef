/** Activity by day and the figures of a tenant, counted from the newest rows up to a limit. */

import { z } from "zod";
import {
  APPROVAL_STATUSES,
  type ApprovalStatus,
  QUESTION_ENDS,
  questionEnds,
} from "../../approvals/state.ts";
import { ROSTER } from "../../kernel/stream.ts";
import { createYieldCheck, runYielding, type YieldCheck } from "../../runtime/concurrency.ts";
import { cacheRecent } from "../../runtime/expensive-answers.ts";
import { eachRow } from "../../runtime/lists.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState } from "../../runtime/store-access.ts";
import type { TenantStore, ViewRow } from "../../stores/store.ts";
import { WORKFLOW_STATUSES, type WorkflowStatus } from "../../workflows/state.ts";
import { checkHasScopes, ok, route } from "../route.ts";
import type { TenantHost } from "../tenant-hosts.ts";
import { type Activity, actionFact, activityOnWire, approvalFact, countActivity, DAY_MS } from "./rules.ts";

/** Limit for approvals, and for actions. */
const MOST_ROWS = 100_000;

type ActivityDependencies = Pick<Runtime, "store" | "tenant" | "clock" | "closing">;
type ReadLimits = { readonly since: number; readonly most: number; readonly pace: YieldCheck };

/** `since` in the result: every row from then on was read. */
async function factsOf<Fact>(
  place: ActivityDependencies,
  view: "approvals" | "actions",
  make: (row: ViewRow) => Fact,
  { since, most, pace }: ReadLimits,
): Promise<{ readonly facts: readonly Fact[]; readonly since: number }> {
  const facts: Fact[] = [];
  for await (const row of eachRow(place, { view, order: "newest" })) {
    if (row.at < since) break;
    if (facts.length === most) return { facts, since: row.at + 1 };
    facts.push(make(row));
    const turn = pace();
    if (turn !== undefined) await turn;
  }
  return { facts, since };
}

async function nowOf({ store, tenant }: ActivityDependencies): Promise<Activity["now"]> {
  const oldest = { view: "approvals", bucket: "pending", order: "oldest", limit: 1 } as const;
  const [pending, inDoubt, [first]] = await Promise.all([
    store.count(tenant, "approvals", "pending"),
    store.count(tenant, "actions", "in_doubt"),
    store.query(tenant, oldest),
  ]);
  return { pending, inDoubt, oldestPendingAt: first?.at ?? null };
}

/** `days`: number of UTC days, including today. */
export async function readActivity(
  place: ActivityDependencies,
  days: number,
  most = MOST_ROWS,
): Promise<Activity> {
  const until = place.clock.now();
  const asked = (Math.floor(until / DAY_MS) - days + 1) * DAY_MS;
  const pace = createYieldCheck(place);
  const reach = { since: asked, most, pace };
  const approvals = await factsOf(place, "approvals", approvalFact, reach);
  const actions = await factsOf(place, "actions", actionFact, { ...reach, since: approvals.since });
  const since = Math.min(actions.since, until);
  const counted = { since, until, approvals: approvals.facts, actions: actions.facts };
  const activity = await runYielding(countActivity(counted), pace);
  return { since, until, isAll: since === asked, ...activity, now: await nowOf(place) };
}

/** Ended without a decision by a person. */
const UNDECIDED: readonly ApprovalStatus[] = [
  "pending",
  ...questionEnds.filter((end) => !QUESTION_ENDS[end].isDecision),
];
const AT_WORK: readonly WorkflowStatus[] = ["executing", "awaiting_approval", "rolling_back", "settling"];
const MOST_ROWS_COUNTED = 1_000;

async function countsOf<Bucket extends string>(
  { store, tenant }: TenantStore,
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

async function executors({ store, tenant }: TenantStore): Promise<number> {
  const query = { view: "workflows", order: "newest", limit: MOST_ROWS_COUNTED } as const;
  const rows = await Promise.all(AT_WORK.map((bucket) => store.query(tenant, { ...query, bucket })));
  return new Set(rows.flat().map(({ data }) => data["agent"])).size;
}

async function supervisors(place: TenantStore): Promise<number> {
  const { members, suspended } = await readState(place, ROSTER);
  return [...members].filter(
    ([person, { roles }]) => roles.includes("supervisor") && !suspended.includes(person),
  ).length;
}

export async function readTenantStats(place: TenantStore) {
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

/** A page requests this after every event. */
const KEPT_MS = 5_000;
const recent = cacheRecent<Activity>(KEPT_MS);
/** Each range is computed and cached separately, so there are few of them. */
const RANGES = [7, 30, 90, 366] as const;

const made = new WeakMap<TenantHost, Promise<unknown>>();

/** Counting reads many rows, so one result is made at a time, however many ranges are requested. */
function inTurn(office: TenantHost, make: () => Promise<Activity>): Promise<Activity> {
  const next = (made.get(office) ?? Promise.resolve()).then(make);
  made.set(
    office,
    next.catch(() => undefined),
  );
  return next;
}

export const activityRoutes = [
  route({
    method: "GET",
    path: "/api/activity",
    summary: "What was asked, decided and done, by day, tool, agent and person",
    tag: "approvals",
    scope: "approvals:read",
    query: z.strictObject({ days: z.preprocess(Number, z.literal(RANGES)).default(30) }),
    answers: { 200: activityOnWire.wire },
    async handle({ office, who, query: { days } }) {
      checkHasScopes({ who }, ["approvals:read", "actions:read"]);
      const make = () => inTurn(office, () => readActivity(office.runtime, days));
      const activity = await recent(office.runtime, String(days), { make });
      // How a person decides is visible only with `people:read`.
      const people = who.can("people:read") ? activity.people : [];
      return ok(activityOnWire.encode({ ...activity, people }));
    },
  }),
];
