import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { holdpoint } from "../../src/index.ts";
import { startPostgres } from "../fixtures/postgres-server.ts";
import { machine } from "../fixtures/runtime.ts";
import { raceAll } from "./race.ts";

const run = ({ n }: { readonly n: number }) => n;

test("two people decide at the same moment, a thousand times: one of them does (memory)", async () => {
  const computer = machine();
  const [one, two] = [computer.process(), computer.process({ agent: "other" })];
  await raceAll(one.gate({ name: "pay", run }), [one, two], 1_000);
  for (const hp of [one, two]) await hp.close();
});

function home(t: { after(end: () => unknown): void }): string {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-race-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function between(options: Parameters<typeof holdpoint>[0], count: number): Promise<void> {
  await using one = holdpoint({ ...options, agent: "a" });
  await using two = holdpoint({ ...options, agent: "b" });
  await raceAll(one.gate({ name: "pay", run }), [one, two], count);
}

test("two people decide at the same moment, a thousand times: one of them does (SQLite)", async (t) => {
  const folder = home(t);
  await between({ folder, keyFile: join(folder, "key.json"), notify: () => undefined }, 1_000);
});

test("two people decide at the same moment, two hundred times: one of them does (PostgreSQL)", async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  const keyFile = join(home(t), "key.json");
  await between({ database: server.url, keyFile, notify: () => undefined }, 200);
});
