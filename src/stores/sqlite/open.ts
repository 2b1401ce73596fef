/** The SQLite store: one file, any number of processes of one machine. */
import { streamName } from "../../kernel/stream.ts";
import { type Ended, type Guard, guard } from "../guard.ts";
import type { Home, Store } from "../store.ts";
import { claim } from "./claim.ts";
import { epochHeld } from "./epochs.ts";
import { homeOf } from "./home.ts";
import type { SqliteOptions } from "./options.ts";
import { patiently } from "./patience.ts";
import { putSecret } from "./put-secret.ts";
import { rebuildViews } from "./rebuild-views.ts";
import { seal } from "./seal.ts";
import { closeSession, hold, openSession, type Session } from "./session.ts";
import { isDamage, translated } from "./sqlite-errors.ts";
import { transact } from "./transact.ts";
import { resultOf, transactWithSql } from "./transact-with-sql.ts";

export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const ended: Ended = { damage: undefined, closed: undefined };
  const session = await openSession(options, (error) => {
    ended.damage ??= error;
  });
  const { journal, patience, folder } = session;
  const call = guard(ended, { translated, isDamage, isClosed: isClosedHandle });
  /** A tenant in whose name nothing was ever written has the number 0, which no row has. */
  const ask = <Answer>(tenant: string, find: (tid: number) => Answer | Promise<Answer>) =>
    call(() => patiently(patience, () => find(journal.tenants.find(tenant) ?? 0)));
  return {
    incarnation: journal.incarnation,
    // A connection that a test brings need not lead to that file.
    ...(options.hooks?.open === undefined && { home: guardedHome(homeOf(session), session, call) }),
    transact: (tenant, needs, decide) => call(() => transact(session, tenant, needs, decide)),
    transactWithSql: (tenant, needs, decide) =>
      call(() => transactWithSql(session, tenant, needs, decide)).then(resultOf),
    read: (tenant, stream, { fromSeq = 1, limit = Number.MAX_SAFE_INTEGER } = {}) =>
      ask(tenant, (tid) => journal.reads.stream(tid, streamName(stream), { fromSeq, limit })),
    log: (tenant, after, limit) => ask(tenant, (tid) => journal.reads.log(tid, after, limit)),
    query: (tenant, query) => ask(tenant, (tid) => journal.views.query(tid, query)),
    claim: (tenant, asked) => ask(tenant, (tid) => claim(session, tid, asked)),
    count: (tenant, view, bucket) => ask(tenant, (tid) => journal.views.count(tid, view, bucket)),
    rebuildViews: (progress = () => {}) => call(() => rebuildViews(session, progress)),
    position: () => call(() => patiently(patience, journal.reads.position)),
    follow: (position, signal) => call(() => session.followers.follow(position, signal)),
    artifact: (tenant, hash) => ask(tenant, (tid) => journal.artifacts.find(tid, hash)),
    holdEpoch: (id) => call(() => hold(session, id)),
    epochHeld: (id) => call(() => patiently(patience, () => epochHeld(folder, id))),
    seal: (tenant, sign) => call(() => seal(session, tenant, sign)),
    seals: (tenant, after = 0) => ask(tenant, (tid) => journal.seals.list(tid, after)),
    sealOver: (tenant, position) => ask(tenant, (tid) => journal.seals.over(tid, position)),
    tenants: () => call(() => patiently(patience, journal.tenants.withEntries)),
    putSecret: (tenant, id, sealed) => call(() => putSecret(session, tenant, id, sealed)),
    getSecret: (tenant, id) => ask(tenant, (tid) => journal.secrets.find(tid, id)),
    close() {
      ended.closed ??= closeSession(session);
      return ended.closed;
    },
  };
}

function guardedHome({ look, note }: Home, { patience }: Pick<Session, "patience">, call: Guard): Home {
  return {
    look: () => call(() => patiently(patience, look)),
    note: (place, incarnation) => call(() => note(place, incarnation)),
  };
}

/** Node's own word for a statement whose connection was closed between two pages of a read. */
function isClosedHandle(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_INVALID_STATE";
}
