/** A process of the run as the supervisor sees it: what it reported, how it ended. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Go, Order, Report } from "./orders.ts";
import type { Setup } from "./setup.ts";

export type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null };
export type Death = Extract<Report, { kind: "died" }>;

export type Child = {
  readonly pid: number;
  readonly ready: Promise<void>;
  /** Resolves when it works; also when it ended before that. */
  readonly running: Promise<void>;
  readonly ended: Promise<Ended>;
  isAlive(): boolean;
  /** Where it said that it would die. */
  death(): Death | undefined;
  /** What it printed on standard error, the end of it. */
  said(): string;
  send(order: Go | Order): void;
  kill(): Promise<Ended>;
};

export function spawnChild(program: "worker" | "decider", setup: Setup): Child {
  const file = join(import.meta.dirname, `${program}.ts`);
  const flags = ["--disable-warning=ExperimentalWarning"];
  const child = spawn(process.execPath, [...flags, file, JSON.stringify(setup)], {
    env: { ...process.env, NODE_COMPILE_CACHE: join(setup.root, "compiled") },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ready = Promise.withResolvers<void>();
  const running = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<Ended>();
  let death: Death | undefined;
  let text = "";
  let isAlive = true;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const said = JSON.parse(line) as Report;
    if (said.kind === "died") death = said;
    else if (said.kind === "ready") ready.resolve();
    else running.resolve();
  });
  child.stderr.setEncoding("utf8").on("data", (part: string) => {
    text = (text + part).slice(-4_000);
  });
  child.stdin.on("error", () => undefined);
  child.once("close", (code, signal) => {
    isAlive = false;
    ready.resolve();
    running.resolve();
    ended.resolve({ code, signal });
  });
  return {
    pid: child.pid ?? -1,
    ready: ready.promise,
    running: running.promise,
    ended: ended.promise,
    isAlive: () => isAlive,
    death: () => death,
    said: () => text,
    send: (order) => void child.stdin.write(`${JSON.stringify(order)}\n`),
    kill() {
      child.kill("SIGKILL");
      return ended.promise;
    },
  };
}

/** The receiver: its port once it listens, and its end. */
export async function startEffectServer(
  log: string,
): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const file = join(import.meta.dirname, "effect-server.ts");
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", file, log], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", (line) =>
      resolve((JSON.parse(line) as { port: number }).port),
    );
    child.once("exit", () => reject(new Error("the effect server did not start")));
  });
  return {
    port,
    stop() {
      child.stdin.end();
      return gone;
    },
  };
}
