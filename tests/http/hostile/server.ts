/**
 * A server in a process of its own, that says how it is when it is asked: how long its event loop stood still at most, and
 * how much memory is in use once garbage is collected. `node --expose-gc server.ts <json>`; it ends with its parent.
 */
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { readSettings } from "../../../src/api/settings.ts";
import type { Holdpoint } from "../../../src/index.ts";
import { startServer } from "../../../src/serve.ts";
import { addPerson, issueApiKey } from "../../fixtures/people.ts";

export type Setup = {
  readonly folder: string;
  readonly port: number;
  readonly rate?: number;
  readonly listeners?: number;
};
/** API keys of two people who may do everything, and of an agent. */
export type Keys = { readonly ann: string; readonly bob: string; readonly agent: string };
export type Ready = { readonly port: number; readonly keys: Keys };
export type Condition = { readonly stillMs: number; readonly heapMb: number };

const MEGABYTE = 1_048_576;
const NANOSECONDS = 1e6;
/** A name that no request is made with by chance: one that suspends her would end her part in it. */
const by = "person:amy";
const ALL = ["admin", "supervisor", "verifier", "executor", "poster"] as const;

function define(hp: Holdpoint): void {
  hp.remote.tool({ name: "ask", policy: { verdict: "escalate", decideWithinMs: 3_600_000 } });
  hp.remote.tool({ name: "ship", policy: "approve" });
  hp.gate({ name: "pay", policy: "escalate", run: () => "paid" });
  hp.workflow("flow", async (ctx) => ctx.checkpoint("look", { outputs: { done: true } }));
}

async function keysOf(server: Awaited<ReturnType<typeof startServer>>): Promise<Keys> {
  const { runtime } = await server.office();
  const key = async (principal: string, roles: readonly (typeof ALL)[number][]) => {
    const ofProgram = principal.startsWith("agent:") ? { roles } : {};
    return (await issueApiKey(runtime, { principal, name: "hostile", ...ofProgram, by })).text;
  };
  for (const person of [by, "person:bob"])
    await addPerson(runtime, { person, roles: ALL, by }).catch(() => undefined);
  return { ann: await key(by, []), bob: await key("person:bob", []), agent: await key("agent:far", ALL) };
}

const setup = JSON.parse(process.argv[2] ?? "") as Setup;
const settings = readSettings({ flags: new Map(), environment: () => undefined });
const { rate = 1_000_000, listeners = 1_000_000 } = setup;
const server = await startServer({
  settings: {
    ...settings,
    ...{ data: join(setup.folder, "data"), port: setup.port, rate, burst: rate, listeners, pending: rate },
  },
  version: "hostile",
  log: () => undefined,
  keyFile: join(setup.folder, "key.json"),
  define,
});
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();

process.on("message", () => {
  globalThis.gc?.();
  const condition: Condition = {
    stillMs: delay.max / NANOSECONDS,
    heapMb: process.memoryUsage().heapUsed / MEGABYTE,
  };
  process.send?.(condition);
  // The collection itself stands still, and is not the requests' doing.
  setTimeout(() => delay.reset(), 0);
});
process.on("disconnect", async () => {
  await server.close();
  process.exit(0);
});
process.send?.({ port: server.port, keys: await keysOf(server) } satisfies Ready);
