/** `npm run fleet`: workers and servers on one PostgreSQL, under all that can happen to them, and one history checked. */
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { overLimit, quantiles } from "./figures/quantiles.ts";
import { measureSwitch } from "./figures/switch.ts";
import { measureTakeover } from "./figures/takeover.ts";
import { NEMESES, type Nemesis } from "./storm/plan.ts";
import { printed, summed } from "./storm/report.ts";
import { isSound, runStorm, type Storm } from "./storm/storm.ts";

const USAGE = `npm run fleet -- [--runs n] [--seconds n] [--seed n] [--nemeses ${NEMESES.join()}]

  Three workers and two servers on a PostgreSQL of their own, and clients that ask both servers for all kinds of things,
  while nodes are killed, frozen for longer than their lease, cut off from the database by a line that stalls, drops or
  breaks, while the database crashes, and with clocks up to ten minutes off. Then they are let alone, and what clients were
  told, what the journal says and what a receiver outside has seen have to be one history. How many were acknowledged a
  second is printed and not judged: it says as much about what else the machine does.

  --runs      12
  --seconds   60, of each run
  --seed      drawn unless set; each run has the next one
  --nemeses   all of them

npm run fleet -- --only takeover|switch [--trials n] [--seed n]

  takeover    workers are killed; how long until their workflows run elsewhere (50): p95 within the lease and 5 seconds
  switch      the kill switch is turned on four nodes, one of them frozen; how long until the last new effect (200): p99
              within a second
`;

const OPTIONS = {
  runs: { type: "string", default: "12" },
  seconds: { type: "string", default: "60" },
  seed: { type: "string" },
  nemeses: { type: "string", default: NEMESES.join() },
  only: { type: "string" },
  trials: { type: "string" },
  help: { type: "boolean" },
} as const;

type Wanted = {
  readonly runs: number;
  readonly seconds: number;
  readonly seed: number;
  readonly nemeses: readonly Nemesis[];
  readonly only: "takeover" | "switch" | null;
  readonly trials: number;
};

const isNemesis = (name: string): name is Nemesis => (NEMESES as readonly string[]).includes(name);
const TRIALS = { takeover: "50", switch: "200" } as const;

function onlyOf(name: string | undefined): Wanted["only"] | undefined {
  if (name === undefined) return null;
  return name === "takeover" || name === "switch" ? name : undefined;
}

function read(): Wanted | "help" | undefined {
  try {
    const { values } = parseArgs({ options: OPTIONS });
    if (values.help === true) return "help";
    const only = onlyOf(values.only);
    const seed = values.seed ?? String(randomBytes(3).readUIntBE(0, 3));
    const trials = values.trials ?? (only == null ? "1" : TRIALS[only]);
    const names = values.nemeses.split(",").filter((name) => name !== "");
    const given = [values.runs, values.seconds, seed, trials];
    if (only === undefined || !given.every((text) => /^\d{1,12}$/.test(text)) || !names.every(isNemesis))
      return undefined;
    const [runs = 0, seconds = 0, first = 0, many = 0] = given.map(Number);
    if (runs < 1 || seconds < 5 || many < 1) return undefined;
    return { runs, seconds, seed: first, nemeses: names.filter(isNemesis), only, trials: many };
  } catch {
    return undefined;
  }
}

async function storms({ runs, seconds, seed, nemeses }: Wanted): Promise<boolean> {
  const all: Storm[] = [];
  for (let run = 0; run < runs; run++) {
    const storm = await runStorm({ seed: seed + run, seconds, nemeses });
    console.log(printed(storm));
    all.push(storm);
  }
  console.log(summed(all));
  const idle = all.filter(({ applications }) => applications === 0);
  // That nothing was wrong means something only where something was done.
  for (const { options } of idle) console.log(`WRONG no effect was applied with seed ${options.seed}`);
  return idle.length === 0 && all.every(isSound);
}

async function takeovers({ trials, seed }: Wanted): Promise<boolean> {
  const { ms, leaseMs, wrong: found } = await measureTakeover(trials, seed, (line) => console.log(line));
  const wrong = [...found, ...overLimit(ms, 0.95, leaseMs + 5_000)];
  console.log(`${trials} workers killed, ${ms.length} workflows run elsewhere, lease ${leaseMs} ms`);
  console.log(`from the kill to the first sign of life: ${quantiles(ms)}`);
  for (const what of wrong) console.log(`WRONG ${what}`);
  return wrong.length === 0;
}

async function switches({ trials, seed }: Wanted): Promise<boolean> {
  const { arrived, started, effects, wrong: found } = await measureSwitch(trials, seed);
  const wrong = [...found, ...overLimit(started, 0.99, 1_000)];
  console.log(`${trials} times the kill switch on four nodes, one of them frozen; ${effects} effects in all`);
  console.log(`from its acknowledgement to the last effect that started: ${quantiles(started)}`);
  console.log(`from its acknowledgement to the last that arrived outside: ${quantiles(arrived)}`);
  for (const what of wrong) console.log(`WRONG ${what}`);
  return wrong.length === 0;
}

const wanted = read();
if (wanted === "help" || wanted === undefined) {
  process.stderr.write(USAGE);
  process.exit(wanted === "help" ? 0 : 2);
}
console.log(`seed ${wanted.seed}`);
const MEASURES = { takeover: takeovers, switch: switches } as const;
const run = wanted.only === null ? storms : MEASURES[wanted.only];
process.exitCode = (await run(wanted)) ? 0 : 1;
