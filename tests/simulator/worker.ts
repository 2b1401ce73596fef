/** Runs seeds in a thread of its own; a planted bug is in the files that the thread loads. */
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import type { Sources } from "./planted-bug.ts";
import type { WrittenEntry } from "./run-seed.ts";

/** The files to load in place of those on the disk, by path; null: no bug is planted. */
export type WorkerInput = { readonly planted: Sources | null };
export type Chunk = {
  readonly from: bigint;
  readonly count: number;
  /** From one seed to the next. */
  readonly step: number;
  readonly stopAtFirst: boolean;
  /** Answers the journal of each seed too. */
  readonly withJournals?: boolean;
};
export type SeedJournal = { readonly seed: bigint; readonly entries: readonly WrittenEntry[] };
export type Failure = { readonly seed: bigint; readonly invariant: string; readonly what: string };
export type ChunkResult = {
  readonly seeds: number;
  readonly entries: number;
  readonly steps: number;
  readonly counters: readonly (readonly [string, number])[];
  readonly failures: readonly Failure[];
  readonly journals: readonly SeedJournal[];
};

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

function loadInstead(planted: Sources): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.startsWith("file:")) return loaded;
      const source = planted.get(fileURLToPath(url).slice(ROOT.length));
      return source === undefined ? loaded : { ...loaded, source };
    },
  });
}

const { planted } = workerData as WorkerInput;
if (planted !== null) loadInstead(planted);
const { runSeed } = await import("./run-seed.ts");

let rejected: unknown;
process.on("unhandledRejection", (error) => {
  rejected ??= error;
});

type ChunkTotals = {
  entries: number;
  steps: number;
  readonly counters: Map<string, number>;
  /** Null where nobody asked for journals. */
  readonly journals: SeedJournal[] | null;
};

async function runOne(seed: bigint, totals: ChunkTotals): Promise<Failure | undefined> {
  rejected = undefined;
  try {
    const result = await runSeed(seed);
    totals.journals?.push({ seed, entries: result.journal });
    totals.entries += result.entries;
    totals.steps += result.steps;
    for (const [name, times] of result.counters)
      totals.counters.set(name, (totals.counters.get(name) ?? 0) + times);
    const [first] = result.violations;
    if (first !== undefined) return { seed, invariant: first.invariant, what: first.what };
  } catch (error) {
    return { seed, invariant: "simulator", what: String((error as Error).stack) };
  }
  if (rejected === undefined) return undefined;
  return { seed, invariant: "unhandled rejection", what: String((rejected as Error).stack) };
}

parentPort?.on("message", async ({ from, count, step, stopAtFirst, withJournals }: Chunk) => {
  const journals = withJournals === true ? [] : null;
  const totals: ChunkTotals = { entries: 0, steps: 0, counters: new Map(), journals };
  const failures: Failure[] = [];
  let seeds = 0;
  for (let seed = from; seeds < count; seed += BigInt(step)) {
    seeds++;
    const failure = await runOne(seed, totals);
    if (failure === undefined) continue;
    failures.push(failure);
    if (stopAtFirst) break;
  }
  const counters = [...totals.counters];
  const result: ChunkResult = { ...totals, seeds, counters, failures, journals: journals ?? [] };
  parentPort?.postMessage(result);
});
