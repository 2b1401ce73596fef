import type { DatabaseSync } from "node:sqlite";
import type { Seal, SealDraft } from "../../journal/seal.ts";
import { checkSeal, draftSeal, type SealedSoFar } from "../draft-seal.ts";
import { hex } from "./hex.ts";

export type Sealing = {
  readonly tid: number;
  readonly tenant: string;
  readonly incarnation: string;
  readonly now: number;
};

export type Signed = { readonly seal: Seal; keep(): void };

export type Seals = {
  /** Inside a write transaction: signs what moved; `keep` writes it. */
  sign(sealing: Sealing, sign: (draft: SealDraft) => Seal): Signed | undefined;
  list(tid: number, after: number): readonly Seal[];
  over(tid: number, position: number | "last"): Seal | undefined;
};

/** NOT INDEXED: for the grouping SQLite would read the whole journal in order of streams, at every seal. */
export const LEAVES = `SELECT s.name, e.seq, e.hash FROM
  (SELECT sid, max(seq) AS seq FROM hp_entries NOT INDEXED WHERE tid = ? AND position > ? GROUP BY sid) m
  CROSS JOIN hp_entries e ON e.sid = m.sid AND e.seq = m.seq CROSS JOIN hp_streams s ON s.sid = m.sid`;

export function prepareSeals(db: DatabaseSync): Seals {
  const last = db.prepare(
    "SELECT n, at, position, entries, jws FROM hp_seals WHERE tid = ? ORDER BY n DESC LIMIT 1",
  );
  const span = db.prepare(
    "SELECT count(*) AS entries, max(position) AS position FROM hp_entries WHERE tid = ? AND position > ?",
  );
  const leaves = db.prepare(LEAVES);
  const insert = db.prepare(
    "INSERT INTO hp_seals (tid, n, at, position, entries, jws, leaves) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const list = db.prepare("SELECT n, jws, leaves FROM hp_seals WHERE tid = ? AND n > ? ORDER BY n");
  const over = db.prepare(
    "SELECT n, jws, leaves FROM hp_seals WHERE tid = ? AND position >= ? ORDER BY position LIMIT 1",
  );
  const newest = db.prepare("SELECT n, jws, leaves FROM hp_seals WHERE tid = ? ORDER BY n DESC LIMIT 1");
  return {
    sign({ tid, ...sealing }, sign) {
      const before = sealedSoFar(last.get(tid));
      const moved = span.get(tid, before?.position ?? 0);
      if (moved?.["entries"] === 0) return undefined;
      const draft = draftSeal({
        ...sealing,
        last: before,
        position: Number(moved?.["position"]),
        entries: Number(moved?.["entries"]),
        leaves: leaves.all(tid, before?.position ?? 0).map(leaf),
      });
      const seal = checkSeal(draft, sign(draft));
      const { n, at, position, entries } = draft;
      return {
        seal,
        keep: () => void insert.run(tid, n, at, position, entries, seal.jws, JSON.stringify(seal.leaves)),
      };
    },
    list: (tid, after) => list.all(tid, after).map(kept),
    over(tid, position) {
      const row = position === "last" ? newest.get(tid) : over.get(tid, position);
      return row === undefined ? undefined : kept(row);
    },
  };
}

function sealedSoFar(row: Record<string, unknown> | undefined): SealedSoFar | undefined {
  if (row === undefined) return undefined;
  const number = (column: string) => Number(row[column]);
  return {
    n: number("n"),
    at: number("at"),
    position: number("position"),
    entries: number("entries"),
    jws: String(row["jws"]),
  };
}

const leaf = (row: Record<string, unknown>) => ({
  stream: String(row["name"]),
  seq: Number(row["seq"]),
  hash: hex(row["hash"]),
});

const kept = (row: Record<string, unknown>): Seal => ({
  n: Number(row["n"]),
  jws: String(row["jws"]),
  leaves: JSON.parse(String(row["leaves"])),
});
