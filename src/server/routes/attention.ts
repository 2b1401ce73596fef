/** What wants somebody now, in figures. */
import { z } from "zod";
import { HoldpointError } from "../../core/errors.ts";
import { route } from "../route.ts";
import { timeSchema } from "../wire.ts";

const count = z.number().int().min(0);

export const attentionRoutes = [
  route({
    method: "GET",
    path: "/api/attention",
    summary: "What wants somebody now: approvals, those that whoever asks may decide, doubts, alerts",
    tag: "approvals",
    scope: "approvals:read",
    answers: {
      200: z.object({
        pending: count,
        mine: count.meta({ description: "of those, the ones that whoever asks may decide, and has not" }),
        is_all: z
          .boolean()
          .meta({ description: "false where so many wait that `mine` is of the oldest only" }),
        oldest_at: timeSchema.nullable().meta({ description: "since when the oldest of `mine` waits" }),
        next_deadline: timeSchema.nullable().meta({ description: "the first one of `mine`" }),
        in_doubt: count,
        alerts: count,
        dead_messages: count,
        is_empty: z.boolean().meta({ description: "nobody has ever asked for anything here" }),
      }),
    },
    handle: async () => {
      throw new HoldpointError("unknown_route", "This is not there yet.");
    },
  }),
];
