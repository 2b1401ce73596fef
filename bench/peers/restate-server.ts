/**
 * One Restate node with all roles, on loopback. Its log syncs the write-ahead log before it acknowledges; that is its
 * default, said here once more and read back from the server's own answer to what it would run with.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { serverCommand } from "./restate-process.ts";

export type RestateServer = {
  readonly pid: number;
  readonly ingress: string;
  readonly admin: string;
  readonly durability: string;
  stop(): Promise<void>;
};

const PATIENCE_MS = 60_000;
const SYNCED = "rocksdb-disable-wal-fsync";

function executable(): string {
  const { resolve } = createRequire(import.meta.url);
  return resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`);
}

function freePorts(count: number): Promise<number[]> {
  const one = () =>
    new Promise<{ port: number; close: () => void }>((resolve, reject) => {
      const probe = createServer().once("error", reject);
      probe.listen(0, "127.0.0.1", () => {
        const address = probe.address();
        const port = typeof address === "object" && address !== null ? address.port : 0;
        resolve({ port, close: () => probe.close() });
      });
    });
  return Promise.all(Array.from({ length: count }, one)).then((probes) => {
    for (const { close } of probes) close();
    return probes.map(({ port }) => port);
  });
}

const configuration = (folder: string, partitions: number, [node, ingress, admin]: readonly number[]) => `
base-dir = "${join(folder, "restate-data")}"
node-name = "bench"
cluster-name = "bench"
listen-mode = "tcp"
default-num-partitions = ${partitions}
bind-address = "127.0.0.1:${node}"
advertised-address = "http://127.0.0.1:${node}/"
disable-telemetry = true
log-filter = "error,octocrab=off"

[ingress]
bind-address = "127.0.0.1:${ingress}"

[admin]
bind-address = "127.0.0.1:${admin}"
disable-web-ui = true

[log-server]
${SYNCED} = false

[bifrost.local]
rocksdb-disable-wal = false
${SYNCED} = false
`;

/** What the server says that it would run with. */
function readBack(program: string, file: string): string {
  const dumped = execFileSync(program, ["--config-file", file, "--dump-config"], { encoding: "utf8" });
  const [, logServer = ""] = dumped.split("[log-server]");
  const unsynced = /disable-wal(?:-fsync)? = true/.test(dumped) || !logServer.includes(`${SYNCED} = false`);
  if (unsynced) throw new Error("Restate's log would not be synced before it acknowledges");
  if (!/disable-telemetry = true/.test(dumped)) throw new Error("Restate's telemetry would be on");
  return `log-server ${SYNCED}=false`;
}

async function answers(child: ChildProcess, address: string): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  while (Date.now() < until) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`Restate's server ended with ${child.exitCode ?? child.signalCode}`);
    const ok = await fetch(address).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return;
    await sleep(100);
  }
  throw new Error(`Restate's server does not answer at ${address}`);
}

export async function startServer(folder: string, partitions: number): Promise<RestateServer> {
  const program = executable();
  const ports = await freePorts(3);
  const file = join(folder, "restate.toml");
  writeFileSync(file, configuration(folder, partitions, ports));
  const durability = readBack(program, file);
  const [command, args] = serverCommand(program, ["--config-file", file, "--no-logo"], folder);
  const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit"], cwd: folder });
  const [ingress, admin] = [`http://127.0.0.1:${ports[1]}`, `http://127.0.0.1:${ports[2]}`];
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    // Its orderly end takes seconds, and nothing of it is kept.
    child.kill("SIGKILL");
    await gone;
  };
  try {
    await answers(child, `${admin}/health`);
    await answers(child, `${ingress}/restate/health`);
    return { pid: child.pid ?? 0, ingress, admin, durability, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Tells the server where the service is. */
export async function register({ admin }: RestateServer, uri: string): Promise<void> {
  const response = await fetch(`${admin}/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri }),
  });
  if (!response.ok)
    throw new Error(`Restate refused the service: ${response.status} ${await response.text()}`);
}
