/** Sockets that send so slowly that they never end, beside clients that want an answer. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { openConnection } from "../../../bench/http/load.ts";
import { percentile } from "../../../bench/statistics.ts";
import { inLanes, type Target } from "./server-process.ts";

export type Slowed = { readonly alone: number; readonly beside: number; readonly sockets: number };

const DRIP_MS = 250;
const CLIENTS = 4;

const HEAD = "POST /api/kill-switch/release HTTP/1.1\r\nHost: localhost\r\n";
/** Headers that drip, a body that drips, and connections that were used once and are kept. */
const KINDS: readonly ((key: string) => { readonly first: string; readonly drip: string })[] = [
  () => ({ first: HEAD, drip: "X: y\r\n" }),
  (key) => ({
    first: `${HEAD}Authorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 90000\r\n\r\n{`,
    drip: " ",
  }),
  () => ({ first: "GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n", drip: "" }),
];

async function openSlow({ port, keys }: Target, number: number): Promise<Socket> {
  const { first, drip } = (KINDS[number % KINDS.length] as (typeof KINDS)[number])(keys.ann);
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.resume();
  await once(socket, "connect");
  socket.write(first);
  const timer = setInterval(() => drip !== "" && socket.writable && socket.write(drip), DRIP_MS);
  socket.on("close", () => clearInterval(timer));
  return socket;
}

/** The 95th percentile of how long a change and its commit take, in milliseconds. */
async function askedFor({ port, keys }: Target, count: number): Promise<number> {
  const times: number[] = [];
  const numbers = Array.from({ length: count / CLIENTS }, (_, n) => n);
  const clients = Array.from({ length: CLIENTS }, (_, n) => n);
  await inLanes(CLIENTS, clients, async () => {
    const connection = await openConnection(port, `Authorization: Bearer ${keys.agent}\r\n`);
    for (const n of numbers) {
      const began = performance.now();
      const { status, body } = await connection.post("/api/actions", `{"tool":"ship","args":{"n":${n}}}`);
      if (status !== 200) throw new Error(`answered ${status}: ${body}`);
      times.push(performance.now() - began);
    }
    connection.close();
  });
  return percentile(times, 0.95);
}

export async function askBesideSlow(target: Target, sockets: number, requests: number): Promise<Slowed> {
  await askedFor(target, requests);
  const alone = await askedFor(target, requests);
  const slow: Socket[] = [];
  await inLanes(50, Array.from({ length: sockets }).keys(), async (number) => {
    slow.push(await openSlow(target, number));
  });
  try {
    return {
      alone,
      beside: await askedFor(target, requests),
      sockets: slow.filter((one) => !one.closed).length,
    };
  } finally {
    for (const socket of slow) socket.destroy();
  }
}
