/**
 * The only writer of a process: queued members share a write transaction and its one sync, and are answered after it.
 * - A member that throws while it prepares has written nothing, and fails alone.
 * - If a member's writes or the commit fail, all is rolled back and every member is retried by itself.
 * - A batch holds the file's write lock for about ten milliseconds at most, with any number queued.
 * - If other processes write too, the next batch leaves them a gap.
 * Also begins write transactions, and finds out their outcome.
 */
import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { HoldpointError } from "../../kernel/errors.ts";
import { connectSqlite, type OpenDatabase } from "./connect.ts";
import {
  type BusyRetry,
  isBusy,
  isInputOutput,
  retryWhileBusy,
  sqliteCode,
  translateSqliteError,
} from "./errors.ts";
import type { SqliteHeads } from "./heads.ts";
import { writeFileMeta } from "./migrations.ts";

type CommitOutcome =
  | { readonly kind: "committed" }
  /** Certainly nothing was written. */
  | { readonly kind: "undone"; readonly error: unknown }
  | { readonly kind: "unknown"; readonly error: unknown };

type WriteTransaction = {
  /** Returns whether other processes wrote since the last one. Throws SQLite's busy error while one writes. */
  begin(): boolean;
  commit(members: number): Promise<CommitOutcome>;
  rollBack(): void;
  isBroken(error: unknown): boolean;
};

/** For tests: wraps the commit, and may throw before or after it. */
export type AroundCommit = (commit: () => void, members: number) => void;

/** The last entry of a batch, which identifies a commit whose outcome is unknown. */
export type BatchMarker = {
  set(position: number, hash: string): void;
  last(): { readonly position: number; readonly hash: string } | undefined;
  clear(): void;
};

export function createBatchMarker(): BatchMarker {
  let last: { position: number; hash: string } | undefined;
  return {
    set: (position, hash) => {
      last = { position, hash };
    },
    last: () => last,
    clear: () => {
      last = undefined;
    },
  };
}

type TransactionParts = {
  readonly db: DatabaseSync;
  readonly file: string;
  readonly heads: SqliteHeads;
  readonly tenants: { forget(): void };
  readonly positions: { forget(): void };
  readonly marker: BatchMarker;
  readonly patience: BusyRetry;
  readonly around: AroundCommit;
  readonly open: OpenDatabase | undefined;
  /** Checks after other processes wrote: may this program still use the file? */
  check(): void;
  committed(): void;
};

