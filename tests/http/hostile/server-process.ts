/** The server as the tests see it: started, asked how it is, stopped or killed, and whether it died by itself. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Condition, Keys, Ready, Setup } from "./server.ts";

export type Target = {
  readonly port: number;
  readonly keys: Keys;
  readonly folder: string;
  condition(): Promise<Condition>;
  /** Another process on the same folder and port. */
  restart(how: "stop" | "kill"): Promise<void>;
  isAlive(): boolean;
  close(): Promise<void>;
};

const PROGRAM = join(import.meta.dirname, `server${import.meta.filename.slice(-3)}`);

async function launch(setup: Setup): Promise<{ child: ChildProcess; ready: Ready }> {
  const execArgv = ["--expose-gc", "--disable-warning=ExperimentalWarning"];
  const child = fork(PROGRAM, [JSON.stringify(setup)], { execArgv });
  const died = once(child, "exit").then(([code]) => {
    throw new Error(`the server ended with ${code} before it listened`);
  });
  died.catch(() => undefined);
  const [ready] = (await Promise.race([once(child, "message"), died])) as [Ready];
  return { child, ready };
}

async function end(child: ChildProcess, how: "stop" | "kill"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  if (how === "kill") child.kill("SIGKILL");
  else child.disconnect();
  await gone;
}

export async function startTarget(given: Pick<Setup, "rate" | "listeners"> = {}): Promise<Target> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-hostile-"));
  let { child, ready } = await launch({ ...given, folder, port: 0 });
  const { port, keys } = ready;
  return {
    port,
    keys,
    folder,
    async condition() {
      const answer = once(child, "message");
      child.send("how");
      const [condition] = (await answer) as [Condition];
      return condition;
    },
    async restart(how) {
      await end(child, how);
      ({ child, ready } = await launch({ ...given, folder, port }));
    },
    isAlive: () => child.exitCode === null && child.signalCode === null,
    async close() {
      await end(child, "stop");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** All of them, so many at a time. */
export async function inLanes<One>(
  width: number,
  all: Iterable<One>,
  act: (one: One) => Promise<void>,
): Promise<void> {
  const rest = all[Symbol.iterator]();
  const lane = async () => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) await act(next.value);
  };
  await Promise.all(Array.from({ length: width }, lane));
}
