/** A server that listens, until it is told to stop: requests under way end, then connections, then the store. */
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Clock } from "../kernel/clock.ts";
import { type AppParts, buildApp } from "./app.ts";
import { createQuestions } from "./guards/questions.ts";
import { isLoopback, type Settings } from "./settings.ts";
import type { Tenants } from "./tenants.ts";

export type ServerParts = Omit<AppParts, "hosts" | "questions" | "rate" | "tenants"> & {
  readonly tenants: Tenants;
  readonly settings: Settings;
  /** What keeps answering is told to end before connections are waited for. */
  readonly endStreams?: () => void;
};

export type Server = {
  readonly app: FastifyInstance;
  /** Where it listens, as people write it. */
  readonly url: string;
  readonly port: number;
  /** Once; again it is the same. */
  close(): Promise<void>;
};

const LOOK_MS = 50;

/** `close` alone waits for connections that have become idle, and cutting all of them cuts answers. */
async function closeListener(app: FastifyInstance, clock: Clock, graceMs: number): Promise<void> {
  let isClosed = false;
  const closing = app.close().finally(() => {
    isClosed = true;
  });
  for (let waited = 0; !isClosed && waited < graceMs; waited += LOOK_MS) {
    app.server.closeIdleConnections();
    await Promise.race([closing, clock.sleep(LOOK_MS)]);
  }
  app.server.closeAllConnections();
  await closing;
}

function urlOf(host: string, port: number): string {
  const name = isLoopback(host) && host !== "::1" ? host : host.replace(/^0\.0\.0\.0$/, "127.0.0.1");
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

export async function serve(parts: ServerParts): Promise<Server> {
  const { settings, tenants, clock } = parts;
  const { host, rate, burst, allowHost, graceSeconds } = settings;
  const hosts = { allowed: allowHost.map((name) => name.toLowerCase()) };
  const questions = createQuestions(settings.pending);
  const app = buildApp({ ...parts, hosts, questions, rate: { perSecond: rate, burst } });
  // biome-ignore lint/nursery/useAwaitThenable: it is a promise; the checker does not see so through its overloads.
  await app.listen({ host, port: settings.port });
  const { port } = app.server.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  const close = async () => {
    parts.endStreams?.();
    await closeListener(app, clock, graceSeconds * 1_000);
    await tenants.close();
  };
  return {
    app,
    url: urlOf(host, port),
    port,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}
