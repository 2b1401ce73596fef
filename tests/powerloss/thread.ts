/** A thread of `threads.ts`: does the jobs that it is sent, one after the other. */
import { parentPort } from "node:worker_threads";
import { doJob, type Job } from "./job.ts";

parentPort?.on("message", (job: Job) => {
  // What fails here ends the thread, and whoever waits for it hears of it.
  void doJob(job).then((sights) => parentPort?.postMessage(sights));
});
