/**
 * Tells other processes that something was committed: after the commit, never inside it, at most once in a while, and
 * only if somebody waits. Who waits holds a shared lock; a try for the exclusive one tells, without a table or a write.
 */

import { HoldpointError } from "../../kernel/errors.ts";
import { limitIdleTime } from "./connect.ts";
import type { Client } from "./driver.ts";
import { encodeHalves, type Halves } from "./encode.ts";
import { type QueryRunner, textColumn } from "./query.ts";

export type CommitNotifier = { tell(): void; close(): Promise<void> };

/** Between two tellings. Under steady load with nobody to tell, asking costs more than it is worth. */
const PAUSE_MS = 10;
const PAUSE_ALONE_MS = 40;

const NOTIFY = {
  name: "hp_tell",
  text: `SELECT CASE WHEN pg_try_advisory_lock(k) THEN pg_advisory_unlock(k)::text ELSE pg_notify($2, '')::text END
    FROM unnest($1::int8[]) k`,
};

type Channel = { readonly name: string; readonly lock: Halves };

/** A telling that fails is made good by the slow poll of those who wait. */
export function createCommitNotifier({ ask }: QueryRunner, { name, lock }: Channel): CommitNotifier {
  const values = [encodeHalves([lock]), name];
  let isDue = false;
  let isClosed = false;
  let isTelling = false;
  const tellAll = async () => {
    isTelling = true;
    while (isDue && !isClosed) {
      isDue = false;
      const [rows = []] = await ask("ids", { statement: NOTIFY, values }).catch(() => []);
      const isAlone = textColumn(rows[0], 0) === "true";
      const pause = isAlone ? PAUSE_ALONE_MS : PAUSE_MS;
      await new Promise<void>((resolve) => setTimeout(resolve, pause).unref());
    }
    isTelling = false;
  };
  return {
    tell() {
      isDue = true;
      if (!isTelling) void tellAll();
    },
    async close() {
      isClosed = true;
    },
  };
}

export type CommitListener = { start(): void; rest(): void; close(): Promise<void> };

type Listening = {
  readonly connect: () => Promise<{ readonly client: Client; free(): void }>;
  readonly channel: Channel;
  heard(): void;
};

const LINGER_MS = 1_000;
const RETRY_MS = 500;
const PART_MS = 1_000;

type Opened = Promise<Client | undefined>;

/** Undefined where it could not be made. `dropped` is told however it ends. */
async function openListener({ connect, channel, heard }: Listening, dropped: () => void): Opened {
  let fresh: Client | undefined;
  try {
    const { client, free } = await connect();
    fresh = client;
    fresh.on("notification", heard);
    fresh.once("end", dropped);
    await register(fresh, channel);
    free();
    (fresh as Client & Referred).unref();
    heard();
    return fresh;
  } catch {
    dropped();
    if (fresh !== undefined) await disconnect(fresh);
    return undefined;
  }
}

const disconnectOpened = async (opened: Opened | undefined): Promise<void> => {
  const client = await opened;
  if (client !== undefined) await disconnect(client);
};

/**
 * A connection of its own, while somebody waits; one that drops is made again. It never keeps the process alive. One that is
 * parted from may end when there is another one already.
 */
export function createCommitListener(listening: Listening): CommitListener {
  let current: Opened | undefined;
  let parted: Promise<unknown> = Promise.resolve();
  let isWanted = false;
  let isClosed = false;
  let linger: NodeJS.Timeout | undefined;
  const listen = () => {
    if (!isWanted || isClosed || current !== undefined) return;
    const own: Opened = openListener(listening, () => {
      if (current !== own) return;
      current = undefined;
      setTimeout(listen, RETRY_MS).unref();
    });
    current = own;
  };
  const stop = async () => {
    isWanted = false;
    parted = Promise.all([parted, disconnectOpened(current)]);
    current = undefined;
    await parted;
  };
  return {
    start() {
      clearTimeout(linger);
      isWanted = true;
      listen();
    },
    rest() {
      clearTimeout(linger);
      linger = setTimeout(() => void stop(), LINGER_MS).unref();
    },
    async close() {
      isClosed = true;
      clearTimeout(linger);
      await stop();
    },
  };
}

async function register(client: Client, { name, lock }: Channel): Promise<void> {
  await client.query(`LISTEN "${name}"`);
  const key = "((($1::int8) << 32) | ($2::int8 & 4294967295))";
  await client.query(`SELECT pg_advisory_lock_shared(${key})`, [lock.high, lock.low]);
}

type Referred = { ref(): void; unref(): void };

/** Referred to again: nothing else may be left that keeps the process alive until the server has said goodbye. */
async function disconnect(client: Client): Promise<void> {
  (client as Client & Referred).ref();
  limitIdleTime(client, PART_MS);
  await client.end().catch(() => {});
}

export const refuseClosed = (): HoldpointError =>
  new HoldpointError("closed", "The store was closed while somebody followed it.");
