/** Real nodes on a real database, each a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type PostgresServer, startPostgres } from "../fixtures/postgres-server.ts";
import { until } from "../fixtures/until.ts";

const HERE = import.meta.dirname;
const CLI = join(HERE, "../../bin/holdpoint.mjs");

export type Node = {
  readonly process: ChildProcess;
  readonly pid: number;
  /** What it has logged so far. */
  said(): string;
  signal(name: NodeJS.Signals): void;
  /** Answers its exit code, or the signal that ended it. */
  ended(): Promise<number | string>;
};

export type Fleet = {
  readonly server: PostgresServer;
  readonly folder: string;
  readonly keyFile: string;
  /** Resolves when it has said that it works. */
  worker(definitions?: string): Promise<Node>;
  start(file: string, ...args: readonly string[]): Node;
};

function nodeOf(child: ChildProcess): Node {
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
  const gone = once(child, "exit").then(([code, signal]) => (code ?? signal) as number | string);
  return {
    process: child,
    pid: child.pid ?? 0,
    said: () => text,
    signal: (name) => void child.kill(name),
    ended: () => gone,
  };
}

/** Everything that a test has started is ended with it. */
export async function openFleet(context: Pick<TestContext, "after">): Promise<Fleet> {
  const server = await startPostgres();
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-fleet-"));
  const nodes: Node[] = [];
  context.after(async () => {
    for (const node of nodes) node.signal("SIGKILL");
    await Promise.all(nodes.map((node) => node.ended()));
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const keyFile = join(folder, "key.json");
  const env = { ...process.env, HOLDPOINT_LEASE_SECONDS: "2", HOLDPOINT_KEY_FILE: keyFile };
  const start = (file: string, ...args: readonly string[]): Node => {
    const child = spawn(process.execPath, [file, ...args], { cwd: folder, env, stdio: "pipe" });
    const node = nodeOf(child);
    nodes.push(node);
    return node;
  };
  return {
    server,
    folder,
    keyFile,
    start,
    async worker(definitions = join(HERE, "definitions.ts")) {
      const node = start(CLI, "worker", "--database", server.url, "--definitions", definitions);
      await until(() => (node.said().includes("works on") ? true : undefined), `a worker: ${node.said()}`);
      return node;
    },
  };
}
