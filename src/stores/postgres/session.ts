/** One process's hold on a store: what is opened together and closed together. */
import { tableOf } from "../project.ts";
import { createAsk } from "./ask.ts";
import { runBatch } from "./batch.ts";
import { type Connections, connections } from "./connect.ts";
import { loadDriver } from "./driver.ts";
import { createFollowers, type Followers } from "./follow.ts";
import { createQueues, type Queues } from "./group-commit.ts";
import { type Journal, prepareJournal, spaceOf } from "./journal.ts";
import { lockOf } from "./locks.ts";
import { runLook } from "./look.ts";
import { type Meta, migrate, readMeta, refuseNewer } from "./migrations.ts";
import { createListener, createNotifier, type Listener, type Notifier } from "./notify.ts";
import { type PostgresOptions, type Resolved, resolved } from "./options.ts";
import { type Patience, patiently } from "./patience.ts";
import { raiseBase } from "./positions.ts";
import { translated } from "./postgres-errors.ts";
import { goOn } from "./rebuild-views.ts";
import { openingManners } from "./refused.ts";
import { quoted } from "./tables.ts";
import { checkViews, createViewTables } from "./view-tables.ts";

export type Session = {
  readonly journal: Journal;
  readonly patience: Patience;
  readonly writers: Queues;
  readonly lookers: Queues;
  readonly followers: Followers;
  readonly notifier: Notifier;
  readonly listener: Listener;
};

const MOST_HEADS = { count: 20_000, size: 64 * 1024 * 1024 };
const POLL_MS = 1_500;
/** Batches and looks leave connections free for reading, leases and notifications. */
const SPARE = 3;

export async function openSession(given: PostgresOptions): Promise<Session> {
  const options = resolved(given);
  const pool = connections(await loadDriver(), options);
  try {
    return await openOn(pool, options);
  } catch (error) {
    await pool.end();
    throw translated(error);
  }
}

async function openOn(pool: Connections, options: Resolved): Promise<Session> {
  const patience = { random: options.random, busyMs: options.busyMs };
  const projections = tableOf(options.projections);
  const place = { schema: options.schema, role: options.role, projections };
  const prepare = () => pool.use((client) => prepareSchema(client, options, place));
  const meta = await patiently(patience, prepare, openingManners(pool.address));
  const asking = createAsk(pool, patience, options.role);
  await raiseBase(asking, quoted(options.schema));
  const incarnation = meta.get("incarnation") ?? "";
  const born = meta.get("born") || incarnation;
  const wired: Wired = { committed: () => {} };
  const checkLayout = watchLayout(pool, place, meta.get("layout") ?? "");
  const { schema, folds, random, leaseMs, clock, hooks = {}, mostHeads = MOST_HEADS } = options;
  const journal = prepareJournal({
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
  await goOn(journal);
  return wire(journal, options, wired);
}

type Wired = { committed(): void };

function wire(journal: Journal, options: Resolved, wired: Wired): Session {
  const { patience, moves, hooks } = journal;
  const { born } = journal;
  const channel = {
    name: `holdpoint_${born.slice(0, 16)}`,
    lock: lockOf(spaceOf(born), "work", 0, "listen"),
  };
  const notifier = createNotifier(journal, channel);
  const connect = () => journal.connections.alone();
  const heard = () => hooks.deaf !== true && followers.wake();
  const listener = createListener({ connect, channel, heard });
  const pollMs = hooks.pollMs ?? POLL_MS;
  const followers = createFollowers({ moves, listener, pollMs, translate: translated });
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
    run: (tenant, members) => runLook(journal, tenant, members),
    again: (member) => writers.submit(member),
  });
  return { journal, patience, writers, lookers, followers, notifier, listener };
}

type Place = Parameters<typeof createViewTables>[1];
type Client = Parameters<typeof migrate>[0];

async function prepareSchema(client: Client, options: Resolved, place: Place): Promise<Meta> {
  const incarnation = Buffer.from(options.random(16)).toString("hex");
  await migrate(client, { ...options, incarnation });
  await createViewTables(client, place);
  return (await readMeta(client, options.schema)) ?? new Map();
}

/** A newer program may change the layout while this one has the schema open. */
function watchLayout(pool: Connections, place: Place, opened: string): (seen: string) => Promise<void> {
  let known = opened;
  return async (seen) => {
    if (seen === known) return;
    await pool.use(async (client) => {
      refuseNewer((await readMeta(client, place.schema)) ?? new Map());
      await checkViews(client, place);
    });
    known = seen;
  };
}

export async function closeSession(session: Session): Promise<void> {
  const { followers, lookers, writers, notifier, listener, journal } = session;
  followers.close();
  await lookers.close();
  await writers.close();
  await notifier.close();
  await listener.close();
  await journal.epochs.releaseAll().catch(() => {});
  await journal.connections.end();
}
