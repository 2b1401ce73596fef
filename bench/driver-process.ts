/** A driver as the run sees it. */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import type { Order, Reply, Setup } from "./driver.ts";
import type { Window } from "./recorder.ts";

export type Driver = {
  readonly durability: string;
  measure(order: Order): Promise<Window>;
  close(): Promise<void>;
};

const START_MS = 90_000;
/** Beyond its window; a system that hangs must not hold up the others for ever. */
const PATIENCE_MS = 60_000;
const CLOSING_MS = 10_000;
const SAID_CHARACTERS = 2_000;

/** Nothing of the user's may lead a system elsewhere. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:HOLDPOINT|DBOS|RESTATE|PG|OTEL)_?|^NODE_EXTRA_CA_CERTS$/.test(name),
  );
  return { ...Object.fromEntries(kept), NODE_ENV: "production", DO_NOT_TRACK: "1", RESTATE_LOGGING: "ERROR" };
}

/** What it printed last: shown only when it fails. */
function listen(child: ChildProcess): () => string {
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (part: string) => {
      said = (said + part).slice(-SAID_CHARACTERS);
    });
  return () => said.trim();
}

function nextReply(child: ChildProcess, said: () => string, withinMs: number): Promise<Reply> {
  const { promise, resolve } = Promise.withResolvers<Reply>();
  const fail = (what: string) =>
    resolve({ kind: "failed", reason: [what, said()].filter(Boolean).join("\n") });
  const timer = setTimeout(fail, withinMs, `no answer within ${withinMs / 1_000} s`);
  const onExit = (code: number | null, signal: string | null) =>
    fail(`its process ended with ${code ?? signal}`);
  child.once("message", (reply) => resolve(reply as Reply));
  child.once("exit", onExit);
  return promise.finally(() => {
    clearTimeout(timer);
    child.removeAllListeners("message");
    child.off("exit", onExit);
  });
}

async function close(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  const timer = setTimeout(() => child.kill("SIGKILL"), CLOSING_MS);
  if (child.connected) child.disconnect();
  await gone;
  clearTimeout(timer);
}

export async function startDriver(setup: Setup): Promise<Driver> {
  const child = fork(join(import.meta.dirname, "driver.ts"), [JSON.stringify(setup)], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: environment(),
  });
  const said = listen(child);
  const first = await nextReply(child, said, START_MS);
  if (first.kind !== "ready") {
    await close(child);
    throw new Error(first.kind === "failed" ? first.reason : "it answered before it was asked");
  }
  return {
    durability: first.durability,
    measure: async (order) => {
      if (!child.connected) throw new Error("its process has ended");
      const answered = nextReply(child, said, order.runUpMs + order.windowMs + PATIENCE_MS);
      child.send(order);
      const reply = await answered;
      if (reply.kind === "window") return reply.window;
      throw new Error(reply.kind === "failed" ? reply.reason : "it answered something else");
    },
    close: () => close(child),
  };
}
