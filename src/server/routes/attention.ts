/** What wants somebody now, in figures. */
import { z } from "zod";
import { attentionOf } from "../../approvals/lists.ts";
import type { Scope } from "../../core/scopes.ts";
import { ok, route } from "../route.ts";
import { timeOrNull, timeSchema } from "../wire.ts";

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
        looked_at: count.meta({ description: "of those that wait longest, so many were looked at" }),
        is_all: z
          .boolean()
          .meta({ description: "false where more wait: `mine` is then at least so many, and may be 0" }),
        oldest_at: timeSchema.nullable().meta({ description: "since when the oldest of `mine` waits" }),
        next_deadline: timeSchema.nullable().meta({ description: "the first one of `mine`" }),
        in_doubt: count.meta({ description: "0 for whoever may not read actions" }),
        alerts: count.meta({ description: "those that stand; 0 for whoever may not read alerts" }),
        dead_messages: count.meta({ description: "0 for whoever may not read endpoints" }),
        stopped: count.meta({
          description: "agents, services and workflows that are stopped; 0 for whoever may not read switches",
        }),
        is_empty: z.boolean().meta({ description: "nobody has ever asked for anything here" }),
      }),
    },
    async handle({ runtime, who }) {
      const found = await attentionOf(runtime, who.principal);
      const seen = (scope: Scope, figure: number) => (who.can(scope) ? figure : 0);
      return ok({
        pending: found.pending,
        mine: found.mine,
        looked_at: found.lookedAt,
        is_all: found.isAll,
        oldest_at: timeOrNull(found.oldestAt),
        next_deadline: timeOrNull(found.nextDeadline),
        in_doubt: seen("actions:read", found.inDoubt),
        alerts: seen("alerts:read", found.alerts),
        dead_messages: seen("endpoints:read", found.deadMessages),
        stopped: seen("switch:read", found.stopped),
        is_empty: found.isEmpty,
      });
    },
  }),
];
