/**
 * The SQLite store: one file, any number of processes of one machine. A session is what one process opens and closes
 * together. A claim hands out each due row to one caller until its lease ends; if nothing is due, nothing is written.
 * The home is the location of the file: its inode, and its birth time if the file system has one. A copy has another
 * inode, or a later birth time if a deleted file's inode is reused. A moved file keeps both. The device is left out,
 * because its number may change when the machine restarts.
 */
import fs from "node:fs";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Seal, SealDraft } from "../../journal/seal.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import { streamName } from "../../kernel/stream.ts";
import type { Folds } from "../../states.ts";
import { checkStoredText, type GuardedCall, guardCalls, type StoreEnd } from "../decision.ts";
import type { CacheLimit } from "../head.ts";
import type { EpochHold, Home, Projection, Store, StoreLocation, ViewClaim, ViewRow } from "../store.ts";
import { projectionTable } from "../views.ts";
import { transactWithSql, unwrapSqlAnswer } from "./application-sql.ts";
import type { OpenDatabase } from "./connect.ts";
import { type EpochLock, epochAlreadyHeld, isEpochLocked, lockEpoch } from "./epochs.ts";
import { type BusyRetry, isSqliteDamage, retryWhileBusy, translateSqliteError } from "./errors.ts";
import { createSqliteFollowers, PAUSE_MS, type SqliteFollowers } from "./follow.ts";
import {
  type AroundCommit,
  createWriter,
  createWriteTransaction,
  type Writer,
  writeInNextBatch,
} from "./group-commit.ts";
import { prepareSqliteJournal, type SqliteJournal, transactSqlite } from "./journal.ts";
import { checkSqliteViews, readFileMeta, refuseNewerFile, writeFileMeta } from "./migrations.ts";
import { type OpenFile, openFile } from "./open-file.ts";
import { rebuildSqliteViews, resumeSqliteRebuild } from "./rebuild-views.ts";

/** For tests of disk failures: the connection itself, a hook around every commit, and no dependency on time. */
type SqliteHooks = {
  /** Supplies the connection. Its settings are still applied and read back. */
  readonly open?: OpenDatabase;
  connected?(db: DatabaseSync): void;
  commit?: AroundCommit;
  /** How long to gather commits for followers. */
  readonly pauseMs?: number;
};

export type SqliteOptions = {
  readonly folder: string;
  readonly folds: Folds;
  readonly projections: readonly Projection[];
  readonly clock: { now(): number };
  readonly random: (bytes: number) => Uint8Array;
  /** `existing` opens an existing store and creates none. */
  readonly mode?: "read-write" | "existing";
  /** How long to wait for another process's write lock. */
  readonly busyMs?: number;
  /** Limit of cached heads and states: number of streams, and approximate bytes. */
  readonly mostHeads?: CacheLimit;
  readonly hooks?: SqliteHooks;
};

type SqliteSession = {
  readonly folder: string;
  readonly patience: BusyRetry;
  readonly opened: OpenFile;
  readonly journal: SqliteJournal;
  readonly writer: Writer;
  readonly followers: SqliteFollowers;
  readonly holds: Set<EpochLock>;
};

const BUSY_MS = 15_000;
/** Another process may just be checking whether the epoch is held. */
const LOOKING_MS = 250;
const MOST_HEADS: CacheLimit = { count: 20_000, size: 64 * 1024 * 1024 };

async function openSqliteSession(
  options: SqliteOptions,
  damaged: (error: unknown) => void,
): Promise<SqliteSession> {
  const { folds, clock, random, mode = "read-write", busyMs = BUSY_MS, mostHeads = MOST_HEADS } = options;
  const folder = path.resolve(options.folder);
  const patience = { random, busyMs };
  const projections = projectionTable(options.projections);
  const open = options.hooks?.open;
  const opened = await openFile({ folder, mode, projections, patience, open, damaged });
  const { db, incarnation } = opened;
  try {
    const journal = prepareSqliteJournal({
      db,
      folds,
      projections,
      clock,
      random,
      incarnation,
      patience,
      mostHeads,
    });
    options.hooks?.connected?.(db);
    const pauseMs = options.hooks?.pauseMs ?? PAUSE_MS;
    const followers = createSqliteFollowers({ folder, db, moved: journal.reads.moved, pauseMs });
    const writer = openWriter({ options, opened, journal, followers });
    await resumeSqliteRebuild({ journal, writer });
    return { folder, patience, opened, journal, writer, followers, holds: new Set() };
  } catch (error) {
    closeFile(opened);
    throw error;
  }
}

