/**
 * Notifies other processes of commits: after the commit, never inside it, at a limited rate, and only if one is
 * listening. A listener holds a shared lock; trying the exclusive one detects it, without a table or a write.
 */

import { HoldpointError } from "../../kernel/errors.ts";
import type { Client } from "./connect.ts";
import { limitIdleTime } from "./connect.ts";
import { encodeHalves, type Halves } from "./encode.ts";
import { type QueryRunner, textColumn } from "./query.ts";

export type CommitNotifier = { tell(): void; close(): Promise<void> };

/** Pause between two notifications. Under steady load without listeners, checking for them costs more than it gains. */
const PAUSE_MS = 10;
const PAUSE_ALONE_MS = 40;

const NOTIFY = {
  name: "hp_tell",
  text: `SELECT CASE WHEN pg_try_advisory_lock(k) THEN pg_advisory_unlock(k)::text ELSE pg_notify($2, '')::text END
    FROM unnest($1::int8[]) k`,
};

type Channel = { readonly name: string; readonly lock: Halves };

/** If a notification fails, the slow poll of the followers finds the commit. */
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

/** Undefined if it could not connect. `dropped` is called when it ends, for any reason. */
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
 * Its own connection, while there is a follower; reconnects if it drops. It never keeps the process alive. A connection
 * being closed may end after the next one has opened.
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

/** Referenced again: nothing else may keep the process alive until the server has closed the connection. */
async function disconnect(client: Client): Promise<void> {
  (client as Client & Referred).ref();
  limitIdleTime(client, PART_MS);
  await client.end().catch(() => {});
}

export const refuseClosed = (): HoldpointError =>
  new HoldpointError("closed", "The store was closed while somebody followed it.");
