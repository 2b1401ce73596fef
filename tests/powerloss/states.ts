/** What the database held after each commit, in one text: what an image has to be equal to. */
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { cutAt } from "./cut.ts";
import type { Disk, Files } from "./disk.ts";
import { wholeImage } from "./image.ts";

export type States = {
  /** How many states had been acknowledged when so many operations had happened. */
  acknowledged(at: number): number;
  /** Which state this is: the last acknowledged, the one under way, or one before; undefined when it is none of them. */
  find(digest: string, acknowledged: number): number | undefined;
};

/** State 0 is what was there at the start, 1 the store just opened, and then one for every commit. */
export function statesOf(disk: Disk): States {
  const opened = disk.log.findIndex((op) => op.kind === "mark" && op.mark === "opened");
  const commits = disk.log.flatMap((op, index) =>
    index > opened && op.kind === "mark" && op.mark === "commit_returned" ? [index + 1] : [],
  );
  const places = [0, opened + 1, ...commits];
  const digests = new Map<number, string>();
  const digestAt = (state: number): string => {
    const known = digests.get(state) ?? digestOfFiles(wholeImage(cutAt(disk, places[state] ?? 0)));
    digests.set(state, known);
    return known;
  };
  return {
    acknowledged: (at) => places.findLastIndex((place) => place <= at),
    find(digest, acknowledged) {
      const earlier = Array.from({ length: acknowledged }, (_, index) => acknowledged - 1 - index);
      const likely = [acknowledged, acknowledged + 1].filter((state) => state < places.length);
      return [...likely, ...earlier].find((state) => digestAt(state) === digest);
    },
  };
}

/** Images are made to be read: in memory where the system has room for files there. */
const MEMORY = "/dev/shm";
const PLACE = fs.existsSync(MEMORY) ? MEMORY : os.tmpdir();

export function writeFiles(files: Files): string {
  const folder = fs.mkdtempSync(path.join(PLACE, "holdpoint-image-"));
  for (const [name, bytes] of files) fs.writeFileSync(path.join(folder, name), bytes);
  return folder;
}

function digestOfFiles(files: Files): string {
  const folder = writeFiles(files);
  const db = new DatabaseSync(path.join(folder, "journal.db"));
  try {
    return digestOf(db);
  } finally {
    db.close();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Every row of every table. */
export function digestOf(db: DatabaseSync, like = "%"): string {
  const hash = createHash("sha256");
  const tables = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE ? ORDER BY name")
    .all(like);
  for (const { name } of tables) {
    hash.update(`\n${name}`);
    for (const row of db.prepare(`SELECT * FROM "${name}"`).iterate()) update(hash, row);
  }
  return hash.digest("hex");
}

function update(hash: ReturnType<typeof createHash>, row: Record<string, unknown>): void {
  for (const [column, value] of Object.entries(row)) {
    hash.update(`\0${column}\0${typeof value}\0`);
    hash.update(value instanceof Uint8Array ? value : String(value));
  }
}
