/** `npm run soak`: steady load for a long time, to see whether memory grows. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createLoad, decide, type Load } from "./load.ts";
import { type Sample, sampleMemory, slopeOf } from "./memory.ts";
import { openPlace, type Place, STORES, type StoreName } from "./place.ts";

const HELP = `npm run soak -- [--minutes <n>] [--store sqlite|postgres] [--in-flight <n>] [--rate <n>]

Calls gated tools of every kind at a steady rate while another instance decides, and looks at the memory that is in use
after garbage was collected. It may grow by less than 1 MB in 10 minutes once everything has warmed up.

  --minutes <n>    how long (30); under 10 the slope says nothing
  --store <name>   sqlite, or a PostgreSQL server that is started for it (sqlite)
  --in-flight <n>  calls at the same time, at most (16)
  --rate <n>       calls a second, at most (200)
`;

export type SoakOptions = {
  readonly minutes: number;
  readonly store: StoreName;
  readonly inFlight: number;
  readonly rate: number;
};

export type Soaked = {
  readonly calls: number;
  readonly perSecond: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly decided: number;
  readonly samples: readonly Sample[];
  /** Megabytes in ten minutes, after the warm-up. */
  readonly slopes: { readonly heap: number; readonly external: number; readonly rss: number };
  readonly unhandled: readonly string[];
  readonly failures: readonly string[];
  /** Between samples; the longest that the event loop stood still, and in how many intervals over 200 ms. */
  readonly stalls: { readonly longestMs: number; readonly over200: number };
  readonly storeMb: number | null;
};

const EVERY_MS = 10_000;
const STALL_MS = 200;
const MOST_MB = 1;
/** Shorter than this, one large value more or less is the slope. */
const LEAST_MINUTES = 10;
const LONGEST_WARM_UP = 5;

const warmUpOf = (minutes: number): number => Math.min(LONGEST_WARM_UP, minutes / 3);

export async function soak(options: SoakOptions, watch: (sample: Sample) => void): Promise<Soaked> {
  const unhandled: string[] = [];
  const note = (error: unknown) => void unhandled.push(String(error));
  process.on("unhandledRejection", note).on("uncaughtException", note);
  const place = await openPlace(options.store);
  try {
    return await soakIn(place, options, { watch, unhandled });
  } finally {
    await place.close();
    process.off("unhandledRejection", note).off("uncaughtException", note);
  }
}

type Watching = { watch(sample: Sample): void; readonly unhandled: readonly string[] };

async function soakIn(place: Place, options: SoakOptions, { watch, unhandled }: Watching): Promise<Soaked> {
  await place.caller.budgets.limit("shared", { currency: "USD", micros: 1_000_000_000_000n });
  const load = createLoad(place.caller);
  const [calling, deciding] = [new AbortController(), new AbortController()];
  const began = performance.now();
  const decided = decide(place.decider, deciding.signal);
  const ran = load.run(options.rate, options.inFlight, calling.signal);
  const { samples, stalls } = await watchMemory(load, options.minutes, watch);
  calling.abort();
  await ran;
  const seconds = (performance.now() - began) / 1_000;
  deciding.abort();
  const steady = samples.filter((sample) => sample.seconds >= warmUpOf(options.minutes) * 60);
  const calls = [...load.counts.values()].reduce((sum, count) => sum + count, 0);
  return {
    calls,
    perSecond: Math.round(calls / seconds),
    counts: Object.fromEntries(load.counts),
    decided: await decided,
    samples,
    slopes: {
      heap: slopeOf(steady, ({ heapMb }) => heapMb),
      external: slopeOf(steady, ({ externalMb }) => externalMb),
      rss: slopeOf(steady, ({ rssMb }) => rssMb),
    },
    unhandled,
    failures: place.failures.map((notice) => JSON.stringify(notice)),
    stalls,
    storeMb: place.sizeMb(),
  };
}

