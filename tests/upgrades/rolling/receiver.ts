/** The world outside: counts what arrives, and knows nothing of Holdpoint. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type Receiver = {
  readonly url: string;
  /** How often each parcel came. */
  readonly came: ReadonlyMap<string, number>;
  close(): Promise<void>;
};

export async function startReceiver(): Promise<Receiver> {
  const came = new Map<string, number>();
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const { n, part } = JSON.parse(text) as { readonly n: number; readonly part: string };
    const parcel = `${n} ${part}`;
    came.set(parcel, (came.get(parcel) ?? 0) + 1);
    response.end("ok");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    came,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