type Parts = {
  readonly options: SqliteOptions;
  readonly opened: OpenFile;
  readonly journal: SqliteJournal;
  readonly followers: SqliteFollowers;
};

function openWriter({ options, opened, journal, followers }: Parts): Writer {
  const { db, file } = opened;
  const { heads, tenants, positions, marker, patience } = journal;
  const around = options.hooks?.commit ?? ((commit) => commit());
  const check = watchLayout(journal);
  const committed = () => {
    if (followers.waiters.size > 0) followers.wake();
  };
  const transaction = createWriteTransaction({
    db,
    file,
    heads,
    tenants,
    positions,
    marker,
    patience,
    around,
    open: options.hooks?.open,
    check,
    committed,
  });
  return createWriter(transaction, patience);
}

/** A newer program may change the file's layout while this one has it open. */
function watchLayout({ db, projections }: SqliteJournal): () => void {
  const select = db.prepare("SELECT value FROM hp_meta WHERE key = 'layout'");
  let seen: unknown = readFileMeta(db, "layout");
  return () => {
    const now = select.get()?.["value"];
    if (now === seen) return;
    refuseNewerFile(db);
    checkSqliteViews(db, projections);
    seen = now;
  };
}

async function holdSqliteEpoch(session: SqliteSession, id: string): Promise<EpochHold> {
  const { folder, patience, holds } = session;
  try {
    const held = await retryWhileBusy({ ...patience, busyMs: LOOKING_MS }, () => lockEpoch(folder, id));
    holds.add(held);
    return {
      async release() {
        holds.delete(held);
        held.release();
      },
      leave() {
        held.keep();
        holds.delete(held);
      },
    };
  } catch (error) {
    throw isHoldpointError(error, "store_busy") ? epochAlreadyHeld(id, error) : error;
  }
}

async function closeSqliteSession({ writer, followers, holds, opened }: SqliteSession): Promise<void> {
  followers.close();
  await writer.close();
  for (const held of holds) held.release();
  holds.clear();
  closeFile(opened);
}

function closeFile({ check, db }: OpenFile): void {
  check.stop();
  db.close();
}

const HOME_KEY = "home";

