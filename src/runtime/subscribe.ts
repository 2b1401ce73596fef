/**
 * Reads the log: everything that follows the journal subscribes here, and no other file keeps a cursor in the log.
 * - A subscriber gets its tenant's entries in commit order, or only the streams that changed: each at least once.
 * - A live cursor is in memory. After a failure it goes on after the last entry that the subscriber took.
 * - A kept cursor is stored by its subscriber. It is read again at the start and after each failure, so entries after
 *   it may come a second time.
 * - After a failure the next attempt comes after one second, also after a long outage. Nothing polls.
 */

import { type Clock, sleepFor } from "../kernel/clock.ts";
import type { StreamRef } from "../kernel/stream.ts";
import { errorText } from "../kernel/text.ts";
import type { JournalEntry, StoreChanges, TenantStore } from "../stores/store.ts";

const PAGE = 500;
const BACK_OFF_MS = 1_000;
/** The store may announce entries before its log shows them. */
const UNSETTLED_MS = 100;

/** Pages of a tenant's log in commit order, after a position, up to its present end. */
export async function* logPages(
  { store, tenant }: TenantStore,
  after = 0,
  limit = 1_000,
): AsyncGenerator<readonly JournalEntry[]> {
  for (let position = after; ; ) {
    const page = await store.log(tenant, position, limit);
    yield page;
    position = page.at(-1)?.position ?? position;
    if (page.length < limit) return;
  }
}

export async function* logEntries(...from: Parameters<typeof logPages>): AsyncGenerator<JournalEntry> {
  for await (const page of logPages(...from)) yield* page;
}

type KeptCursor = {
  /** Where to start. `end`: the present end of the store. */
  read(end: number): Promise<number>;
  /** Stores the position of the last entry that the subscriber took. */
  keep(position: number): Promise<unknown>;
  /** How many entries that count may come before the position is stored. */
  every(): number;
};

export type Subscriber = {
  /** Default: a live cursor, at the end of the store or at `from`. */
  readonly kept?: KeptCursor;
  readonly from?: number;
  /** Called once before anything else, or for a kept cursor after each failure; again if it fails. */
  begun?(position: number): unknown;
  /** Takes one entry. Returns whether it counts towards storing the position. `before`: the cursor before it. */
  entry?(entry: JournalEntry, before: number): Promise<boolean> | boolean;
  /** After the entries of one page. */
  pageRead?(): void;
  /** Called when all entries were taken, when the time that it returned has come, and after a ring. */
  caughtUp?(): Promise<number | null>;
  /** Streams of the tenant that changed. After a failure they come again. */
  changed?(streams: readonly StreamRef[]): unknown;
  /** Whether the entries of these streams need not be read. */
  passesOver?(streams: readonly StreamRef[]): boolean;
  /** `isNew`: the attempt before this one did not fail in the same way. */
  failed(error: unknown, isNew: boolean): void;
};

export type Subscription = {
  /** Resolves when the start is known, or when the signal aborts. */
  readonly begun: Promise<void>;
  /** Calls `caughtUp` soon, although nothing was committed. */
  ring(): void;
  /** Resolves when everything committed before this call was taken. */
  caughtUp(): Promise<void>;
  /** Resolves after the signal aborts. Rejects if the position could not be stored then. */
  readonly done: Promise<void>;
};

type LogSource = TenantStore & { readonly clock: Clock };
/** `since`: the turn under way when it began to wait. */
type Waiter = { readonly since: number; resolve(): void };

type Reading = {
  readonly log: LogSource;
  readonly to: Subscriber;
  readonly signal: AbortSignal;
  readonly begun: PromiseWithResolvers<void>;
  /** The last entry that was taken; null until the start is known. */
  cursor: number | null;
  /** The last commit that the store reported, of any tenant. */
  followed: number;
  /** Entries that count, since the position was stored. */
  unkept: number;
  /** The store's next report. A ring or a due time does not end it. */
  report: Promise<StoreChanges> | null;
  listening: AbortController;
  isRung: boolean;
  wake: (() => void) | null;
  turns: number;
  waiters: readonly Waiter[];
  /** The last failure, until a turn succeeds. */
  reported: string;
};

async function begin(reading: Reading): Promise<number> {
  const { log, to } = reading;
  const end = to.from ?? (await log.store.position());
  const position = to.kept === undefined ? end : await to.kept.read(end);
  await to.begun?.(position);
  reading.followed = end;
  reading.unkept = 0;
  reading.cursor = position;
  reading.begun.resolve();
  return position;
}

async function keepPosition(reading: Reading): Promise<void> {
  const { to, cursor } = reading;
  if (cursor !== null) await to.kept?.keep(cursor);
  reading.unkept = 0;
}

