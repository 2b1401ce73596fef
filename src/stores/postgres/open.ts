/**
 * The PostgreSQL store: one schema, any number of processes on any number of machines. A session is what one process
 * opens and closes together.
 */

import { streamName } from "../../kernel/stream.ts";
import { checkStoredText, guardCalls, type StoreEnd } from "../decision.ts";
import type { Store } from "../store.ts";
import { projectionTable } from "../views.ts";
import { runBatch, runReadOnly } from "./batch.ts";
import {
  type Connections,
  createConnections,
  isEndedPool,
  loadDriver,
  openingRetryRules,
} from "./connect.ts";
import {
  type ConnectRetry,
  isPostgresDamage,
  retryWhileUnavailable,
  translatePostgresError,
} from "./errors.ts";
import { createPostgresFollowers, type PostgresFollowers } from "./follow.ts";
import { createQueues, type Queues, transactPostgres } from "./group-commit.ts";
import { raisePositionBase } from "./home.ts";
import { lockSpace, type PostgresJournal, preparePostgresJournal } from "./journal.ts";
import { lockOf } from "./locks.ts";
import {
  checkPostgresViews,
  createPostgresViewTables,
  migrateSchema,
  readSchemaMeta,
  refuseNewerSchema,
  type SchemaMeta,
} from "./migrations.ts";
import {
  type CommitListener,
  type CommitNotifier,
  createCommitListener,
  createCommitNotifier,
} from "./notify.ts";
import { type PostgresOptions, type ResolvedOptions, resolveOptions } from "./options.ts";
import { createQueryRunner } from "./query.ts";
import { rebuildPostgresViews, resumePostgresRebuild } from "./rebuild-views.ts";
import { quoteIdentifier } from "./tables.ts";

type PostgresSession = {
  readonly journal: PostgresJournal;
  readonly patience: ConnectRetry;
  readonly writers: Queues;
  readonly lookers: Queues;
  readonly followers: PostgresFollowers;
  readonly notifier: CommitNotifier;
  readonly listener: CommitListener;
};

const MOST_HEADS = { count: 20_000, size: 64 * 1024 * 1024 };
const POLL_MS = 1_500;
/** Connections that batches and reads leave free for other queries, leases and notifications. */
const SPARE = 3;

async function openPostgresSession(given: PostgresOptions): Promise<PostgresSession> {
  const options = resolveOptions(given);
  const pool = createConnections(await loadDriver(), options);
  try {
    return await openOn(pool, options);
  } catch (error) {
    await pool.end();
    throw translatePostgresError(error);
  }
}

async function openOn(pool: Connections, options: ResolvedOptions): Promise<PostgresSession> {
  const patience = { random: options.random, busyMs: options.busyMs };
  const projections = projectionTable(options.projections);
  const place = { schema: options.schema, role: options.role, projections };
  const prepare = () => pool.use((client) => prepareSchema(client, options, place));
  const meta = await retryWhileUnavailable(patience, prepare, openingRetryRules(pool.address));
  const asking = createQueryRunner(pool, patience, options.role);
  await raisePositionBase(asking, quoteIdentifier(options.schema));
  const incarnation = meta.get("incarnation") ?? "";
  const born = meta.get("born") || incarnation;
  const wired: Wired = { committed: () => {} };
  const checkLayout = watchLayout(pool, place, meta.get("layout") ?? "");
  const { schema, folds, random, leaseMs, clock, hooks = {}, mostHeads = MOST_HEADS } = options;
  const journal = preparePostgresJournal({
    asking,
    schema,
    folds,
    random,
    leaseMs,
    ...(clock && { clock }),
    projections,
    incarnation,
    born,
    hooks,
    mostHeads,
    checkLayout,
    committed: () => wired.committed(),
  });
  await resumePostgresRebuild(journal);
  return wire(journal, options, wired);
}

type Wired = { committed(): void };

function wire(journal: PostgresJournal, options: ResolvedOptions, wired: Wired): PostgresSession {
  const { patience, moves, hooks } = journal;
  const { born } = journal;
  const channel = {
    name: `holdpoint_${born.slice(0, 16)}`,
    lock: lockOf(lockSpace(born), "work", 0, "listen"),
  };
  const notifier = createCommitNotifier(journal, channel);
  const connect = () => journal.connections.alone();
  const heard = () => hooks.deaf !== true && followers.wake();
  const listener = createCommitListener({ connect, channel, heard });
  const pollMs = hooks.pollMs ?? POLL_MS;
  const followers = createPostgresFollowers({ moves, listener, pollMs, translate: translatePostgresError });
  wired.committed = () => {
    followers.wake();
    notifier.tell();
  };
  const most = Math.max(1, options.connections - SPARE);
  const writers = createQueues({
    patience,
    most,
    run: (tenant, members) => runBatch(journal, tenant, members),
  });
  const lookers = createQueues({
    patience,
    most: Math.max(1, Math.floor(most / 2)),
    run: (tenant, members) => runReadOnly(journal, tenant, members),
    again: (member) => writers.submit(member),
  });
  return { journal, patience, writers, lookers, followers, notifier, listener };
}

