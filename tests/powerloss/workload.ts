/**
 * A program at work on a disk that remembers: calls of every kind, votes, budgets, secrets and seals, many at a time, with
 * checkpoints and restarts. A seed repeats it to the byte. Whatever the program is told goes into the disk's log at that
 * very place.
 */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Answer } from "../../src/effects/answer.ts";
import { openSqliteStore } from "../../src/stores/sqlite/open.ts";
import { FOLDS } from "../../src/streams.ts";
import { type MovableClock, movableClock, PROJECTIONS, settled } from "../fixtures/runtime.ts";
import { type Chance, chanceOf } from "./chance.ts";
import { openConnection } from "./connection.ts";
import { createDisk, type Disk, type Files, type Lie } from "./disk.ts";
import { type Args, LEDGER, type Program, startProgram, type ToolName } from "./program.ts";
import { mount } from "./sqlite-on-disk.ts";

export type Told =
  | { readonly kind: "answer"; readonly call: Call; readonly answer: Answer<unknown> }
  | { readonly kind: "vote"; readonly approval: string; readonly approved: boolean }
  | { readonly kind: "limit"; readonly micros: bigint }
  | { readonly kind: "secret"; readonly handle: string; readonly value: string }
  | { readonly kind: "seal"; readonly n: number };

export type Call = { readonly tool: ToolName; readonly args: Args; readonly requestId: string };

/** What is wrong on purpose. */
export type Fault = Lie | "synchronous_normal" | "early_answer";
export const FAULTS: readonly Fault[] = [
  "synchronous_normal",
  "early_answer",
  "no_sync",
  "no_database_sync",
  "no_folder_sync",
];

export type WorkloadOptions = {
  readonly seed: number;
  /** An image that an earlier cut left, and what had been told by then. */
  readonly after?: { readonly files: Files; readonly told: readonly Told[] };
  readonly fault?: Fault | undefined;
};

export type Workload = {
  readonly seed: number;
  readonly disk: Disk;
  /** By the numbers in the log's marks; those before `toldBefore` stood before the first operation. */
  readonly told: readonly Told[];
  readonly toldBefore: number;
  readonly settings: Settings;
};

type Settings = {
  readonly autocheckpoint: number;
  readonly cacheKib: number;
  readonly inFlight: number;
  readonly rounds: number;
  readonly restarts: number;
};

type Work = WorkloadOptions & {
  readonly disk: Disk;
  readonly chance: Chance;
  readonly clock: MovableClock;
  readonly folder: string;
  readonly settings: Settings;
  tell(told: Told): void;
};

const EMPTY: Files = new Map([["journal.db", new Uint8Array(0)]]);
const DAY_MS = 86_400_000;
const START = 1_800_000_000_000;

export async function work(options: WorkloadOptions): Promise<Workload> {
  const { seed, after } = options;
  const lie = options.fault?.startsWith("no_") ? (options.fault as Lie) : undefined;
  const disk = createDisk(after?.files ?? EMPTY, lie);
  const chance = chanceOf(seed);
  const told: Told[] = [...(after?.told ?? [])];
  const toldBefore = told.length;
  const settings = settingsOf(chance);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "holdpoint-powerloss-"));
  const tell = (one: Told) => disk.mark({ mark: "told", told: told.push(one) - 1 });
  mount(disk, chance.bytes);
  try {
    // A clock of its own for each seed: a later life begins after the one before.
    const clock = movableClock(START + seed * DAY_MS);
    await withoutTime(() => live({ ...options, disk, chance, clock, folder, settings, tell }));
  } catch (error) {
    throw new Error(`seed ${seed}: the program could not do its work`, { cause: error });
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
  return { seed, disk, told, toldBefore, settings };
}

function settingsOf(chance: Chance): Settings {
  return {
    autocheckpoint: chance.pick([2000, 200, 40, 8, 1]),
    cacheKib: chance.pick([16_000, 64]),
    inFlight: chance.pick([1, 4, 12, 24]),
    rounds: 6 + chance.below(8),
    restarts: chance.below(3),
  };
}

/** How long a batch takes is measured; here it must not depend on how busy the machine is. Every look is a millisecond. */
async function withoutTime(run: () => Promise<void>): Promise<void> {
  let looks = 0;
  Object.defineProperty(performance, "now", { configurable: true, value: () => looks++ });
  try {
    await run();
  } finally {
    Reflect.deleteProperty(performance, "now");
  }
}

async function live(work: Work): Promise<void> {
  const { settings, disk } = work;
  let n = work.seed * 100_000;
  for (let life = 0; life <= settings.restarts; life++) {
    disk.mark({ mark: "opening" });
    const program = await open(work);
    disk.mark({ mark: "opened" });
    // A call on a budget that nobody opened is held, and its answer may change.
    await limit(work, program, n);
    for (let round = 0; round < settings.rounds; round++) n = await callMany(work, program, n);
    disk.mark({ mark: "closing" });
    await program.close();
    disk.mark({ mark: "closed" });
  }
}