function fileLocation(file: string): StoreLocation {
  const found = fs.statSync(file, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return {};
  const birth = found.birthtimeNs === 0n ? {} : { birth: String(found.birthtimeNs) };
  return { inode: String(found.ino), ...birth };
}

function sqliteHome({ opened: { db, file }, writer }: Pick<SqliteSession, "opened" | "writer">): Home {
  return {
    async look() {
      const noted = readFileMeta(db, HOME_KEY);
      return {
        incarnation: readFileMeta(db, "incarnation") ?? "",
        noted: noted === undefined ? null : (JSON.parse(noted) as StoreLocation),
        found: fileLocation(file),
      };
    },
    note: (place, incarnation) =>
      writeInNextBatch(writer, () => {
        writeFileMeta(db, HOME_KEY, JSON.stringify(place));
        if (incarnation !== undefined) writeFileMeta(db, "incarnation", incarnation);
      }),
  };
}

async function claimSqliteRows(
  { journal, writer }: { journal: SqliteJournal; writer: Writer },
  tid: number,
  asked: ViewClaim,
): Promise<readonly ViewRow[]> {
  const { db, views, clock } = journal;
  if (views.free(tid, asked, clock.now()).length === 0) return [];
  return writeInNextBatch(writer, () => {
    const now = clock.now();
    const free = views.free(tid, asked, now);
    db.prepare("DELETE FROM hp_claims WHERE until <= ?").run(now);
    const insert = db.prepare("INSERT OR REPLACE INTO hp_claims (view, sid, until) VALUES (?, ?, ?)");
    for (const { sid } of free) insert.run(asked.view, sid, now + asked.leaseMs);
    return free.map(({ row }) => row);
  });
}

function sealSqliteTenant(
  { journal, writer }: { journal: SqliteJournal; writer: Writer },
  tenant: string,
  sign: (draft: SealDraft) => Seal,
): Promise<Seal | undefined> {
  const { db, tenants, clock, seals } = journal;
  return new Promise((resolve, refuse) => {
    const prepare = () => {
      const tid = tenants.find(tenant);
      const incarnation = readFileMeta(db, "incarnation") ?? "";
      const signed =
        tid === undefined ? undefined : seals.sign({ tid, tenant, incarnation, now: clock.now() }, sign);
      return { write: () => signed?.keep(), answer: () => resolve(signed?.seal) };
    };
    writer.submit({ prepare, refuse });
  });
}

function putSqliteSecret(
  { journal, writer }: { journal: SqliteJournal; writer: Writer },
  tenant: string,
  id: string,
  sealed: Uint8Array,
): Promise<void> {
  checkStoredText("tenant", tenant);
  checkStoredText("secret's id", id);
  return writeInNextBatch(writer, () => journal.secrets.put(journal.tenants.ensure(tenant), id, sealed));
}

export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const ended: StoreEnd = { damage: undefined, closed: undefined };
  const session = await openSqliteSession(options, (error) => {
    ended.damage ??= error;
  });
  const { journal, patience, folder } = session;
  const call = guardCalls(ended, {
    translated: translateSqliteError,
    isDamage: isSqliteDamage,
    isClosed: isClosedHandle,
  });
  /** A tenant without any writes has the number 0, which no row has. */
  const ask = <Answer>(tenant: string, find: (tid: number) => Answer | Promise<Answer>) =>
    call(() => retryWhileBusy(patience, () => find(journal.tenants.find(tenant) ?? 0)));
  return {
    incarnation: journal.incarnation,
    // A test's connection need not lead to that file.
    ...(options.hooks?.open === undefined && { home: guardedHome(sqliteHome(session), session, call) }),
    transact: (tenant, needs, decide) => call(() => transactSqlite(session, tenant, needs, decide)),
    transactWithSql: (tenant, needs, decide) =>
      call(() => transactWithSql(session, tenant, needs, decide)).then(unwrapSqlAnswer),
    read: (tenant, stream, { fromSeq = 1, limit = Number.MAX_SAFE_INTEGER } = {}) =>
      ask(tenant, (tid) => journal.reads.stream({ tid, tenant }, streamName(stream), { fromSeq, limit })),
    log: (tenant, after, limit) => ask(tenant, (tid) => journal.reads.log({ tid, tenant }, after, limit)),
    query: (tenant, query) => ask(tenant, (tid) => journal.views.query(tid, query)),
    claim: (tenant, asked) => ask(tenant, (tid) => claimSqliteRows(session, tid, asked)),
    count: (tenant, view, bucket) => ask(tenant, (tid) => journal.views.count(tid, view, bucket)),
    rebuildViews: (progress = () => {}) => call(() => rebuildSqliteViews(session, progress)),
    position: () => call(() => retryWhileBusy(patience, journal.reads.position)),
    follow: (position, signal) => call(() => session.followers.follow(position, signal)),
    artifact: (tenant, hash) => ask(tenant, (tid) => journal.artifacts.find(tid, hash)),
    holdEpoch: (id) => call(() => holdSqliteEpoch(session, id)),
    epochHeld: (id) => call(() => retryWhileBusy(patience, () => isEpochLocked(folder, id))),
    seal: (tenant, sign) =>
      ask(tenant, (tid) =>
        journal.seals.isBehind(tid) ? sealSqliteTenant(session, tenant, sign) : undefined,
      ),
    seals: (tenant, after = 0) => ask(tenant, (tid) => journal.seals.list(tid, after)),
    sealOver: (tenant, position) => ask(tenant, (tid) => journal.seals.over(tid, position)),
    tenants: () => call(() => retryWhileBusy(patience, journal.tenants.withEntries)),
    putSecret: (tenant, id, sealed) => call(() => putSqliteSecret(session, tenant, id, sealed)),
    getSecret: (tenant, id) => ask(tenant, (tid) => journal.secrets.find(tid, id)),
    close() {
      ended.closed ??= closeSqliteSession(session);
      return ended.closed;
    },
  };
}

function guardedHome(
  { look, note }: Home,
  { patience }: Pick<SqliteSession, "patience">,
  call: GuardedCall,
): Home {
  return {
    look: () => call(() => retryWhileBusy(patience, look)),
    note: (place, incarnation) => call(() => note(place, incarnation)),
  };
}

/** Node's error for a statement whose connection was closed between two pages of a read. */
function isClosedHandle(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_INVALID_STATE";
}
