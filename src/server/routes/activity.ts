/** What was asked, decided and done, by day. */
import { z } from "zod";
import type { DayActivity, PersonActivity } from "../../views/activity.ts";
import { type ReadActivity, readActivity } from "../activity.ts";
import { checkScopes } from "../needs.ts";
import { keepRecent } from "../recent.ts";
import { type Asked, ok, route } from "../route.ts";
import type { Office } from "../tenants.ts";
import { time, timeOrNull, timeSchema } from "../wire.ts";

const count = z.number().int().min(0);
const decided = {
  approved: count,
  modified: count,
  rejected: count,
  expired: count,
  cancelled: count,
};
const done = { applied: count, not_applied: count, in_doubt: count, refused: count };

const day = z.object({
  day: z.iso.date().meta({ description: "in UTC" }),
  asked: count.meta({ description: "approvals that were asked for" }),
  ...decided,
  waited_p50_seconds: z.number().nullable().meta({ description: "from the question to people's decision" }),
  waited_p90_seconds: z.number().nullable(),
  actions: count.meta({ description: "actions that were proposed" }),
  by_policy: count.meta({ description: "of those, decided without asking anybody" }),
  verdicts: z
    .object({ approve: count, revise: count, block: count, escalate: count })
    .meta({ description: "what policy said of them; revise: it changed the arguments, then approved" }),
  ...done,
});

const share = z.object({ name: z.string(), actions: count, asked: count, ...decided, ...done });

const person = z.object({
  person: z.string(),
  decided: count,
  rejected: count,
  p50_seconds: z.number().nullable().meta({ description: "from the question to their decision" }),
  hasty: count.meta({ description: "decided within three seconds of the question" }),
});

/** A page asks again after every event. */
const KEPT_MS = 5_000;
const recent = keepRecent<ReadActivity>(KEPT_MS);
/** Each is made and kept by itself: there are not to be many. */
const RANGES = [7, 30, 90, 366] as const;

const made = new WeakMap<Office, Promise<unknown>>();

/** What is counted from is much, so that one is made at a time however many days are asked for. */
function inTurn(office: Office, make: () => Promise<ReadActivity>): Promise<ReadActivity> {
  const next = (made.get(office) ?? Promise.resolve()).then(make);
  made.set(
    office,
    next.catch(() => undefined),
  );
  return next;
}

const seconds = (ms: number | null): number | null => (ms === null ? null : ms / 1_000);

function dayOnWire({ byPolicy, waitedP50, waitedP90, ...counts }: DayActivity) {
  return {
    ...counts,
    by_policy: byPolicy,
    waited_p50_seconds: seconds(waitedP50),
    waited_p90_seconds: seconds(waitedP90),
  };
}

const personOnWire = ({ p50, ...counts }: PersonActivity) => ({ ...counts, p50_seconds: seconds(p50) });

/** How somebody decides is for who may look at people. */
const peopleFor = ({ who }: Pick<Asked, "who">, people: ReadActivity["people"]) =>
  who.can("people:read") ? people.map(personOnWire) : [];

function activityOnWire(
  { who }: Pick<Asked, "who">,
  { days, people, tools, agents, now, ...read }: ReadActivity,
) {
  const { pending, inDoubt, oldestPendingAt } = now;
  return {
    since: time(read.since),
    until: time(read.until),
    is_all: read.isAll,
    days: days.map(dayOnWire),
    ...{ tools, agents },
    people: peopleFor({ who }, people),
    now: { pending, in_doubt: inDoubt, oldest_pending_at: timeOrNull(oldestPendingAt) },
  };
}

export const activityRoutes = [
  route({
    method: "GET",
    path: "/api/activity",
    summary: "What was asked, decided and done, by day, tool, agent and person",
    tag: "approvals",
    scope: "approvals:read",
    query: z.strictObject({ days: z.preprocess(Number, z.literal(RANGES)).default(30) }),
    answers: {
      200: z.object({
        since: timeSchema.meta({
          description: "later than was asked for where there was more than is counted",
        }),
        until: timeSchema,
        is_all: z.boolean(),
        days: z.array(day).meta({ description: "every day, oldest first, those without anything too" }),
        tools: z
          .array(share)
          .meta({ description: "the hundred with the most to tell; so with agents and people" }),
        agents: z.array(share),
        people: z.array(person).meta({ description: "empty without the scope people:read" }),
        now: z.object({ pending: count, in_doubt: count, oldest_pending_at: timeSchema.nullable() }),
      }),
    },
    async handle({ office, who, query: { days } }) {
      checkScopes({ who }, ["approvals:read", "actions:read"]);
      const make = () => inTurn(office, () => readActivity(office.runtime, days));
      return ok(activityOnWire({ who }, await recent(office, String(days), { make })));
    },
  }),
];
