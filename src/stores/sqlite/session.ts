/** One process's hold on a store's file: what is opened together and closed together. */
import path from "node:path";
import { isHoldpointError } from "../../kernel/errors.ts";
import type { Most } from "../cache.ts";
import { tableOf } from "../project.ts";
import type { EpochHold } from "../store.ts";
import { alreadyHeld, type Hold, holdEpoch } from "./epochs.ts";
import { createFollowers, type Followers, PAUSE_MS } from "./follow.ts";
import { createWriter, type Writer } from "./group-commit.ts";
import { type Journal, prepareJournal } from "./journal.ts";
import { readMeta, refuseNewer } from "./migrations.ts";
import { type OpenFile, openFile } from "./open-file.ts";
import type { SqliteOptions } from "./options.ts";
import { type Patience, patiently } from "./patience.ts";
import { goOn } from "./rebuild-views.ts";
import { checkViews } from "./view-tables.ts";
import { writeTransaction } from "./write-transaction.ts";

export type Session = {
  readonly folder: string;
  readonly patience: Patience;
  readonly opened: OpenFile;
  readonly journal: Journal;
  readonly writer: Writer;
  readonly followers: Followers;
  readonly holds: Set<Hold>;
};

const BUSY_MS = 15_000;
/** Somebody may be looking at this very moment whether the epoch is held. */
const LOOKING_MS = 250;
const MOST_HEADS: Most = { count: 20_000, size: 64 * 1024 * 1024 };

export async function openSession(
  options: SqliteOptions,
  damaged: (error: unknown) => void,
): Promise<Session> {
  const { folds, clock, random, mode = "read-write", busyMs = BUSY_MS, mostHeads = MOST_HEADS } = options;
  const folder = path.resolve(options.folder);
  const patience = { random, busyMs };
  const projections = tableOf(options.projections);
  const open = options.hooks?.open;
  const opened = await openFile({ folder, mode, projections, patience, open, damaged });
  const { db, incarnation } = opened;
  try {
    const journal = prepareJournal({
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
    const followers = createFollowers({ folder, db, moved: journal.reads.moved, pauseMs });
    const writer = openWriter({ options, opened, journal, followers });
    await goOn({ journal, writer });
    return { folder, patience, opened, journal, writer, followers, holds: new Set() };
  } catch (error) {
    closeFile(opened);
    throw error;
  }
}

type Parts = {
  readonly options: SqliteOptions;
  readonly opened: OpenFile;
  readonly journal: Journal;
  readonly followers: Followers;
};

function openWriter({ options, opened, journal, followers }: Parts): Writer {
  const { db, file } = opened;
  const { heads, tenants, marker, patience } = journal;
  const around = options.hooks?.commit ?? ((commit) => commit());
  const check = watchLayout(journal);
  const committed = followers.wake;
  const transaction = writeTransaction({
    db,
    file,
    heads,
    tenants,
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
function watchLayout({ db, projections }: Journal): () => void {
  const select = db.prepare("SELECT value FROM hp_meta WHERE key = 'layout'");
  let seen: unknown = readMeta(db, "layout");
  return () => {
    const now = select.get()?.["value"];
    if (now === seen) return;
    refuseNewer(db);
    checkViews(db, projections);
    seen = now;
  };
}

export async function hold(session: Session, id: string): Promise<EpochHold> {
  const { folder, patience, holds } = session;
  try {
    const held = await patiently({ ...patience, busyMs: LOOKING_MS }, () => holdEpoch(folder, id));
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
    throw isHoldpointError(error, "store_busy") ? alreadyHeld(id, error) : error;
  }
}

export async function closeSession({ writer, followers, holds, opened }: Session): Promise<void> {
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
