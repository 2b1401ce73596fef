/**
 * One connection on which an agent is handed its intents.
 *
 * H1. What nobody has acknowledged is handed over, oldest first, and again until somebody does: whoever comes back after a
 *     break misses nothing, and needs no place to go on from.
 * H2. One that does not read is not written to: it is waited for, and cut off after a while.
 */
import type { ServerResponse } from "node:http";
import type { IntentDelivery } from "../../engine/intent/listen.ts";
import { drained, type Listener, RETRY_MS } from "./listener.ts";

type Parts = {
  readonly response: ServerResponse;
  /** Intents as they are to be handed over, until the signal. */
  readonly deliveries: (signal: AbortSignal) => AsyncIterable<IntentDelivery>;
  readonly onWire: (delivery: IntentDelivery) => unknown;
};

const frameOf = (id: string, data: unknown): string =>
  `id: ${id}\nevent: intent\ndata: ${JSON.stringify(data)}\n\n`;

export function listenForIntents({ response, deliveries, onWire }: Parts): Listener {
  const over = new AbortController();
  const isOver = () => response.destroyed || response.writableEnded;
  const gone = new Promise<void>((resolve) => {
    const left = () => {
      over.abort();
      resolve();
    };
    if (response.destroyed || response.closed) left();
    else response.once("close", left);
  });

  async function hand(): Promise<void> {
    for await (const delivery of deliveries(over.signal)) {
      if (isOver()) return;
      response.write(frameOf(delivery.intent.id, onWire(delivery)));
      if (response.writableNeedDrain) await drained(response);
    }
  }

  function end(): void {
    over.abort();
    if (!isOver()) response.end(`retry: ${RETRY_MS}\nevent: closing\ndata: {}\n\n`);
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
