/** One run: starts what is needed, measures in turn, stops everything again. */
import { mkdirSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Pace } from "./arguments.ts";
import { type Case, driverOf, nameOf, PEERS } from "./cases.ts";
import { type Driver, startDriver } from "./driver-process.ts";
import { type Measurement, measurementOf } from "./measurement.ts";
import { type Databases, startDatabases } from "./postgres.ts";
import { interleave } from "./rounds.ts";

export type Outcome = { readonly figures: readonly Measurement[]; readonly failures: number };
type Say = (line: string) => void;
export type Watch = { readonly say: Say; readonly signal: AbortSignal };

const TMPFS = 0x01021994;
const MODULES: Readonly<Record<string, string>> = {
  "raw sqlite": "./systems/raw-sqlite.ts",
  "raw postgres": "./systems/raw-postgres.ts",
  openworkflow: "./peers/openworkflow.ts",
  dbos: "./peers/dbos.ts",
  restate: "./peers/restate.ts",
  cedar: "./peers/cedar.ts",
};

function moduleOf({ bench, system, store }: Case): string {
  if (bench === "decision-to-effect") return "./systems/decision.ts";
  if (bench === "http-propose") return system === "raw" ? "./http/bare.ts" : "./http/holdpoint.ts";
  const name = PEERS.has(system) ? system : `${system} ${store}`;
  return MODULES[name] ?? `./systems/${bench}.ts`;
}

/** In memory a sync costs nothing, and every figure would be wrong. */
function makeFolder(): string {
  if (statfsSync(tmpdir()).type === TMPFS)
    throw new Error(`${tmpdir()} is in memory; set TMPDIR to a folder on a disk.`);
  return mkdtempSync(join(tmpdir(), "holdpoint-bench-"));
}

type Started = { readonly drivers: ReadonlyMap<string, Driver>; readonly failures: number };
type Site = { readonly root: string; readonly databases: Databases | undefined };

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function startOne(name: string, one: Case, { root, databases }: Site): Promise<Driver> {
  const { bench, store, variant } = one;
  const folder = join(root, name.replaceAll(" ", "-"));
  mkdirSync(folder);
  const database = store === "postgres" ? await databases?.create(name.replaceAll(/\W/g, "_")) : undefined;
  const place = { bench, store, variant, folder, database: database ?? null };
  return startDriver({ module: moduleOf(one), place });
}

async function startDrivers(cases: readonly Case[], site: Site, say: Say): Promise<Started> {
  const drivers = new Map<string, Driver>();
  let failures = 0;
  const firsts = new Map(cases.toReversed().map((one) => [driverOf(one), one]));
  const starting = [...firsts].map(async ([name, one]) => {
    try {
      const driver = await startOne(name, one, site);
      drivers.set(name, driver);
      say(`started ${name} (${driver.durability})`);
    } catch (error) {
      failures++;
      say(`${name} cannot start and is left out: ${textOf(error)}`);
    }
  });
  await Promise.all(starting);
  return { drivers, failures };
}

async function measureAll(
  cases: readonly Case[],
  { drivers, failures }: Started,
  pace: Pace,
  { say, signal }: Watch,
): Promise<Outcome> {
  let failed = failures;
  const { warmUpMs, runUpMs, windowMs } = pace;
  const results = await interleave({
    cases: cases.filter((one) => drivers.has(driverOf(one))),
    rounds: pace.rounds,
    measure: async (one, round) => {
      signal.throwIfAborted();
      const { inFlight, variant } = one;
      const driver = drivers.get(driverOf(one)) as Driver;
      const order = { inFlight, variant, windowMs, runUpMs: round === 0 ? warmUpMs : runUpMs };
      const window = await driver.measure(order);
      say(`${round + 1}/${pace.rounds} ${nameOf(one)}: ${Math.round(window.perSecond)} a second`);
      return window;
    },
    failed: (one, error) => {
      failed++;
      if (!signal.aborted) say(`${nameOf(one)} failed and is left out: ${textOf(error)}`);
    },
  });
  return { figures: [...results].map(([one, windows]) => measurementOf(one, windows)), failures: failed };
}

export async function run(cases: readonly Case[], pace: Pace, watch: Watch): Promise<Outcome> {
  const { say, signal } = watch;
  const root = makeFolder();
  let databases: Databases | undefined;
  let started: Started | undefined;
  const closeAll = () => Promise.all([...(started?.drivers.values() ?? [])].map((driver) => driver.close()));
  signal.addEventListener("abort", closeAll);
  try {
    if (cases.some(({ store }) => store === "postgres")) {
      databases = await startDatabases();
      say(`started PostgreSQL (${databases.durability})`);
    }
    started = await startDrivers(cases, { root, databases }, say);
    return await measureAll(cases, started, pace, watch);
  } finally {
    await closeAll();
    await databases?.stop();
    rmSync(root, { recursive: true, force: true });
  }
}
