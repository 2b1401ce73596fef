/** Guarded calls a second with so many worker processes on one PostgreSQL, and who used the processors meanwhile. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { startDatabase } from "./database.ts";

export type Throughput = {
  readonly workers: number;
  readonly callsPerSecond: number;
  /** Of all processors, in processors. */
  readonly workersCpu: number;
  readonly processors: number;
};

type Done = { readonly calls: number; readonly cpuMs: number };
const PROGRAM = join(import.meta.dirname, "calling.ts");

async function begin(database: string, seconds: number, number: number): Promise<ChildProcess> {
  const execArgv = ["--disable-warning=ExperimentalWarning"];
  const child = fork(PROGRAM, [database, String(seconds), `worker-${number}`], { execArgv });
  await once(child, "message");
  return child;
}

async function doneBy(child: ChildProcess): Promise<Done> {
  const said = once(child, "message");
  child.send("go");
  const [done] = (await said) as [Done];
  return done;
}

export async function measureThroughput(workers: number, seconds: number): Promise<Throughput> {
  const database = await startDatabase();
  try {
    const children: ChildProcess[] = [];
    for (let number = 0; number < workers; number++)
      children.push(await begin(database.url, seconds, number));
    const ends = children.map((child) => once(child, "exit"));
    const done = await Promise.all(children.map(doneBy));
    await Promise.all(ends);
    const sum = (field: keyof Done): number => done.reduce((all, one) => all + one[field], 0);
    return {
      workers,
      callsPerSecond: Math.round(sum("calls") / seconds),
      workersCpu: Number((sum("cpuMs") / 1_000 / seconds).toFixed(2)),
      processors: availableParallelism(),
    };
  } finally {
    await database.stop();
  }
}
