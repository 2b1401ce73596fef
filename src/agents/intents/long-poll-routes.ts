/**
 * HTTP routes that wait for intents: long polls of the sender and of the recipient, and the recipient's stream.
 * - A stream delivers unacknowledged intents, oldest first, and repeats them until they are acknowledged: a client that
 *   reconnects misses nothing and needs no cursor.
 * - A client that does not read is not written to, and is disconnected after a while.
 */
import type { ServerResponse } from "node:http";
import { z } from "zod";
import {
  type EventAudience,
  endStream,
  type JournalListener,
  RETRY_MS,
  waitForDrain,
  whenClosed,
} from "../../api/events/listeners.ts";
import { ok, route } from "../../api/route.ts";
import { idParams, json } from "../../api/wire.ts";
import { viewCodec } from "../../kernel/codec.ts";
import { speakerOnWire } from "../../kernel/values.ts";
import { actingSpeaker } from "../identify-agent.ts";
import { intent } from "./contract.ts";
import { deliverIntentsTo, type IntentDelivery, longPollIntent, nextIntentsFor } from "./delivery.ts";
import { checkRecipient } from "./verbs.ts";

const { wire: intentWire, encode: encodeIntent } = viewCodec(intent);

const MOST_HELD_SECONDS = 25;
const held = z.coerce.number().min(0).max(MOST_HELD_SECONDS).default(0);

export function intentWaitRoutes({ holds }: Pick<EventAudience, "holds">) {
  return [
    route({
      method: "GET",
      path: "/api/intents/inbox",
      summary: "Unacknowledged intents of an agent; waits if there are none",
      description:
        "Oldest first, at most 100. What is answered here counts as delivered, and is answered again until it is acknowledged.",
      tag: "intents",
      scope: "intents:answer",
      query: z.strictObject({ agent: speakerOnWire, hold_seconds: held }),
      answers: { 200: z.object({ intents: z.array(intentWire) }) },
      async handle(asked) {
        const { runtime, query, who } = asked;
        const agent = checkRecipient(actingSpeaker(who, query.agent, "agent"));
        const intents = await holds.during(asked, query.hold_seconds, (hold) =>
          nextIntentsFor(runtime, agent, hold),
        );
        return ok({ intents: intents.map(encodeIntent) });
      },
    }),
    route({
      method: "GET",
      path: "/api/intents/{id}/wait",
      summary: "Status of an intent; waits for a change",
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
          longPollIntent(runtime, params.id, hold),
        );
        const data = waited.status === "completed" ? waited.data : null;
        const reason = "reason" in waited ? waited.reason : null;
        return ok({ intent_id: waited.intent, status: waited.status, data, reason });
      },
    }),
  ];
}

type IntentStreamParts = {
  readonly response: ServerResponse;
  /** Intents due for delivery, until the signal aborts. */
  readonly deliveries: (signal: AbortSignal) => AsyncIterable<IntentDelivery>;
  readonly onWire: (delivery: IntentDelivery) => unknown;
};

const intentFrame = (id: string, data: unknown): string =>
  `id: ${id}\nevent: intent\ndata: ${JSON.stringify(data)}\n\n`;

function streamIntentsTo({ response, deliveries, onWire }: IntentStreamParts): JournalListener {
  const over = new AbortController();
  const isOver = () => response.destroyed || response.writableEnded;
  const gone = whenClosed(response).then(() => over.abort());

  async function hand(): Promise<void> {
    for await (const delivery of deliveries(over.signal)) {
      if (isOver()) return;
      response.write(intentFrame(delivery.intent.id, onWire(delivery)));
      if (response.writableNeedDrain) await waitForDrain(response);
    }
  }

  function end(): void {
    over.abort();
    endStream(response);
  }

  response.write(`retry: ${RETRY_MS}\nevent: ready\ndata: {}\n\n`);
  hand().then(end, () => response.destroy());
  return {
    gone,
    beat() {
      if (!isOver()) response.write(":\n\n");
    },
    end,
    cut: () => void response.destroy(),
  };
}

export function intentStreamRoutes(audience: EventAudience) {
  return [
    route({
      method: "GET",
      path: "/api/intents/stream",
      summary: "What is sent to an agent, as it comes, and again until it is acknowledged",
      description:
        "Server-sent events of the type `intent`; the id is the intent's. A client that connects again gets what is not acknowledged yet.",
      tag: "intents",
      scope: "intents:answer",
      query: z.strictObject({ agent: speakerOnWire }),
      answers: { 200: "text/event-stream" },
      async handle({ who, office, query, whoNow }) {
        const agent = checkRecipient(actingSpeaker(who, query.agent, "agent"));
        const takeOver = audience.admit({
          office,
          credential: who.credential,
          stillKnown: async () => (await whoNow())?.can("intents:answer") === true,
          listen: (response) =>
            streamIntentsTo({
              response,
              deliveries: (signal) => deliverIntentsTo(office.runtime, agent, signal),
              onWire: ({ intent, times }) => ({ ...encodeIntent(intent), times }),
            }),
        });
        return { status: 200, takeOver };
      },
    }),
  ];
}
