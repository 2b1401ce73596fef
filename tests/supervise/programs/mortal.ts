/** An agent that dies with -9 where it is told to: at a point of the engine, the so-many-th time it comes by. */
import { appendFileSync } from "node:fs";
import { z } from "zod";
import { holdpoint } from "../../../src/index.ts";

export type MortalInput = {
  readonly folder: string;
  readonly keyFile: string;
  readonly world: string;
  readonly death: { readonly point: string; readonly time: number } | null;
};

const { folder, keyFile, world, death } = JSON.parse(process.argv[2] ?? "{}") as MortalInput;
let times = 0;

function reach(point: string): Promise<void> | undefined {
  if (point !== death?.point || ++times < death.time) return undefined;
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => undefined);
}

const hp = holdpoint({ folder, keyFile, agent: "mortal", notify: () => undefined, reach });
const write = (line: string): void => appendFileSync(world, `${line}\n`);
const pay = hp.gate({
  name: "pay",
  policy: "escalate",
  input: z.object({ amount: z.number() }),
  cost: () => ({ budget: "b", amount: { currency: "USD", micros: 10n } }),
  run: ({ amount }, { idempotencyKey }) => {
    write(`paid ${amount} ${idempotencyKey}`);
    return { status: "ok" };
  },
});

/** Never the same twice: what was recorded of it is what counts. */
const amount = Math.floor(Math.random() * 1e9);
const result = await hp.supervise({
  id: "run",
  goal: "Pay once.",
  tools: [pay as never],
  model: {
    id: "fickle",
    async propose({ prompt }) {
      const { state_summary: state } = JSON.parse(prompt) as { state_summary: { steps_completed: number } };
      const call = { kind: "tool", name: "pay", args: { amount } };
      const final = { kind: "final", answer: `paid, says ${amount}` };
      write("asked");
      return { text: JSON.stringify(state.steps_completed === 0 ? call : final) };
    },
  },
});
process.stdout.write(JSON.stringify(result));
await hp.close();
