/** For tests of the SQLite store: folders that vanish after the test, and real second processes. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";
import { openSqliteStore, type SqliteOptions } from "../stores/sqlite/open.ts";
import type { Store } from "../stores/store.ts";
import { FOLDS, PROJECTIONS, randomOf, START } from "./store-contract/bench.ts";

export type SqliteBench = {
  readonly folder: string;
  readonly file: string;
  open(options?: Partial<SqliteOptions>): Promise<Store>;
  /** Runs module code in another process; `store`, `count`, `TENANT` and `say(line)` are at hand. */
  spawn(code: string): Promise<Child>;
};

export type Child = {
  readonly process: ChildProcess;
  /** Resolves with the next line the child says. */
  heard(): Promise<string>;
  kill(signal?: NodeJS.Signals): Promise<void>;
};

export function sqliteBench(context: TestContext): SqliteBench {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "holdpoint-sqlite-"));
  const stores: Store[] = [];
  const children: Child[] = [];
  context.after(async () => {
    for (const child of children) await child.kill();
    for (const store of stores) await store.close();
    fs.rmSync(folder, { recursive: true });
  });
  return {
    folder,
    file: path.join(folder, "journal.db"),
    async open(options = {}) {
      const clock = { now: () => START };
      const store = await openSqliteStore({
        folder,
        folds: FOLDS,
        projections: PROJECTIONS,
        clock,
        random: randomOf(3),
        ...options,
      });
      stores.push(store);
      return store;
    },
    async spawn(code) {
      const child = startChild(folder, code);
      children.push(child);
      return child;
    },
  };
}

const PRELUDE = `
import { randomBytes } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { openSqliteStore } from ${JSON.stringify(sibling("../stores/sqlite/open"))};
import { count, FOLDS, PROJECTIONS, TENANT } from ${JSON.stringify(sibling("./store-contract/bench"))};
const folder = process.argv[1];
const say = (line) => process.stdout.write(line + "\\n");
const open = () => openSqliteStore({ folder, folds: FOLDS, projections: PROJECTIONS, clock: Date, random: randomBytes });
`;

function sibling(name: string): string {
  return new URL(`${name}${path.extname(import.meta.filename)}`, import.meta.url).href;
}

function startChild(folder: string, code: string): Child {
  const flags = [
    "--disable-warning=ExperimentalWarning",
    "--input-type=module",
    "--eval",
    PRELUDE + code,
    folder,
  ];
  const child = spawn(process.execPath, flags, { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createLines(child);
  return {
    process: child,
    heard: lines,
    async kill(signal = "SIGKILL") {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill(signal);
      await ended;
    },
  };
}

function createLines(child: ChildProcess): () => Promise<string> {
  const heard: string[] = [];
  const wanted: ((line: string) => void)[] = [];
  let rest = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) (wanted.shift() ?? ((late: string) => heard.push(late)))(line);
  });
  return () => {
    const line = heard.shift();
    return line === undefined ? new Promise((resolve) => wanted.push(resolve)) : Promise.resolve(line);
  };
}
