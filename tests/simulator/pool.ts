/** Spreads seeds over threads. What comes back is added up, so the order in which threads finish does not matter. */
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { PLANTED } from "./planted.ts";
import { plant, readSources, type Sources } from "./planted-bug.ts";
import type { Chunk, ChunkResult, Failure, SeedJournal, WorkerInput } from "./worker.ts";
import { FLOWS_EVERY } from "./workflow-scenario.ts";

export type Totals = {
  seeds: number;
  entries: number;
  steps: number;
  readonly counters: Map<string, number>;
  readonly failures: Failure[];
};

const CHUNK = 10;

let sources: Sources | undefined;

/** The sources as they are on the disk, read once. */
export function programSources(): Sources {
  sources ??= readSources(fileURLToPath(new URL("../../", import.meta.url)));
  return sources;
}

function start(planted: Sources | null): Worker {
  const input: WorkerInput = { planted };
  return new Worker(new URL("./worker.ts", import.meta.url), {
    workerData: input,
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
}

function ask(worker: Worker, chunk: Chunk): Promise<ChunkResult> {
  return new Promise((resolve, reject) => {
    worker.once("error", reject);
    worker.once("message", (result: ChunkResult) => {
      worker.off("error", reject);
      resolve(result);
    });
    worker.postMessage(chunk);
  });
}

function add(totals: Totals, result: ChunkResult): void {
  totals.seeds += result.seeds;
  totals.entries += result.entries;
  totals.steps += result.steps;
  totals.failures.push(...result.failures);
  for (const [name, times] of result.counters)
    totals.counters.set(name, (totals.counters.get(name) ?? 0) + times);
}

type Work = {
  readonly from: bigint;
  readonly seeds: number;
  readonly threads: number;
  /** Called with the journal of each seed, in no order. */
  readonly onJournal?: (journal: SeedJournal) => void;
};

export async function runSeeds(
  { from, seeds, threads, onJournal }: Work,
  progress: (done: number) => void,
): Promise<Totals> {
  const totals: Totals = { seeds: 0, entries: 0, steps: 0, counters: new Map(), failures: [] };
  let next = 0;
  const work = async () => {
    const worker = start(null);
    while (next < seeds) {
      const first = next;
      const count = Math.min(CHUNK, seeds - first);
      next += count;
      const chunk = { from: from + BigInt(first), count, step: 1, stopAtFirst: false };
      const result = await ask(worker, { ...chunk, withJournals: onJournal !== undefined });
      add(totals, result);
      for (const journal of result.journals) onJournal?.(journal);
      progress(totals.seeds);
    }
    await worker.terminate();
  };
  await Promise.all(Array.from({ length: threads }, work));
  totals.failures.sort((a, b) => (a.seed < b.seed ? -1 : 1));
  return totals;
}

export type Hunt = { readonly name: string; readonly seeds: number; readonly found: Failure | undefined };

/**
 * Runs seeds from 1 on (those with workflows, for a bug in workflows), until one of them shows the planted bug.
 * `trail` is the seed that showed it before: it is run first, and the hunt starts at 1 only if it shows nothing.
 */
export async function hunt(name: string, most: number, trail?: bigint): Promise<Hunt> {
  const planted = PLANTED.find((bug) => bug.name === name);
  if (planted === undefined) throw new Error(`There is no planted bug "${name}".`);
  const worker = start(plant(planted, programSources()));
  try {
    const step = planted.inFlows ? FLOWS_EVERY : 1;
    const look = (from: bigint, count: number) => ask(worker, { from, count, step, stopAtFirst: true });
    const [before] = trail === undefined ? [] : (await look(trail, 1)).failures;
    if (before !== undefined) return { name, seeds: 1, found: before };
    const { seeds, failures } = await look(1n, most);
    return { name, seeds, found: failures[0] };
  } finally {
    await worker.terminate();
  }
}

export async function huntAll(
  names: readonly string[],
  most: number,
  tell: (hunt: Hunt) => void,
): Promise<readonly Hunt[]> {
  const hunts = new Map<string, Hunt>();
  const queue = [...names];
  const work = async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      const result = await hunt(name, most);
      hunts.set(name, result);
      tell(result);
    }
  };
  await Promise.all([work(), work()]);
  return names.flatMap((name) => hunts.get(name) ?? []);
}
