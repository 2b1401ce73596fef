/** The PostgreSQL store: one schema, any number of processes on any number of machines. */
import { streamName } from "../../kernel/stream.ts";
import { checkText } from "../check-text.ts";
import { type Ended, guard } from "../guard.ts";
import type { Store } from "../store.ts";
import type { PostgresOptions } from "./options.ts";
import { isDamage, translated } from "./postgres-errors.ts";
import { rebuildViews } from "./rebuild-views.ts";
import { isEndedPool } from "./refused.ts";
import { closeSession, openSession } from "./session.ts";
import { transact } from "./transact.ts";

export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const session = await openSession(options);
  const { journal, followers } = session;
  const { tenants, reads, views, seals, secrets, epochs } = journal;
  const ended: Ended = { damage: undefined, closed: undefined };
  const call = guard(ended, { translated, isDamage, isClosed: isEndedPool });
  /** A tenant in whose name nothing was ever written has the number 0, which no row has. */
  const ask = <Answer>(tenant: string, find: (tid: number) => Promise<Answer>) =>
    call(async () => find((await tenants.find(tenant)) ?? 0));
  return {
    incarnation: journal.incarnation,
    home: {
      look: () => call(journal.home.look),
      note: (place, incarnation) => call(() => journal.home.note(place, incarnation)),
    },
    transact: (tenant, needs, decide) => call(() => transact(session, tenant, needs, decide)),
    read: (tenant, stream, { fromSeq = 1, limit = Number.MAX_SAFE_INTEGER } = {}) =>
      ask(tenant, (tid) => reads.stream(tid, streamName(stream), { fromSeq, limit })),
    log: (tenant, after, limit) => ask(tenant, (tid) => reads.log(tid, after, limit)),
    query: (tenant, query) => ask(tenant, (tid) => views.query(tid, query)),
    count: (tenant, view, bucket) => ask(tenant, (tid) => views.count(tid, view, bucket)),
    claim: (tenant, claim) => ask(tenant, (tid) => journal.claim(tid, claim)),
    rebuildViews: (progress = () => {}) => call(() => rebuildViews(journal, progress)),
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
      call(async () => secrets.put(await tenants.ensure(tenant), checkText("secret's id", id), sealed)),
    getSecret: (tenant, id) => ask(tenant, (tid) => secrets.find(tid, id)),
    close() {
      ended.closed ??= closeSession(session);
      return ended.closed;
    },
  };
}