async function takePage(reading: Reading, page: readonly JournalEntry[]): Promise<void> {
  const { to, signal } = reading;
  for (const entry of page) {
    if (signal.aborted) return;
    const taken = to.entry?.(entry, reading.cursor ?? 0) ?? false;
    if (taken instanceof Promise ? await taken : taken) reading.unkept++;
    reading.cursor = entry.position;
  }
  to.pageRead?.();
  if (to.kept !== undefined && reading.unkept >= to.kept.every()) await keepPosition(reading);
}

async function readOn(reading: Reading, from: number): Promise<void> {
  for await (const page of logPages(reading.log, from, PAGE)) {
    await takePage(reading, page);
    if (reading.signal.aborted) return;
  }
}

function nextReport(reading: Reading): Promise<StoreChanges> {
  const { log, followed, listening } = reading;
  const report = log.store.follow(followed, listening.signal);
  reading.report = report;
  report.catch(() => {
    reading.report = null;
  });
  return report;
}

/** Resolves at the next ring, or at once if there was one since the last wait. */
const rung = (reading: Reading): Promise<undefined> =>
  new Promise((resolve) => {
    if (reading.isRung) return resolve(undefined);
    reading.wake = () => resolve(undefined);
  });

/** undefined: a ring came first, or the time was due. */
async function waitForReport(reading: Reading, due: number | null): Promise<StoreChanges | undefined> {
  const { clock } = reading.log;
  const timer = new AbortController();
  const report = reading.report ?? nextReport(reading);
  const late = due === null ? [] : [sleepFor(clock, Math.max(due - clock.now(), 1), timer.signal)];
  try {
    return (await Promise.race([report, rung(reading), ...late])) ?? undefined;
  } finally {
    timer.abort();
    reading.wake = null;
    reading.isRung = false;
  }
}

/** The report is kept until the subscriber took it. */
async function takeReport(reading: Reading, { position, streams }: StoreChanges): Promise<void> {
  const { log, to, signal, followed } = reading;
  const own = streams.filter(({ tenant }) => tenant === log.tenant).map(({ stream }) => stream);
  if (own.length > 0) await to.changed?.(own);
  reading.report = null;
  reading.followed = position;
  if (to.entry === undefined) return;
  if (reading.unkept === 0 && to.passesOver?.(own) === true)
    reading.cursor = Math.max(reading.cursor ?? 0, position);
  if (position > followed || streams.length === 0) return;
  // A store reports what is not settled once to each signal: a new one hears of it until the log shows it.
  reading.listening = new AbortController();
  await log.clock.sleep(UNSETTLED_MS, signal);
}

async function turn(reading: Reading): Promise<void> {
  const { to, signal } = reading;
  const own = ++reading.turns;
  const from = reading.cursor ?? (await begin(reading));
  if (to.entry !== undefined) await readOn(reading, from);
  if (signal.aborted) return;
  const due = (await to.caughtUp?.()) ?? null;
  const [waiting, heard] = [[] as Waiter[], [] as Waiter[]];
  for (const waiter of reading.waiters) (waiter.since < own ? heard : waiting).push(waiter);
  reading.waiters = waiting;
  for (const { resolve } of heard) resolve();
  const report = await waitForReport(reading, due);
  if (report !== undefined) await takeReport(reading, report);
  reading.reported = "";
}

async function recover(reading: Reading, error: unknown): Promise<void> {
  const { log, to, signal } = reading;
  if (signal.aborted) return;
  const text = errorText(error);
  to.failed(error, reading.reported !== text);
  reading.reported = text;
  if (to.kept !== undefined) reading.cursor = null;
  await log.clock.sleep(BACK_OFF_MS, signal);
}

async function run(reading: Reading): Promise<void> {
  const { signal } = reading;
  const stop = () => {
    reading.listening.abort();
    reading.wake?.();
  };
  signal.addEventListener("abort", stop, { once: true });
  while (!signal.aborted) await turn(reading).catch((error: unknown) => recover(reading, error));
  signal.removeEventListener("abort", stop);
  for (const { resolve } of reading.waiters) resolve();
  reading.begun.resolve();
  if (reading.unkept > 0) await keepPosition(reading);
}

/** Follows the log until the signal aborts. */
export function subscribe(log: LogSource, to: Subscriber, signal: AbortSignal): Subscription {
  const reading: Reading = {
    log,
    to,
    signal,
    begun: Promise.withResolvers(),
    cursor: null,
    followed: 0,
    unkept: 0,
    report: null,
    listening: new AbortController(),
    isRung: false,
    wake: null,
    turns: 0,
    waiters: [],
    reported: "",
  };
  const ring = () => {
    reading.isRung = true;
    reading.wake?.();
  };
  return {
    begun: reading.begun.promise,
    ring,
    caughtUp: () =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        reading.waiters = [...reading.waiters, { since: reading.turns, resolve }];
        ring();
      }),
    done: run(reading),
  };
}
