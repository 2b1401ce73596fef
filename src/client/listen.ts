/** Intents as they are handed over: what nobody has acknowledged comes again, after a break and after a while. */
import type { AnswerOf } from "./call-types.ts";
import type { Connection } from "./connection.ts";
import { sentEvents } from "./stream.ts";

export type HandedIntent = AnswerOf<"GET /api/intents/{id}"> & {
  /** How often it was handed over on this connection. */
  readonly times: number;
};

export type ListenQuery = {
  /** Only where the server authenticates nobody; otherwise it is whoever the credential is. */
  readonly agent?: string;
};

/** Ends when the signal aborts; throws what asking again would not change. */
export async function* listenForIntents(
  connection: Connection,
  { agent }: ListenQuery = {},
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<HandedIntent, void, undefined> {
  const query = agent === undefined ? "" : `?${new URLSearchParams({ agent })}`;
  for await (const { type, data } of sentEvents(connection, () => `/api/intents/stream${query}`, signal))
    if (type === "intent" && data !== "") yield JSON.parse(data) as HandedIntent;
}
