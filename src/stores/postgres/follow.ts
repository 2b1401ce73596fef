/**
 * Changes between two snapshots of the database, over all tenants (ids only), and the followers that they wake: at once
 * after a commit of this process, by a notification after commits of other processes, and by a slow poll as a fallback.
 * - A position is settled: nothing can appear before it any more. It does not pass a running transaction.
 * - No follower waits for another's long transaction: visible changes beyond the settled position are reported, once to
 *   each follower. A follower is identified by its signal; what it has seen is one snapshot of the database.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { findStreamRef, type StreamRef } from "../../kernel/stream.ts";
import type { StoreChanges } from "../store.ts";
import { decodeText, encodeLongs } from "./encode.ts";
import { type CommitListener, refuseClosed } from "./notify.ts";
import { numberColumn, type QueryRunner, type ResultRow, textColumn } from "./query.ts";

type CommittedChange = {
  readonly position: number;
  readonly tenant: string;
  readonly streams: readonly string[];
};

/**
 * What a follower has seen: everything before `upto`, except the writes of transactions that were running then; each of
 * those has its positions from a number in `running` on. `upto` is right after a commit: after a crash, the server
 * reuses the numbers of transactions that wrote nothing.
 */
type FollowerSnapshot = { readonly upto: number; readonly running: readonly number[] };

/** All transactions before the horizon have ended. */
export type ChangesSince = (seen: FollowerSnapshot) => Promise<{
  readonly moves: readonly CommittedChange[];
  readonly horizon: number;
  readonly seen: FollowerSnapshot;
}>;

/** A follower that slept for long gets its changes in portions. */
const MOST_CHANGES = 500;
const POSITIONS_PER_TRANSACTION = 16_384;

export function prepareChangesSince({ ask }: QueryRunner, schema: string): ChangesSince {
  const statement = {
    name: "hp_moves",
    text: `SELECT pg_current_snapshot()::text, (SELECT value FROM ${schema}.hp_meta WHERE key = 'base'),
        m.position, (SELECT t.tenant FROM ${schema}.hp_tenants t WHERE t.tid = m.tid), n.streams
      FROM (SELECT 1) one LEFT JOIN (
        SELECT * FROM (
          SELECT position, tid, sids FROM ${schema}.hp_moves WHERE position >= $1::int8
          UNION ALL
          SELECT late.* FROM unnest($2::int8[]) r (first) CROSS JOIN LATERAL (
            SELECT m.position, m.tid, m.sids FROM ${schema}.hp_moves m
            WHERE m.position >= r.first AND m.position < least(r.first + ${POSITIONS_PER_TRANSACTION}, $1::int8) OFFSET 0
          ) late
        ) newer ORDER BY position LIMIT ${MOST_CHANGES}
      ) m ON true
      LEFT JOIN LATERAL (
        SELECT json_agg((SELECT coalesce(s.whole, s.key) FROM ${schema}.hp_streams s WHERE s.sid = i.sid))
        FROM unnest(m.sids) i (sid)
      ) n (streams) ON true ORDER BY m.position`,
  };
  return async (before) => {
    const [rows = []] = await ask("ids", { statement, values: [before.upto, encodeLongs(before.running)] });
    const moves = rows.filter((row) => row[2] !== null).map(changeFromRow);
    const last = moves.at(-1);
    const upto = last === undefined ? before.upto : Math.max(before.upto, last.position + 1);
    return { moves, ...snapshotFromRow(rows[0], upto) };
  };
}

function changeFromRow(row: ResultRow): CommittedChange {
  const streams: readonly string[] = JSON.parse(row[4] ?? "[]");
  return {
    position: numberColumn(row, 2),
    tenant: decodeText(textColumn(row, 3)),
    streams: streams.map(decodeText),
  };
}

/** PostgreSQL's text of a snapshot is `xmin:xmax:xip,xip`: first running, first not yet begun, all running. */
function snapshotFromRow(
  row: ResultRow | undefined,
  upto: number,
): { readonly horizon: number; readonly seen: FollowerSnapshot } {
  const [xmin = "0", , list = ""] = textColumn(row, 0).split(":");
  const firstOf = (xid: string): number => numberColumn(row, 1) + Number(xid) * POSITIONS_PER_TRANSACTION;
  const running = list === "" ? [] : list.split(",").map(firstOf);
  return { horizon: firstOf(xmin), seen: { upto, running: running.filter((first) => first < upto) } };
}

export type PostgresFollowers = {
  follow(position: number, signal: AbortSignal): Promise<StoreChanges>;
  /** Called after a commit of this process, or a notification from another. */
  wake(): void;
  close(): void;
};

type Options = {
  readonly moves: ChangesSince;
  readonly listener: Pick<CommitListener, "start" | "rest">;
  readonly pollMs: number;
  translate(error: unknown): unknown;
  /** Timing of the queries. Default: the process's own clock. */
  readonly pace?: FollowPace;
};

type FollowPace = { now(): number; sleep(ms: number): Promise<unknown> };

