/** One client process: lanes that ask both servers for all kinds of things until it is told to stop. */
import { openSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { createReceiver } from "../../crash/receiver.ts";
import { createRandom } from "../../simulator/random.ts";
import type { ClientSetup, Hand } from "./hand.ts";
import { askOnce, beginTrip, callOnce, decideAll, driveOnce, shipOnce } from "./lanes.ts";

const setup = JSON.parse(process.argv[2] ?? "{}") as ClientSetup;
const log = openSync(setup.log, "a");
let isOver = false;
let isGone = false;
let count = setup.first;

const handOf = (lane: number): Hand => ({
  setup,
  random: createRandom(BigInt(setup.seed) * 1_000n + BigInt(lane)),
  receiver: createReceiver(setup.receiver),
  isOver: () => isOver,
  say: (line) => void writeSync(log, `${JSON.stringify(line)}\n`),
  next: () => ++count,
});

const CALLS = ["once.pay", "keyed.post", "again.put", "probed.send", "bank.draw"];
const KINDS: readonly ((hand: Hand) => Promise<void>)[] = [
  (hand) => callOnce(hand, CALLS),
  shipOnce,
  (hand) => callOnce(hand, ["bank.draw"]),
  askOnce,
  driveOnce,
  (hand) => callOnce(hand, CALLS),
];

async function work(lane: number): Promise<void> {
  const hand = handOf(lane);
  const kind = KINDS[lane % KINDS.length];
  while (!isOver) {
    await kind?.(hand);
    await sleep(setup.pauseMs);
  }
}

async function travel(): Promise<void> {
  const hand = handOf(setup.lanes);
  while (!isOver) {
    await beginTrip(hand);
    await sleep(setup.pauseMs * 20);
  }
}

const lines = createInterface({ input: process.stdin });
lines.on("line", () => {
  isOver = true;
});
lines.on("close", () => {
  isOver = true;
  isGone = true;
});
const deciding = decideAll(handOf(setup.lanes + 1), () => isGone);
process.stdout.write("works\n");
await Promise.all([travel(), ...Array.from({ length: setup.lanes }, (_, lane) => work(lane))]);
process.stdout.write("stopped\n");
await deciding;
process.exit(0);
