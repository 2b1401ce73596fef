/** SQLite through `node:sqlite` and nothing else: the limit on this machine. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeFull } from "../sqlite-durability.ts";
import { type Load, now, type OpenSystem, PAYLOAD } from "../system.ts";
import {
  ENDING,
  type Entry,
  requestName,
  STARTING,
  streamName,
  VIEW_APPLIED,
  VIEW_RUNNING,
} from "./same-rows.ts";

const SINGLE = "CREATE TABLE row (id INTEGER PRIMARY KEY, payload TEXT NOT NULL)";

const SAME = `
CREATE TABLE streams (sid INTEGER PRIMARY KEY, tid INTEGER NOT NULL, name TEXT NOT NULL, UNIQUE (tid, name));
CREATE TABLE entries (
  position INTEGER PRIMARY KEY, tid INTEGER NOT NULL, sid INTEGER NOT NULL, seq INTEGER NOT NULL, header TEXT NOT NULL,
  hash BLOB NOT NULL, salt BLOB, body TEXT, UNIQUE (sid, seq)
);
CREATE TABLE names (
  tid INTEGER NOT NULL, name TEXT NOT NULL, stream TEXT NOT NULL, PRIMARY KEY (tid, name)
) WITHOUT ROWID;
CREATE TABLE view (
  sid INTEGER PRIMARY KEY, tid INTEGER NOT NULL, bucket TEXT NOT NULL, at INTEGER NOT NULL, due INTEGER, data TEXT NOT NULL
);
CREATE INDEX view_bucket ON view (tid, bucket, at);
CREATE INDEX view_at ON view (tid, at);
CREATE INDEX view_due ON view (tid, due) WHERE due IS NOT NULL;
`;

type Calls = {
  start(sid: number): void;
  end(sid: number): void;
  commit(sids: readonly number[], work: (sid: number) => void): void;
};

function singleRow(db: DatabaseSync): (load: Load) => void {
  db.exec(SINGLE);
  const insert = db.prepare("INSERT INTO row (payload) VALUES (?)");
  return (load) => {
    while (!load.isOver()) {
      const began = now();
      insert.run(PAYLOAD);
      load.done(began);
    }
  };
}

function prepareCalls(db: DatabaseSync): Calls {
  db.exec(SAME);
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const stream = db.prepare("INSERT INTO streams (sid, tid, name) VALUES (?, 1, ?)");
  const entry = db.prepare(
    "INSERT INTO entries (tid, sid, seq, header, hash, salt, body) VALUES (1, ?, ?, ?, ?, ?, ?)",
  );
  const name = db.prepare("INSERT INTO names (tid, name, stream) VALUES (1, ?, ?)");
  const view = db.prepare("INSERT INTO view (sid, tid, bucket, at, data) VALUES (?, 1, 'running', ?, ?)");
  const update = db.prepare("UPDATE view SET bucket = 'applied', data = ? WHERE sid = ?");
  const append = (sid: number, entries: readonly Entry[]) => {
    for (const { seq, header, hash, salt, body } of entries) entry.run(sid, seq, header, hash, salt, body);
  };
  return {
    start: (sid) => {
      stream.run(sid, streamName(sid));
      append(sid, STARTING);
      view.run(sid, Date.now(), VIEW_RUNNING);
      name.run(requestName(sid), streamName(sid));
    },
    end: (sid) => {
      append(sid, ENDING);
      update.run(VIEW_APPLIED, sid);
    },
    commit: (sids, work) => {
      begin.run();
      for (const sid of sids) work(sid);
      commit.run();
    },
  };
}

/** One commit a call, or for 64 calls at once when they are batched. */
function sameRows(db: DatabaseSync): (load: Load) => void {
  const { start, end, commit } = prepareCalls(db);
  let last = 0;
  return (load) => {
    const together = load.variant === "batched" ? load.inFlight : 1;
    while (!load.isOver()) {
      const began = now();
      const sids = Array.from({ length: together }, () => ++last);
      commit(sids, (sid) => {
        start(sid);
        end(sid);
      });
      for (const _ of sids) load.done(began);
    }
  };
}

export const open: OpenSystem = async ({ folder, bench }) => {
  const db = new DatabaseSync(join(folder, "raw.db"));
  const durability = makeFull(db);
  // As Holdpoint has it; SQLite's own default is 1000.
  db.exec("PRAGMA wal_autocheckpoint=2000; PRAGMA cache_size=-16000");
  const work = bench === "raw-commit" ? singleRow(db) : sameRows(db);
  return { servers: [], durability, run: async (load) => work(load), close: async () => db.close() };
};