type PostgresWaiter = {
  readonly position: number;
  readonly seen: FollowerSnapshot;
  /** Since when there are unsettled changes. */
  since: number | undefined;
  settle(moved: StoreChanges, seen: FollowerSnapshot): void;
  refuse(error: unknown): void;
};

/** How long changes may take to settle before they are reported unsettled. */
const GRACE_MS = 25;
const AGAIN_MS = 4;
/**
 * Commits in quick succession are read together: querying takes at most a fifth of the time. A query that had to wait
 * for the database does not show its own cost, so the pause is capped.
 */
const PAUSE_MS = 2;
const PAUSE_SHARE = 4;
const MOST_PAUSE_MS = 250;
const OWN_PACE: FollowPace = { now: () => performance.now(), sleep: (ms) => sleep(ms) };

export function createPostgresFollowers(options: Options): PostgresFollowers {
  const { listener } = options;
  const waiters = new Set<PostgresWaiter>();
  const memory = new WeakMap<AbortSignal, { readonly position: number; readonly seen: FollowerSnapshot }>();
  const wake = createLookLoop(options, waiters);
  const poll = createPoll(options.pollMs, wake);
  return {
    wake,
    follow: (position, signal) =>
      new Promise((resolve, reject) => {
        const leave = () => {
          waiters.delete(waiter);
          signal.removeEventListener("abort", abort);
          if (waiters.size > 0) return;
          poll.rest();
          listener.rest();
        };
        const abort = () => {
          leave();
          resolve({ position, streams: [] });
        };
        const before = memory.get(signal);
        const waiter: PostgresWaiter = {
          position,
          seen: before?.position === position ? before.seen : { upto: position + 1, running: [] },
          since: undefined,
          settle(moved, seen) {
            leave();
            memory.set(signal, { position: moved.position, seen });
            resolve(moved);
          },
          refuse(error) {
            leave();
            reject(error);
          },
        };
        if (signal.aborted) return abort();
        waiters.add(waiter);
        signal.addEventListener("abort", abort, { once: true });
        poll.start();
        listener.start();
        wake();
      }),
    close() {
      poll.stop();
      for (const waiter of [...waiters]) waiter.refuse(refuseClosed());
    },
  };
}

/** One round of queries at a time. A wake during it, or in the pause after it, starts another. */
function createLookLoop(
  { moves, translate, pace = OWN_PACE }: Options,
  waiters: ReadonlySet<PostgresWaiter>,
): () => void {
  let isDue = false;
  let looking = false;
  const lookAll = async () => {
    while (isDue) {
      isDue = false;
      const since = pace.now();
      const once = shareQueries(moves);
      await Promise.all([...waiters].map((waiter) => look(waiter, once)));
      const share = PAUSE_SHARE * (pace.now() - since);
      await pace.sleep(Math.min(Math.max(PAUSE_MS, share), MOST_PAUSE_MS));
    }
    looking = false;
  };
  const look = async (waiter: PostgresWaiter, once: ChangesSince) => {
    try {
      const found = await once(waiter.seen);
      if (!waiters.has(waiter) || found.moves.length === 0) return;
      if (isWorthTelling(waiter, found)) waiter.settle(changesToReport(waiter.position, found), found.seen);
      else setTimeout(wake, AGAIN_MS);
    } catch (error) {
      if (waiters.has(waiter)) waiter.refuse(translate(error));
    }
  };
  const wake = () => {
    isDue = waiters.size > 0;
    if (looking || !isDue) return;
    looking = true;
    void lookAll();
  };
  return wake;
}

/** Followers that have seen the same share one query. */
function shareQueries(moves: ChangesSince): ChangesSince {
  const asked = new Map<string, ReturnType<ChangesSince>>();
  return (seen) => {
    const name = JSON.stringify(seen);
    const answer = asked.get(name) ?? moves(seen);
    asked.set(name, answer);
    return answer;
  };
}

type FoundChanges = Awaited<ReturnType<ChangesSince>>;

function isWorthTelling(waiter: PostgresWaiter, { moves, horizon }: FoundChanges): boolean {
  if (moves.some(({ position }) => position < horizon)) return true;
  waiter.since ??= performance.now();
  return performance.now() - waiter.since >= GRACE_MS;
}

function changesToReport(position: number, { moves, horizon }: FoundChanges): StoreChanges {
  const settled = moves.filter((move) => move.position < horizon);
  const streams = new Map<string, { tenant: string; stream: StreamRef }>();
  for (const { tenant, streams: names } of moves)
    for (const name of names) {
      const stream = findStreamRef(name);
      if (stream !== undefined) streams.set(JSON.stringify([tenant, name]), { tenant, stream });
    }
  return { position: Math.max(position, ...settled.map(lastOf)), streams: [...streams.values()] };
}

const lastOf = ({ position }: CommittedChange): number => position;

type Poll = { start(): void; rest(): void; stop(): void };

/** Keeps the process alive while there is a follower, but not at rest. */
function createPoll(everyMs: number, look: () => void): Poll {
  let timer: NodeJS.Timeout | undefined;
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };
  return {
    stop,
    rest: stop,
    start() {
      timer ??= setInterval(look, everyMs);
    },
  };
}
