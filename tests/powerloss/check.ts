/** Opens an image as a machine would after the power came back, and looks for everything that had been acknowledged. */
import fs from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import { errorText } from "../../src/kernel/text.ts";
import { openSqliteStore } from "../../src/stores/sqlite/open.ts";
import { FOLDS } from "../../src/streams.ts";
import { movableClock, PROJECTIONS } from "../fixtures/runtime.ts";
import { chanceOf } from "./chance.ts";
import type { Files } from "./disk.ts";
import { type Program, startProgram, TENANT } from "./program.ts";
import { digestOf, writeFiles } from "./states.ts";
import type { Told } from "./workload.ts";

/** Later than anything that happened to it. */
const LATER = 90_000_000_000_000;

export type Found = {
  /** Of the image as it was opened; undefined when it cannot be opened. */
  readonly digest: string | undefined;
  readonly wrong: readonly string[];
};

export async function examine(files: Files, told: readonly Told[]): Promise<Found> {
  const folder = writeFiles(files);
  const wrong: string[] = [];
  let digest: string | undefined;
  try {
    const clock = movableClock(LATER);
    const random = chanceOf(files.size).bytes;
    const opened: DatabaseSync[] = [];
    const connected = (db: DatabaseSync) => {
      opened.push(db);
      digest = digestOf(db);
    };
    const store = await openSqliteStore({
      folder,
      folds: FOLDS,
      projections: PROJECTIONS,
      clock,
      random,
      mode: "existing",
      hooks: { connected },
    });
    const program = startProgram({ store, clock, random });
    for (const db of opened) wrong.push(...(await look(program, db, told)));
    await program.close();
  } catch (error) {
    wrong.push(`the image cannot be used: ${errorText(error)}`);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
  return { digest, wrong };
}

/** A part of the log's index as an earlier life may have left it: SQLite has to make it anew. */
export function withOldIndex(files: Files, bytes: Uint8Array): Files {
  return new Map([...files, ["journal.db-shm", bytes]]);
}

async function look(program: Program, db: DatabaseSync, told: readonly Told[]): Promise<string[]> {
  const wrong: string[] = [];
  // First of all, before recovery changes anything.
  const views = digestOf(db, "hp_view_%");
  await program.store.rebuildViews();
  if (digestOf(db, "hp_view_%") !== views) wrong.push("the views are not the fold of the journal");
  const sound = Object.values(db.prepare("PRAGMA integrity_check").get() ?? {})[0];
  if (sound !== "ok") wrong.push(`SQLite's check says ${String(sound)}`);
  const there = await Promise.all(told.map((one) => isThere(program, one)));
  for (const [index, one] of told.entries()) if (!there[index]) wrong.push(`lost: ${nameOf(one)}`);
  if (program.ran.times > 0) wrong.push(`${program.ran.times} effects were performed again`);
  const report = await program.journal.verify();
  for (const { what } of report.findings) wrong.push(`verify: ${what}`);
  const next = await program.tools.pay({ n: -1, size: 1 }, { requestId: "after the power came back" });
  if (next.status !== "done") wrong.push("a new call is not performed");
  return wrong;
}

function nameOf(one: Told): string {
  return one.kind === "answer" ? `the answer to "${one.call.requestId}"` : JSON.stringify(one, replaceBig);
}

const replaceBig = (_: string, value: unknown): unknown =>
  typeof value === "bigint" ? String(value) : value;

async function isThere(program: Program, one: Told): Promise<boolean> {
  try {
    return await isThereAsTold(program, one);
  } catch {
    return false;
  }
}

async function isThereAsTold(program: Program, one: Told): Promise<boolean> {
  switch (one.kind) {
    case "answer": {
      const { tool, args, requestId } = one.call;
      return isDeepStrictEqual(await program.tools[tool](args, { requestId, waitMs: 0 }), one.answer);
    }
    case "vote": {
      const { status, votes } = await program.approvals.get(one.approval);
      if (!one.approved) return status === "rejected";
      return votes.some(({ by }) => by === "person:ann");
    }
    case "limit": {
      const { items } = await program.budgets.list();
      return items.some(({ name, limit }) => name === "shared" && limit.micros >= one.micros);
    }
    case "secret":
      return (await program.runtime.secrets.resolve(one.handle)) === one.value;
    case "seal":
      return (await program.store.seals(TENANT, one.n - 1)).at(0)?.n === one.n;
  }
}
