/** A write transaction of the journal: how it begins, and what is known after it ended. */
import type { DatabaseSync } from "node:sqlite";
import type { Mark, Marker } from "./append.ts";
import { connect, type Open } from "./connect.ts";
import type { Heads } from "./heads.ts";
import { writeMeta } from "./migrations.ts";
import type { Names } from "./names.ts";
import { type Patience, patiently } from "./patience.ts";
import type { Places } from "./places.ts";
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
  /** What became of a commit that failed, or whose answer never came, by the last entry that it wrote. */
  findOut(last: Mark | undefined, error: unknown): Promise<Outcome>;
  isBroken(error: unknown): boolean;
};

/** For tests: stands around the commit, and may throw before or after it. */
export type AroundCommit = (commit: () => void, members: number) => void;

export type TransactionParts = {
  readonly db: DatabaseSync;
  readonly file: string;
  readonly heads: Heads;
  readonly names: Names;
  readonly places: Places;
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
  const { db, heads, names, places, tenants, marker } = parts;
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const rollBack = () => {
    undo(db);
    heads.drop();
    names.drop();
    places.forget();
    tenants.forget();
  };
  return {
    begin() {
      begin.run();
      marker.clear();
      try {
        const seen = heads.refresh();
        if (seen !== "nothing") parts.check();
        return seen === "others";
      } catch (error) {
        rollBack();
        heads.clear();
        throw error;
      }
    },
    async commit(members) {
      const error = failureOf(() => parts.around(() => void commit.run(), members));
      const outcome = error === undefined ? COMMITTED : await afterFailure(parts, marker.last(), error.error);
      if (outcome.kind !== "committed") rollBack();
      if (outcome.kind === "unknown") heads.clear();
      if (outcome.kind === "committed") {
        heads.written();
        names.written();
        parts.committed();
      }
      return outcome;
    },
    rollBack,
    findOut: (last, error) => lookAfter(parts, last, error),
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
async function afterFailure(
  parts: TransactionParts,
  last: Mark | undefined,
  error: unknown,
): Promise<Outcome> {
  undo(parts.db);
  return isInputOutput(error) ? lookAfter(parts, last, error) : { kind: "undone", error };
}

async function lookAfter(parts: TransactionParts, last: Mark | undefined, error: unknown): Promise<Outcome> {
  if (last === undefined) return { kind: "unknown", error };
  try {
    return await patiently(parts.patience, () => findOut(parts, last, error));
  } catch {
    return { kind: "unknown", error };
  }
}

function findOut({ file, open }: TransactionParts, last: Mark, error: unknown): Outcome {
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
