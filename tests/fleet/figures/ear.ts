/** Hears what nodes say while they are measured: who runs which workflow, and when effects arrive. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type Ear = {
  readonly port: number;
  /** The process that was last heard to run a workflow. */
  runnerOf(name: string): number | undefined;
  /** Resolves with the moment at which another process than this is heard. */
  heardFromAnother(name: string, pid: number): Promise<number>;
  /** When each effect arrived. */
  readonly ticks: { readonly effect: string; readonly node: string; readonly at: number }[];
  /** Steps end from now on. */
  end(): void;
  close(): void;
};

type Waiting = { readonly name: string; readonly pid: number; resolve(at: number): void };

export async function openEar(): Promise<Ear> {
  const runners = new Map<string, number>();
  const waiting = new Set<Waiting>();
  const ticks: Ear["ticks"] = [];
  let isOver = false;
  const beat = (name: string, pid: number) => {
    runners.set(name, pid);
    for (const one of waiting)
      if (one.name === name && one.pid !== pid) {
        waiting.delete(one);
        one.resolve(performance.now());
      }
  };
  const server = createServer((request, response) => {
    const [, kind, first = "", second = ""] = (request.url ?? "").split("/");
    if (kind === "beat") beat(first, Number(second));
    else ticks.push({ effect: first, node: second, at: Date.now() });
    response.end(isOver ? "end" : "on");
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    runnerOf: (name) => runners.get(name),
    heardFromAnother: (name, pid) =>
      new Promise((resolve) => {
        waiting.add({ name, pid, resolve });
      }),
    ticks,
    end() {
      isOver = true;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
