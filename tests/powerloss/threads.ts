/** Jobs side by side, on as many processors as there are. */
import { once } from "node:events";
import os from "node:os";
import { Worker } from "node:worker_threads";
import type { Job } from "./job.ts";
import type { Sight } from "./summary.ts";

/** Each holds the whole log of a workload. */
const MOST_THREADS = 4;

export type Done = (job: Job, sights: readonly Sight[]) => void;

export async function inThreads(jobs: readonly Job[], done: Done): Promise<void> {
  const queue = [...jobs];
  const count = Math.min(os.availableParallelism(), MOST_THREADS, jobs.length);
  await Promise.all(Array.from({ length: count }, () => work(queue, done)));
}

async function work(queue: Job[], done: Done): Promise<void> {
  const thread = new Worker(new URL("./thread.ts", import.meta.url));
  try {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      thread.postMessage(job);
      const [sights] = (await once(thread, "message")) as [readonly Sight[]];
      done(job, sights);
    }
  } finally {
    await thread.terminate();
  }
}
