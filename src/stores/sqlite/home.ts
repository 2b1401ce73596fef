/**
 * Where the file is: its inode, and when it was born where the file system tells. A copy has another inode, or, where a
 * deleted file's number is used again, was born later. A file that is moved keeps both. The device is left out: its
 * number may change with a restart of the machine.
 */
import fs from "node:fs";
import type { Home, Place } from "../store.ts";
import { inTransaction } from "./in-transaction.ts";
import { readMeta, writeMeta } from "./migrations.ts";
import type { Session } from "./session.ts";

const KEY = "home";

function placeOf(file: string): Place {
  const found = fs.statSync(file, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return {};
  const birth = found.birthtimeNs === 0n ? {} : { birth: String(found.birthtimeNs) };
  return { inode: String(found.ino), ...birth };
}

export function homeOf({ opened: { db, file }, writer }: Pick<Session, "opened" | "writer">): Home {
  return {
    async look() {
      const noted = readMeta(db, KEY);
      return {
        incarnation: readMeta(db, "incarnation") ?? "",
        noted: noted === undefined ? null : (JSON.parse(noted) as Place),
        found: placeOf(file),
      };
    },
    note: (place, incarnation) =>
      inTransaction(writer, () => {
        writeMeta(db, KEY, JSON.stringify(place));
        if (incarnation !== undefined) writeMeta(db, "incarnation", incarnation);
      }),
  };
}
