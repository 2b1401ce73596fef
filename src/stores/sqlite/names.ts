import type { DatabaseSync } from "node:sqlite";
import { parseStreamRef, type StreamRef, streamName } from "../../kernel/stream.ts";
import type { PlannedName } from "../plan.ts";

export type Names = {
  find(tid: number, name: string): StreamRef | undefined;
  lead(tid: number, planned: PlannedName): void;
};

export function prepareNames(db: DatabaseSync): Names {
  const select = db.prepare("SELECT stream FROM hp_names WHERE tid = ? AND name = ?");
  const upsert = db.prepare("INSERT OR REPLACE INTO hp_names (tid, name, stream) VALUES (?, ?, ?)");
  return {
    find(tid, name) {
      const row = select.get(tid, name);
      return row === undefined ? undefined : parseStreamRef(String(row["stream"]));
    },
    lead(tid, { name, stream }) {
      upsert.run(tid, name, streamName(stream));
    },
  };
}
