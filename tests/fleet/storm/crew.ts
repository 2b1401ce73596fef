/** The nodes of a fleet as processes: each with a line of its own to the database and a clock of its own, restarted when they end. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../deploy/free-port.ts";
import { type NodeName, SERVERS } from "./plan.ts";
import { type DatabaseLine, startProxy } from "./proxy.ts";

const HERE = import.meta.dirname;
const CLI = join(HERE, "../../../bin/holdpoint.mjs");
const PRELOAD = join(HERE, "other-clock.ts");
/** Nodes start often, and all load the same sources. */
const COMPILED = join(HERE, "../../../node_modules/.cache/node");
const AGAIN_MS = 200;

export type Place = {
  readonly folder: string;
  readonly postgres: number;
  readonly receiver: number;
  readonly leaseSeconds: number;
  /** What nodes declare, and whatever else they are told. */
  readonly definitions: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Called when a node has ended that nobody had told to. */
  fell(node: string, how: string): void;
};

export type Member = {
  readonly name: string;
  readonly proxy: DatabaseLine;
  /** Of a server; null of a worker. */
  readonly url: string | null;
  pid(): number;
  /** Starts it, and again whenever it ends. Resolves when it has said that it works. */
  start(): Promise<void>;
  kill(downMs: number): Promise<void>;
  signal(name: NodeJS.Signals): void;
  setClock(offsetMs: number): void;
  stop(): Promise<void>;
};

const isServer = (name: string): boolean => (SERVERS as readonly string[]).includes(name);

type Life = {
  child: ChildProcess;
  isReady: boolean;
  readonly ready: Promise<void>;
  readonly gone: Promise<void>;
};

function begin(name: string, place: Place, args: readonly string[], clock: string): Life {
  const { folder, receiver, leaseSeconds } = place;
  const env = {
    ...process.env,
    HOLDPOINT_LEASE_SECONDS: String(leaseSeconds),
    HOLDPOINT_KEY_FILE: join(folder, "key.json"),
    HOLDPOINT_LOG: isServer(name) ? "off" : "json",
    FLEET_RECEIVER: String(receiver),
    FLEET_CLOCK: clock,
    NODE_EXTRA_CA_CERTS: "",
    NODE_COMPILE_CACHE: COMPILED,
    FLEET_NODE: name,
    ...place.env,
  };
  const child = spawn(process.execPath, ["--import", PRELOAD, CLI, ...args], { cwd: folder, env });
  const log = createWriteStream(join(folder, `${name}.log`), { flags: "a" });
  const ready = Promise.withResolvers<void>();
  const life: Life = {
    child,
    isReady: false,
    ready: ready.promise,
    gone: once(child, "exit").then(() => undefined),
  };
  child.stderr.pipe(log);
  child.stdout.on("data", (chunk: Buffer) => {
    log.write(chunk);
    if (!/listens on|works on/.test(chunk.toString())) return;
    life.isReady = true;
    ready.resolve();
  });
  return life;
}

export async function createMember(name: NodeName | `worker-${number}`, place: Place): Promise<Member> {
  const proxy = await startProxy(place.postgres);
  const port = isServer(name) ? await freePort() : null;
  const clock = join(place.folder, `${name}.clock`);
  const database = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`;
  const shared = ["--database", database, "--definitions", place.definitions];
  const args = port === null ? ["worker", ...shared] : ["serve", "--port", String(port), ...shared];
  let life: Life | undefined;
  let isWanted = false;
  let meant: Life | undefined;

  function live(): Promise<void> {
    const mine = begin(name, place, args, clock);
    life = mine;
    void mine.gone.then(async () => {
      if (meant === mine || !isWanted) return;
      const { exitCode, signalCode } = mine.child;
      place.fell(name, `${mine.isReady ? "at work" : "while it started"}: ${exitCode ?? signalCode}`);
      await sleep(AGAIN_MS);
      if (isWanted && life === mine) await live();
    });
    return mine.ready;
  }
  async function end(): Promise<void> {
    const mine = life;
    if (mine === undefined) return;
    meant = mine;
    mine.child.kill("SIGKILL");
    if (mine.child.exitCode === null && mine.child.signalCode === null) await mine.gone;
  }
  return {
    name,
    proxy,
    url: port === null ? null : `http://127.0.0.1:${port}`,
    pid: () => life?.child.pid ?? 0,
    start() {
      isWanted = true;
      return live();
    },
    async kill(downMs) {
      await end();
      await sleep(downMs);
      if (isWanted) void live();
    },
    signal: (signal) => void life?.child.kill(signal),
    setClock: (offsetMs) => writeFileSync(clock, String(offsetMs)),
    async stop() {
      isWanted = false;
      await end();
      proxy.close();
    },
  };
}
