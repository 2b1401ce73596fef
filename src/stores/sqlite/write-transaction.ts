/** A write transaction of the journal: how it begins, and what is known after it ended. */
import type { DatabaseSync } from "node:sqlite";
import type { Marker } from "./append.ts";
import { connect, type Open } from "./connect.ts";
import type { Heads } from "./heads.ts";
import { writeMeta } from "./migrations.ts";
import { type Patience, patiently } from "./patience.ts";
import { isBusy, isInputOutput, sqliteCode } from "./sqlite-errors.ts";
import type { Tenants } from "./tenants.ts";

export type Outcome =
  | { readonly kind: "committed" }
  /** It is certain that nothing was written. */
  | { readonly kind: "undone"; readonly error: unknown }
  | { readonly kind: "unknown"; readonly error: unknown };

export type WriteTransaction = {
  /** Answers whether others wrote since the last one. Throws SQLite's busy when another process writes. */
  begin(): boolean;
  commit(members: number): Promise<Outcome>;
  rollBack(): void;
  isBroken(error: unknown): boolean;
};

/** For tests: stands around the commit, and may throw before or after it. */
export type AroundCommit = (commit: () => void, members: number) => void;

export type TransactionParts = {
  readonly db: DatabaseSync;
  readonly file: string;
  readonly heads: Heads;
  readonly tenants: Tenants;
  readonly marker: Marker;
  readonly patience: Patience;
  readonly around: AroundCommit;
  readonly open: Open | undefined;
  /** After others wrote: is the file still one that this program may use? */
  check(): void;
  committed(): void;
};

export function writeTransaction(parts: TransactionParts): WriteTransaction {
  const { db, heads, tenants, marker } = parts;
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const rollBack = () => {
    undo(db);
    heads.rolledBack();
    tenants.forget();
  };
  return {
    begin() {
      begin.run();
      marker.clear();
      try {
        const others = heads.refresh();
        if (others) parts.check();
        return others;
      } catch (error) {
        rollBack();
        heads.clear();
        throw error;
      }
    },
    async commit(members) {
      const error = failureOf(() => parts.around(() => void commit.run(), members));
      const outcome = error === undefined ? COMMITTED : await afterFailure(parts, error.error);
      if (outcome.kind !== "committed") rollBack();
      if (outcome.kind === "unknown") heads.clear();
      if (outcome.kind === "committed") {
        heads.committed();
        parts.committed();
      }
      return outcome;
    },
    rollBack,
    isBroken: (error) => sqliteCode(error) !== undefined || !db.isTransaction,
  };
}

/** A rollback that fails leaves the transaction open: then the next one cannot begin, and says so to its callers. */
function undo(db: DatabaseSync): void {
  if (db.isTransaction) failureOf(() => db.exec("ROLLBACK"));
}

const COMMITTED: Outcome = { kind: "committed" };

function failureOf(attempt: () => void): { readonly error: unknown } | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return { error };
  }
}

/**
 * A commit that failed to reach the disk may still be in the log there, and come back after a crash. It is there if a
 * fresh connection sees it; it is certainly not if a later write succeeded, which overwrites it; else it is unknown.
 */
async function afterFailure(parts: TransactionParts, error: unknown): Promise<Outcome> {
  const { db, marker } = parts;
  undo(db);
  if (!isInputOutput(error)) return { kind: "undone", error };
  const last = marker.last();
  if (last === undefined) return { kind: "unknown", error };
  try {
    return await patiently(parts.patience, () => findOut(parts, last, error));
  } catch {
    return { kind: "unknown", error };
  }
}

function findOut(
  { file, open }: TransactionParts,
  last: { position: number; hash: string },
  error: unknown,
): Outcome {
  const fresh = connect(file, open);
  try {
    const row = fresh
      .prepare("SELECT lower(hex(hash)) AS hash FROM hp_entries WHERE position = ?")
      .get(last.position);
    if (row?.["hash"] === last.hash) return COMMITTED;
    writeMeta(fresh, "last_failed_commit", last.hash);
    return { kind: "undone", error };
  } catch (failure) {
    if (isBusy(failure)) throw failure;
    return { kind: "unknown", error };
  } finally {
    fresh.close();
  }
}
