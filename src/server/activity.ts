/** Reads what activity is counted from, newest first: as far back as is asked for, or as many rows as are worth it. */

import { createYieldCheck, runYielding, type YieldCheck } from "../runtime/concurrency.ts";
import { eachRow } from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";

import type { ViewRow } from "../stores/store.ts";
import { type Activity, activityOf, DAY_MS } from "../views/activity.ts";
import { actionFact, askedFact } from "../views/activity-facts.ts";

export type ReadActivity = Activity & {
  /** Later than was asked for where there was more than is counted. */
  readonly since: number;
  readonly until: number;
  readonly isAll: boolean;
  readonly now: {
    readonly pending: number;
    readonly inDoubt: number;
    readonly oldestPendingAt: number | null;
  };
};

/** Of approvals, and of actions. */
const MOST_ROWS = 100_000;

type Place = Pick<Runtime, "store" | "tenant" | "clock" | "closing">;
type Reach = { readonly since: number; readonly most: number; readonly pace: YieldCheck };

/** `since`: from then on, all of them. */
async function factsOf<Fact>(
  place: Place,
  view: "approvals" | "actions",
  make: (row: ViewRow) => Fact,
  { since, most, pace }: Reach,
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

async function nowOf({ store, tenant }: Place): Promise<ReadActivity["now"]> {
  const oldest = { view: "approvals", bucket: "pending", order: "oldest", limit: 1 } as const;
  const [pending, inDoubt, [first]] = await Promise.all([
    store.count(tenant, "approvals", "pending"),
    store.count(tenant, "actions", "in_doubt"),
    store.query(tenant, oldest),
  ]);
  return { pending, inDoubt, oldestPendingAt: first?.at ?? null };
}

/** So many days of UTC, today included. */
export async function readActivity(place: Place, days: number, most = MOST_ROWS): Promise<ReadActivity> {
  const until = place.clock.now();
  const asked = (Math.floor(until / DAY_MS) - days + 1) * DAY_MS;
  const pace = createYieldCheck(place);
  const reach = { since: asked, most, pace };
  const approvals = await factsOf(place, "approvals", askedFact, reach);
  const actions = await factsOf(place, "actions", actionFact, { ...reach, since: approvals.since });
  const since = Math.min(actions.since, until);
  const counted = { since, until, approvals: approvals.facts, actions: actions.facts };
  const activity = await runYielding(activityOf(counted), pace);
  return { ...activity, since, until, isAll: since === asked, now: await nowOf(place) };
}
