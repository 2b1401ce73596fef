/** Restate: one node of its server on its own storage, and this process as the service that it calls over HTTP/2. */
import { createServer, type Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { type Context, createEndpointHandler, service } from "@restatedev/restate-sdk";
import { connect } from "@restatedev/restate-sdk-clients";
import { inSequences, type Load, type OpenSystem, PAYLOAD, STEPS, timed } from "../system.ts";
import { register, startServer } from "./restate-server.ts";

async function listen(server: Http2Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Its default is meant for a cluster. On one small machine fewer do far more, so that is measured beside it. */
const PARTITIONS: Readonly<Record<string, number>> = { "2-partitions": 2 };
const DEFAULT_PARTITIONS = 24;

export const open: OpenSystem = async ({ folder, variant }) => {
  let load: Load | undefined;
  const sequences = service({
    name: "sequences",
    handlers: {
      steps: async (context: Context): Promise<null> => {
        for (let n = 0; n < STEPS && load?.isOver() === false; n++)
          await timed(load, () => context.run("step", () => PAYLOAD));
        return null;
      },
    },
  });
  const endpoint = createServer(createEndpointHandler({ services: [sequences] }));
  const port = await listen(endpoint);
  const server = await startServer(folder, PARTITIONS[variant ?? ""] ?? DEFAULT_PARTITIONS);
  await register(server, `http://127.0.0.1:${port}`);
  const client = connect({ url: server.ingress }).serviceClient(sequences);
  // Its partitions are led by somebody only a while after it answers; outside a window this is a workflow of no steps.
  await client.steps();
  return {
    servers: [server.pid],
    durability: server.durability,
    run: async (given) => {
      load = given;
      await inSequences(given, async () => void (await client.steps()));
    },
    close: async () => {
      await server.stop();
      endpoint.close();
    },
  };
};
