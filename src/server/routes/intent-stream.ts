/** Intents handed to the agent that they are for, as they come. */
import { z } from "zod";
import { checkRecipient } from "../../engine/intent/instance.ts";
import { listenFor } from "../../engine/intent/listen.ts";
import type { Audience } from "../events/audience.ts";
import { listenForIntents } from "../events/intent-listener.ts";
import { route } from "../route.ts";
import { intentOnWire, speaker, speakerOf } from "./intents.ts";

export function intentStreamRoutes(audience: Audience) {
  return [
    route({
      method: "GET",
      path: "/api/intents/stream",
      summary: "What is sent to an agent, as it comes, and again until it is acknowledged",
      description:
        "Server-sent events of the type `intent`; the id is the intent's. Whoever comes back is handed what was not acknowledged.",
      tag: "intents",
      scope: "intents:answer",
      query: z.strictObject({ agent: speaker }),
      answers: { 200: "text/event-stream" },
      async handle({ who, office, query, whoNow }) {
        const agent = checkRecipient(speakerOf(who, query.agent, "agent"));
        const takeOver = audience.admit({
          office,
          credential: who.credential,
          stillKnown: async () => (await whoNow())?.can("intents:answer") === true,
          listen: (response) =>
            listenForIntents({
              response,
              deliveries: (signal) => listenFor(office.runtime, agent, signal),
              onWire: ({ intent, times }) => ({ ...intentOnWire(intent), times }),
            }),
        });
        return { status: 200, takeOver };
      },
    }),
  ];
}
