/** What was asked, decided and done, by day. */
import { z } from "zod";
import { HoldpointError } from "../../core/errors.ts";
import { route } from "../route.ts";
import { timeSchema } from "../wire.ts";

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
  ...done,
});

const share = z.object({ name: z.string(), actions: count, asked: count, ...decided, ...done });

export const activityRoutes = [
  route({
    method: "GET",
    path: "/api/activity",
    summary: "What was asked, decided and done, by day, tool, agent and person",
    tag: "approvals",
    scope: "approvals:read",
    query: z.strictObject({ days: z.coerce.number().int().min(1).max(366).default(30) }),
    answers: {
      200: z.object({
        since: timeSchema.meta({
          description: "later than was asked for where there was more than is counted",
        }),
        until: timeSchema,
        is_all: z.boolean(),
        days: z.array(day).meta({ description: "every day, oldest first, those without anything too" }),
        tools: z.array(share),
        agents: z.array(share),
        people: z.array(
          z.object({
            person: z.string(),
            decided: count,
            rejected: count,
            p50_seconds: z.number().nullable().meta({ description: "from the question to their decision" }),
            hasty: count.meta({ description: "decided within three seconds of the question" }),
          }),
        ),
        now: z.object({ pending: count, in_doubt: count, oldest_pending_at: timeSchema.nullable() }),
      }),
    },
    handle: async () => {
      throw new HoldpointError("unknown_route", "This is not there yet.");
    },
  }),
];