type SchemaViews = Parameters<typeof createPostgresViewTables>[1];
type MigrationClient = Parameters<typeof migrateSchema>[0];

async function prepareSchema(
  client: MigrationClient,
  options: ResolvedOptions,
  place: SchemaViews,
): Promise<SchemaMeta> {
  const incarnation = Buffer.from(options.random(16)).toString("hex");
  await migrateSchema(client, { ...options, incarnation });
  await createPostgresViewTables(client, place);
  return (await readSchemaMeta(client, options.schema)) ?? new Map();
}

/** A newer program may change the layout while this one has the schema open. */
function watchLayout(pool: Connections, place: SchemaViews, opened: string): (seen: string) => Promise<void> {
  let known = opened;
  return async (seen) => {
    if (seen === known) return;
    await pool.use(async (client) => {
      refuseNewerSchema((await readSchemaMeta(client, place.schema)) ?? new Map());
      await checkPostgresViews(client, place);
    });
    known = seen;
  };
}

async function closePostgresSession(session: PostgresSession): Promise<void> {
  const { followers, lookers, writers, notifier, listener, journal } = session;
  followers.close();
  await lookers.close();
  await writers.close();
  await notifier.close();
  await listener.close();
  await journal.epochs.releaseAll().catch(() => {});
  await journal.connections.end();
}

export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const session = await openPostgresSession(options);
  const { journal, followers } = session;
  const { tenants, reads, views, seals, secrets, epochs } = journal;
  const ended: StoreEnd = { damage: undefined, closed: undefined };
  const call = guardCalls(ended, {
    translated: translatePostgresError,
    isDamage: isPostgresDamage,
    isClosed: isEndedPool,
  });
  /** A tenant without any writes has the number 0, which no row has. */
  const ask = <Answer>(tenant: string, find: (tid: number) => Promise<Answer>) =>
    call(async () => find((await tenants.find(tenant)) ?? 0));
  return {
    incarnation: journal.incarnation,
    home: {
      look: () => call(journal.home.look),
      note: (place, incarnation) => call(() => journal.home.note(place, incarnation)),
    },
    transact: (tenant, needs, decide) => call(() => transactPostgres(session, tenant, needs, decide)),
    read: (tenant, stream, { fromSeq = 1, limit = Number.MAX_SAFE_INTEGER } = {}) =>
      ask(tenant, (tid) => reads.stream({ tid, tenant }, streamName(stream), { fromSeq, limit })),
    log: (tenant, after, limit) => ask(tenant, (tid) => reads.log({ tid, tenant }, after, limit)),
    query: (tenant, query) => ask(tenant, (tid) => views.query(tid, query)),
    count: (tenant, view, bucket) => ask(tenant, (tid) => views.count(tid, view, bucket)),
    claim: (tenant, claim) => ask(tenant, (tid) => journal.claim(tid, claim)),
    rebuildViews: (progress = () => {}) => call(() => rebuildPostgresViews(journal, progress)),
    position: () => call(reads.position),
    follow: (position, signal) => call(() => followers.follow(position, signal)),
    artifact: (tenant, hash) => ask(tenant, (tid) => journal.artifacts.find(tid, hash)),
    holdEpoch: (id) => call(() => epochs.hold(id)),
    epochHeld: (id) => call(() => epochs.isHeld(id)),
    seal: (tenant, sign) => ask(tenant, (tid) => seals.seal({ tid, tenant }, sign)),
    seals: (tenant, after = 0) => ask(tenant, (tid) => seals.list(tid, after)),
    sealOver: (tenant, position) => ask(tenant, (tid) => seals.over(tid, position)),
    tenants: () => call(tenants.withEntries),
    putSecret: (tenant, id, sealed) =>
      call(async () => secrets.put(await tenants.ensure(tenant), checkStoredText("secret's id", id), sealed)),
    getSecret: (tenant, id) => ask(tenant, (tid) => secrets.find(tid, id)),
    close() {
      ended.closed ??= closePostgresSession(session);
      return ended.closed;
    },
  };
}
