/** A webhook's receiver on this machine: keeps what it got, and answers as it is told. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

export type Got = {
  readonly id: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly payload: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: Record<string, unknown>;
  };
};

export type Receiver = {
  readonly url: string;
  readonly port: number;
  readonly got: Got[];
  /** What the next requests are answered with; a promise holds them. */
  answer: (got: Got) => number | Promise<number>;
  /** More headers of the next answers. */
  headers: Readonly<Record<string, string>>;
  /** Resolves when there are so many. */
  reached(count: number): Promise<readonly Got[]>;
  stop(): Promise<void>;
};

export async function startReceiver(context: Pick<TestContext, "after">, port = 0): Promise<Receiver> {
  const got: Got[] = [];
  const waiters = new Set<() => void>();
  const server: Server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (part: string) => {
      body += part;
    });
    request.on("end", async () => {
      const { headers, url: path = "" } = request;
      const one: Got = { id: String(headers["webhook-id"]), path, headers, body, payload: JSON.parse(body) };
      got.push(one);
      for (const wake of waiters) wake();
      const status = await receiver.answer(one);
      response.writeHead(
        status,
        status >= 300 && status < 400 ? { location: `${receiver.url}elsewhere` } : receiver.headers,
      );
      response.end("answered ".repeat(1_000));
    });
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const own = (server.address() as AddressInfo).port;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${own}/`,
    port: own,
    got,
    answer: () => 204,
    headers: {},
    reached: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (got.length < count) return;
          waiters.delete(look);
          resolve(got);
        };
        waiters.add(look);
        look();
      }),
    async stop() {
      server.closeAllConnections();
      if (server.listening) await new Promise((done) => server.close(done));
    },
  };
  context.after(() => receiver.stop());
  return receiver;
}
