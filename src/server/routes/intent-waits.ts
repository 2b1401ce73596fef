/** Intents that are waited for, a moment at a time: by whoever sent them, and by whoever they are for. */
import { z } from "zod";
import { checkRecipient } from "../../engine/intent/instance.ts";
import { nextFor } from "../../engine/intent/listen.ts";
import { holdForIntent } from "../../engine/intent/wait.ts";
import type { Audience } from "../events/audience.ts";
import { ok, route } from "../route.ts";
import { idParams, json } from "../wire.ts";
import { intentOnWire, intentSchema, speaker, speakerOf } from "./intents.ts";

const MOST_HELD_SECONDS = 25;
const held = z.coerce.number().min(0).max(MOST_HELD_SECONDS).default(0);

export function intentWaitRoutes({ holds }: Pick<Audience, "holds">) {
  return [
    route({
      method: "GET",
      path: "/api/intents/inbox",
      summary:
        "What is sent to an agent and nobody has acknowledged; waits for the next where there is nothing",
      description:
        "Oldest first, at most 100. What is answered here counts as delivered, and is answered again until it is acknowledged.",
      tag: "intents",
      scope: "intents:answer",
      query: z.strictObject({ agent: speaker, hold_seconds: held }),
      answers: { 200: z.object({ intents: z.array(intentSchema) }) },
      async handle(asked) {
        const { runtime, query, who } = asked;
        const agent = checkRecipient(speakerOf(who, query.agent, "agent"));
        const intents = await holds.during(asked, query.hold_seconds, (hold) =>
          nextFor(runtime, agent, hold),
        );
        return ok({ intents: intents.map(intentOnWire) });
      },
    }),
    route({
      method: "GET",
      path: "/api/intents/{id}/wait",
      summary: "What became of an intent; waits a moment for it",
      description: `At most ${MOST_HELD_SECONDS} seconds. \`timed_out_waiting\` says that it goes on: ask again.`,
      tag: "intents",
      scope: "intents:read",
      params: idParams,
      query: z.strictObject({ hold_seconds: held }),
      answers: {
        200: z.object({
          intent_id: z.string(),
          status: z.enum(["completed", "failed", "timed_out", "cancelled", "timed_out_waiting"]),
          data: json,
          reason: z.string().nullable(),
        }),
      },
      async handle(asked) {
        const { runtime, params, query } = asked;
        const waited = await holds.during(asked, query.hold_seconds, (hold) =>
          holdForIntent(runtime, params.id, hold),
        );
        const data = waited.status === "completed" ? waited.data : null;
        const reason = "reason" in waited ? waited.reason : null;
        return ok({ intent_id: waited.intent, status: waited.status, data, reason });
      },
    }),
  ];
}
