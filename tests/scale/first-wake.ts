/** A fresh process on a store full of waiting workflows: one has been decided already, others are decided one by one. */
import { holdpoint } from "../../src/index.ts";
import { defineWaiting } from "./suspended.ts";

const [folder = "", wakes = "100"] = process.argv.slice(2);
const hp = holdpoint({ folder, mode: "existing", notify: () => undefined });
const bells = new Map<number, () => void>();
let ring: (() => void) | undefined;
const first = new Promise<void>((resolve) => {
  ring = resolve;
});
defineWaiting(hp, (number) => {
  ring?.();
  bells.get(number)?.();
});
const working = hp.work();
await first;
const firstWakeMs = performance.now();

const { items } = await hp.approvals.list({ limit: Number(wakes) });
const times: number[] = [];
for (const { id, args } of items) {
  const { amount } = JSON.parse(String(args)) as { amount: number };
  const woken = new Promise<void>((resolve) => bells.set(amount, resolve));
  const began = performance.now();
  await hp.approvals.approve(id, { by: "person:ann" });
  await woken;
  times.push(performance.now() - began);
}
times.sort((a, b) => a - b);
const at = (share: number): number => Number((times[Math.floor(times.length * share)] ?? 0).toFixed(1));
await hp.close();
await working;
process.stdout.write(
  JSON.stringify({
    firstWakeMs: Math.round(firstWakeMs),
    wakes: times.length,
    wakeP50Ms: at(0.5),
    wakeP99Ms: at(0.99),
    memoryMb: Math.round(process.resourceUsage().maxRSS / 1024),
  }),
);