async function open({ disk, chance, clock, folder, settings, fault }: Work): Promise<Program> {
  const store = await openSqliteStore({
    folder,
    folds: FOLDS,
    projections: PROJECTIONS,
    clock,
    random: chance.bytes,
    hooks: {
      open: (file) =>
        fault === "early_answer" ? answeringEarly(openConnection(file)) : openConnection(file),
      connected(db) {
        if (fault === "synchronous_normal") db.exec("PRAGMA synchronous=NORMAL");
        db.exec(
          `PRAGMA wal_autocheckpoint=${settings.autocheckpoint}; PRAGMA cache_size=-${settings.cacheKib}`,
        );
        db.exec(LEDGER);
      },
      pauseMs: 0,
      commit(commit, members) {
        disk.mark({ mark: "commit_begins", members });
        commit();
        disk.mark({ mark: "commit_returned" });
      },
    },
  });
  return startProgram({ store, clock, random: chance.bytes });
}

/** A planted bug: "committed" is said at once, and the commit happens when the next transaction begins. */
function answeringEarly(db: DatabaseSync): DatabaseSync {
  let owed = false;
  const owe = () => {
    owed = true;
  };
  const pay = () => {
    if (owed) db.exec("COMMIT");
    owed = false;
  };
  const prepare = (sql: string) => {
    const statement = db.prepare(sql);
    if (sql === "COMMIT") return { ...statement, run: owe };
    if (!sql.startsWith("BEGIN")) return statement;
    return {
      ...statement,
      run() {
        pay();
        return statement.run();
      },
    };
  };
  return {
    get isOpen() {
      return db.isOpen;
    },
    get isTransaction() {
      return !owed && db.isTransaction;
    },
    exec: (sql: string) => db.exec(sql),
    prepare,
    setAuthorizer: db.setAuthorizer,
    close() {
      pay();
      db.close();
    },
  } as unknown as DatabaseSync;
}

const MIX: readonly ToolName[] = [
  ...(["pay", "pay", "pay", "ask", "ask_two", "big", "capped", "capped"] as const),
  ...(["look", "blocked", "fails", "breaks", "ledger"] as const),
];

async function callMany(work: Work, program: Program, from: number): Promise<number> {
  const { chance, settings, clock, tell } = work;
  const count = 1 + chance.below(settings.inFlight);
  let open = count;
  const calls = Array.from({ length: count }, async (_, index) => {
    const call = callOf(chance, from + index);
    const answer = await program.tools[call.tool](call.args, { requestId: call.requestId });
    tell({ kind: "answer", call, answer });
    open--;
  });
  calls.push(...beside(work, program, from));
  while (open > 0) await vote(work, program);
  await Promise.all(calls);
  await clock.advance(200 + chance.below(800));
  return from + count;
}

function callOf(chance: Chance, n: number): Call {
  const tool = chance.pick(MIX);
  const size = chance.pick([10, 1_000, 70_000, 70_000, 300_000]);
  return { tool, args: { n, size }, requestId: `${tool} ${n}` };
}

/** Other verbs, at the same time as the calls. */
function beside({ chance, tell }: Work, program: Program, from: number): Promise<void>[] {
  const secret = async () => {
    const value = `secret ${from}`;
    const { $secret } = await program.putSecret(value);
    tell({ kind: "secret", handle: $secret, value });
  };
  const seal = async () => {
    const made = await program.seals.create();
    if (made !== undefined) tell({ kind: "seal", n: made.n });
  };
  const rebuild = async () => void (await program.journal.rebuildViews());
  const verbs = [secret, seal, rebuild, () => limit({ tell }, program, from)];
  return verbs.flatMap((verb) => (chance.happens(0.3) ? [verb()] : []));
}

async function limit({ tell }: Pick<Work, "tell">, program: Program, n: number): Promise<void> {
  const micros = 1_000_000_000n + BigInt(n);
  await program.budgets.limit("shared", { currency: "USD", micros });
  tell({ kind: "limit", micros });
}

async function vote({ chance, tell }: Work, program: Program): Promise<void> {
  await settled(4);
  const { items } = await program.approvals.list();
  const votes = items.map(async ({ id }) => {
    const approved = chance.happens(0.8);
    const by = "person:ann";
    if (approved) await program.approvals.approve(id, { by });
    else await program.approvals.reject(id, { by, reason: "not this one" });
    tell({ kind: "vote", approval: id, approved });
    if (approved) await program.approvals.approve(id, { by: "person:bob" }).catch(() => undefined);
  });
  await Promise.all(votes);
}
