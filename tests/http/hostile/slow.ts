/** Sockets that send so slowly that they never end, beside clients that want an answer. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { openConnection } from "../../../bench/http/load.ts";
import { percentile } from "../../../bench/statistics.ts";
import { inLanes, type Target } from "./server-process.ts";

/** 95th percentiles of others, in milliseconds, and how many slow sockets were still there at the end. */
export type Slowed = { readonly alone: number; readonly beside: number; readonly sockets: number };

/** Others may take this many times as long beside slow sockets, and no longer. */
export const MOST_TIMES = 2;

export type Slow = {
  /** How many are not cut. */
  open(): number;
  /** Resolves when the server has cut all of them. */
  cut(): Promise<void>;
  end(): void;
};

const DRIP_MS = 250;
const CLIENTS = 4;

const HEAD = "POST /api/kill-switch/resume HTTP/1.1\r\nHost: localhost\r\n";
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

export async function openSlowSockets(target: Target, count: number): Promise<Slow> {
  const sockets: Socket[] = [];
  await inLanes(50, Array.from({ length: count }).keys(), async (number) => {
    sockets.push(await openSlow(target, number));
  });
  const left = () => sockets.filter((one) => !one.closed);
  return {
    open: () => left().length,
    cut: async () => void (await Promise.all(left().map((socket) => once(socket, "close")))),
    end() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** How long a change and its commit take, in milliseconds, each. All are answered, or it throws. */
export async function askedFor({ port, keys }: Target, count: number): Promise<readonly number[]> {
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
  return times;
}

const p95 = (times: readonly number[]): number => percentile([...times], 0.95);

async function round(target: Target, sockets: number, requests: number): Promise<Slowed> {
  const alone = p95(await askedFor(target, requests));
  const slow = await openSlowSockets(target, sockets);
  try {
    return { alone, beside: p95(await askedFor(target, requests)), sockets: slow.open() };
  } finally {
    slow.end();
  }
}

type Wanted = { readonly sockets: number; readonly requests: number; readonly rounds: number };

/** Alone and beside in turns, so that whatever else the machine does falls on both. */
export async function askBesideSlow(target: Target, wanted: Wanted): Promise<readonly Slowed[]> {
  const { sockets, requests, rounds } = wanted;
  await askedFor(target, requests);
  const slowed: Slowed[] = [];
  for (let n = 0; n < rounds; n++) slowed.push(await round(target, sockets, requests));
  return slowed;
}

/** How many times as long others took: of the middle round. */
export function timesOf(slowed: readonly Slowed[]): number {
  const ratios = slowed.map(({ alone, beside }) => beside / alone).sort((a, b) => a - b);
  return ratios[Math.floor(ratios.length / 2)] ?? Number.POSITIVE_INFINITY;
}

/** What is wrong with it. */
export function judgeSlowed(slowed: readonly Slowed[]): readonly string[] {
  const times = timesOf(slowed);
  return [
    ...(slowed.some(({ sockets }) => sockets === 0) ? ["no slow socket was left"] : []),
    ...(times <= MOST_TIMES
      ? []
      : [`others took ${times.toFixed(2)} times as long, more than ${MOST_TIMES}`]),
  ];
}