async function watchMemory(load: Load, minutes: number, watch: (sample: Sample) => void) {
  const began = performance.now();
  const samples: Sample[] = [];
  const loop = monitorEventLoopDelay({ resolution: 10 });
  let longestMs = 0;
  let over200 = 0;
  loop.enable();
  while (performance.now() - began < minutes * 60_000) {
    await sleep(EVERY_MS);
    // Collecting all garbage at once is our own stall, and is not counted.
    const stalledMs = loop.max / 1e6;
    longestMs = Math.max(longestMs, stalledMs);
    if (stalledMs > STALL_MS) over200++;
    await load.pause(async () => {
      const sample = await sampleMemory((performance.now() - began) / 1_000);
      samples.push(sample);
      watch(sample);
    });
    loop.reset();
  }
  loop.disable();
  return { samples, stalls: { longestMs: Math.round(longestMs), over200 } };
}

const inMb = (value: number): string => `${value.toFixed(1)} MB`;

function show(sample: Sample): void {
  const { seconds, heapMb, externalMb, rssMb } = sample;
  process.stderr.write(
    `${Math.round(seconds)} s  heap ${inMb(heapMb)}  external ${inMb(externalMb)}  rss ${inMb(rssMb)}\n`,
  );
}

export function verdictOf({ slopes, unhandled, failures }: Soaked, minutes: number): readonly string[] {
  const grows = minutes >= LEAST_MINUTES && !(slopes.heap + slopes.external < MOST_MB);
  return [
    ...(grows ? [`memory grows by ${inMb(slopes.heap + slopes.external)} in 10 minutes`] : []),
    ...(unhandled.length > 0 ? [`${unhandled.length} errors were handled by nobody: ${unhandled[0]}`] : []),
    ...(failures.length > 0 ? [`${failures.length} failures of upkeep: ${failures[0]}`] : []),
  ];
}

function report(soaked: Soaked, { minutes }: SoakOptions): readonly string[] {
  const { slopes, stalls } = soaked;
  const first = soaked.samples.find((sample) => sample.seconds >= warmUpOf(minutes) * 60);
  const last = soaked.samples.at(-1);
  const signed = (value: number) => `${value < 0 ? "" : "+"}${value.toFixed(2)} MB in 10 min`;
  return [
    ...Object.entries(soaked.counts).map(([what, count]) => `  ${what.padEnd(24)} ${count}`),
    `${soaked.calls} calls, ${soaked.perSecond} a second, ${soaked.decided} decisions, store ${soaked.storeMb ?? "?"} MB`,
    `after ${warmUpOf(minutes).toFixed(1)} min of warm-up: heap ${inMb(first?.heapMb ?? 0)} → ${inMb(last?.heapMb ?? 0)}`,
    `slopes: heap ${signed(slopes.heap)}, external ${signed(slopes.external)}, rss ${signed(slopes.rss)}`,
    `event loop: longest stall ${stalls.longestMs} ms, ${stalls.over200} intervals of 10 s with one over ${STALL_MS} ms`,
    `unhandled errors: ${soaked.unhandled.length}`,
    ...(minutes < LEAST_MINUTES ? [`in ${minutes} min a slope says nothing; it was not judged`] : []),
  ];
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "30" },
      store: { type: "string", default: "sqlite" },
      "in-flight": { type: "string", default: "16" },
      rate: { type: "string", default: "200" },
      help: { type: "boolean" },
    },
  });
  const numbers = [values.minutes, values["in-flight"], values.rate];
  const store = STORES.find((name) => name === values.store);
  if (values.help === true || store === undefined || !numbers.every((text) => /^[1-9]\d{0,4}$/.test(text))) {
    process.stderr.write(HELP);
    process.exit(values.help === true ? 0 : 2);
  }
  const [minutes = 0, inFlight = 0, rate = 0] = numbers.map(Number);
  const options = { minutes, store, inFlight, rate };
  const soaked = await soak(options, show);
  for (const line of report(soaked, options)) console.log(line);
  const wrong = verdictOf(soaked, minutes);
  for (const line of wrong) console.log(`WRONG: ${line}`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
}