export function createWriteTransaction(parts: TransactionParts): WriteTransaction {
  const { db, heads, tenants, positions, marker } = parts;
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const rollBack = () => {
    undoTransaction(db);
    heads.rolledBack();
    tenants.forget();
    positions.forget();
  };
  return {
    begin() {
      begin.run();
      marker.clear();
      try {
        heads.refresh();
        const others = heads.othersWrote();
        if (others) positions.forget();
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

/** A rollback that fails leaves the transaction open: the next one then cannot begin, and its callers get the error. */
function undoTransaction(db: DatabaseSync): void {
  if (db.isTransaction) failureOf(() => db.exec("ROLLBACK"));
}

const COMMITTED: CommitOutcome = { kind: "committed" };

function failureOf(attempt: () => void): { readonly error: unknown } | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return { error };
  }
}

/**
 * A commit that failed to reach the disk may still be in the log there, and come back after a crash. It happened if a
 * fresh connection sees it. It did not if a later write succeeded, which overwrites it. Otherwise it is unknown.
 */
async function afterFailure(parts: TransactionParts, error: unknown): Promise<CommitOutcome> {
  const { db, marker } = parts;
  undoTransaction(db);
  if (!isInputOutput(error)) return { kind: "undone", error };
  const last = marker.last();
  if (last === undefined) return { kind: "unknown", error };
  try {
    return await retryWhileBusy(parts.patience, () => findOut(parts, last, error));
  } catch {
    return { kind: "unknown", error };
  }
}

function findOut(
  { file, open }: TransactionParts,
  last: { position: number; hash: string },
  error: unknown,
): CommitOutcome {
  const fresh = connectSqlite(file, open);
  try {
    const row = fresh
      .prepare("SELECT lower(hex(hash)) AS hash FROM hp_entries WHERE position = ?")
      .get(last.position);
    if (row?.["hash"] === last.hash) return COMMITTED;
    writeFileMeta(fresh, "last_failed_commit", last.hash);
    return { kind: "undone", error };
  } catch (failure) {
    if (isBusy(failure)) throw failure;
    return { kind: "unknown", error };
  } finally {
    fresh.close();
  }
}

export type PreparedWrite = { write(): void; answer(): void };

type GroupMember = {
  prepare(): PreparedWrite;
  refuse(error: unknown): void;
  /** Needs its own transaction, because `prepare` already writes. */
  readonly alone?: boolean;
};

export type Writer = {
  submit(member: GroupMember): void;
  /** Takes no more members, and resolves when the queued ones have their answers. */
  close(): Promise<void>;
};

type Done = { readonly member: GroupMember; answer(): void };
type Batch = {
  readonly done: readonly Done[];
  readonly failed?: { readonly member: GroupMember; readonly error: unknown };
};

const LONGEST_HOLD_MS = 10;
const GAP_MS = 1;
/** Another process that wrote this recently probably waits for the lock again. */
const LATELY_MS = 250;

export function createWriter(transaction: WriteTransaction, patience: BusyRetry): Writer {
  const queue: GroupMember[] = [];
  let running: Promise<void> | undefined;
  let closed = false;
  let othersWrote = Number.NEGATIVE_INFINITY;
  let lastEnd = Number.NEGATIVE_INFINITY;

  const run = async (): Promise<void> => {
    while (queue.length > 0) {
      await nextTurn();
      const now = performance.now();
      if (now - othersWrote < LATELY_MS && now - lastEnd < GAP_MS) await sleep(GAP_MS);
      const others = await writeNext(transaction, patience, queue);
      lastEnd = performance.now();
      if (others) othersWrote = lastEnd;
    }
    running = undefined;
  };
  return {
    submit(member) {
      if (closed) return member.refuse(new HoldpointError("closed", "The store was closed."));
      queue.push(member);
      running ??= run();
    },
    async close() {
      closed = true;
      while (running !== undefined) await running;
    },
  };
}

/** Returns whether other processes wrote meanwhile. */
async function writeNext(
  transaction: WriteTransaction,
  patience: BusyRetry,
  queue: GroupMember[],
): Promise<boolean> {
  const waiting = queue.length;
  let others: boolean;
  try {
    others = await retryWhileBusy(patience, transaction.begin);
  } catch (error) {
    for (const member of queue.splice(0, waiting)) member.refuse(error);
    return false;
  }
  const batch = gatherBatch(transaction, queue);
  if (batch.failed === undefined) await commitBatch(transaction, patience, batch);
  else {
    transaction.rollBack();
    await oneByOne(transaction, patience, { batch, error: batch.failed.error });
  }
  return others;
}

function gatherBatch(transaction: WriteTransaction, queue: GroupMember[]): Batch {
  const done: Done[] = [];
  const start = performance.now();
  for (let member = queue[0]; member !== undefined; member = queue[0]) {
    if (done.length > 0 && (member.alone === true || performance.now() - start > LONGEST_HOLD_MS)) break;
    queue.shift();
    let prepared: PreparedWrite;
    try {
      prepared = member.prepare();
    } catch (error) {
      if (member.alone === true || transaction.isBroken(error)) return { done, failed: { member, error } };
      member.refuse(translateSqliteError(error));
      continue;
    }
    try {
      prepared.write();
    } catch (error) {
      return { done, failed: { member, error } };
    }
    done.push({ member, answer: prepared.answer });
    if (member.alone === true) break;
  }
  return { done };
}

async function commitBatch(transaction: WriteTransaction, patience: BusyRetry, batch: Batch): Promise<void> {
  const outcome = await transaction.commit(batch.done.length);
  if (outcome.kind === "committed") for (const { answer } of batch.done) answer();
  else if (outcome.kind === "undone") await oneByOne(transaction, patience, { batch, error: outcome.error });
  else for (const { member } of batch.done) member.refuse(unknownCommit(outcome));
}

/** A member that was alone in its batch is refused, not retried. */
async function oneByOne(
  transaction: WriteTransaction,
  patience: BusyRetry,
  { batch, error }: { batch: Batch; error: unknown },
): Promise<void> {
  const members = batch.done.map(({ member }) => member);
  if (batch.failed !== undefined) members.push(batch.failed.member);
  if (members.length === 1)
    members[0]?.refuse(members[0].alone === true ? error : translateSqliteError(error));
  else for (const member of members) await writeNext(transaction, patience, [member]);
}

function unknownCommit({ error }: Extract<CommitOutcome, { kind: "unknown" }>): HoldpointError {
  return new HoldpointError("commit_unknown", "The disk failed while the store committed.", { cause: error });
}

/** Writes in the next batch; resolves after its commit. */
export function writeInNextBatch<Answer>(writer: Writer, write: () => Answer): Promise<Answer> {
  return new Promise((resolve, refuse) => {
    let answer: Answer;
    const prepare = () => ({
      write: () => {
        answer = write();
      },
      answer: () => resolve(answer),
    });
    writer.submit({ prepare, refuse });
  });
}
