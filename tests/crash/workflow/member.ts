/** A process of the run as the supervisor sees it: what it reported, how it ended. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Setup } from "../setup.ts";
import type { Go, Report } from "./messages.ts";

export type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null };
export type Member = {
  readonly pid: number;
  readonly ready: Promise<void>;
  readonly running: Promise<void>;
  readonly ended: Promise<Ended>;
  /** Where it said that it would die. */
  death(): string | null;
  /** What it printed on standard error, the end of it. */
  said(): string;
  go(order: Go): void;
  kill(): Promise<Ended>;
};

export function spawnMember(
  program: "worker" | "decider",
  setup: Setup,
  hear: (report: Report) => void,
): Member {
  const file = join(import.meta.dirname, `${program}.ts`);
  const flags = ["--disable-warning=ExperimentalWarning"];
  const child = spawn(process.execPath, [...flags, file, JSON.stringify(setup)], {
    env: { ...process.env, NODE_COMPILE_CACHE: join(setup.root, "compiled") },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ready = Promise.withResolvers<void>();
  const running = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<Ended>();
  let death: string | null = null;
  let text = "";
  createInterface({ input: child.stdout }).on("line", (line) => {
    const said = JSON.parse(line) as Report;
    if (said.kind === "died") death = said.place;
    if (said.kind === "ready") ready.resolve();
    if (said.kind === "running") running.resolve();
    hear(said);
  });
  child.stderr.setEncoding("utf8").on("data", (part: string) => {
    text = (text + part).slice(-4_000);
  });
  child.stdin.on("error", () => undefined);
  child.once("close", (code, signal) => {
    ready.resolve();
    running.resolve();
    ended.resolve({ code, signal });
  });
  return {
    pid: child.pid ?? -1,
    ready: ready.promise,
    running: running.promise,
    ended: ended.promise,
    death: () => death,
    said: () => text,
    go: (order) => void child.stdin.write(`${JSON.stringify(order)}\n`),
    kill() {
      child.kill("SIGKILL");
      return ended.promise;
    },
  };
}
