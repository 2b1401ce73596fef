/**
 * The storage port. A store keeps streams of hash-chained entries, unique names that lead to a stream, artifacts, views
 * and seals; `memory/`, `sqlite/` and `postgres/` implement it and one contract suite proves them equal.
 *
 * - `transact` appends to all streams or to none, and returns only after the append is durable.
 * - What `decide` sees (states, names, time) cannot change until its events are written.
 * - `now` is read after the locks and is never before a fact that the decision can see: an entry's time never goes
 *   backwards within its stream, even if the clock does.
 * - Views are written in the same transaction, from the folded state alone, so they can be rebuilt from the journal.
 * - If it is unknown whether a commit happened, `transact` throws `commit_unknown`.
 */
import type { Entry } from "../journal/entry.ts";
import type { Seal, SealDraft } from "../journal/seal.ts";
import type { JsonObject } from "../kernel/json.ts";
import type { StreamKind } from "../kernel/registry.ts";
import type { StreamRef } from "../kernel/stream.ts";
import type { Decide, DecideResult, DecisionScope, Needs } from "../kernel/transaction.ts";
import type { StateOf } from "../states.ts";

/** One entry with its position in the store's commit order: positions rise, and may have gaps. */
export type JournalEntry = Entry & { readonly position: number };

/** One row per stream, computed from its folded state, for lists and indexes. A decision reads index rows only. */
export type ViewRow = {
  readonly stream: StreamRef;
  /** Filter key of a list, for example the state. */
  readonly bucket: string;
  /** Sort key of a list. */
  readonly at: number;
  /** When something has to happen to the stream by itself, for example an approval's deadline. */
  readonly due: number | null;
  readonly data: JsonObject;
};

/** A pure function from a stream's state to its row; `undefined`: no row. `version` must change with `row`. */
export type Projection<K extends StreamKind = StreamKind> = {
  readonly view: string;
  readonly kind: K;
  readonly version: number;
  /** Oldest version whose rows may coexist with these: processes that write them go on. Default: `version`. */
  readonly oldest?: number;
  row(id: string, state: StateOf<K>): Omit<ViewRow, "stream"> | undefined;
  /** Its row without the data, where that is cheaper to make than the row. */
  keys?(state: StateOf<K>): RowKeys | undefined;
  /** True only if both states make the same row, which is then not written again. */
  isSame?(before: StateOf<K>, after: StateOf<K>): boolean;
};

export type RowKeys = Pick<ViewRow, "bucket" | "at" | "due">;

/** A projection as a store runs it, on states that it folded itself from streams of the projection's kind. */
export type StoredProjection = Omit<Projection, "row" | "keys" | "isSame"> & {
  row(id: string, state: unknown): Omit<ViewRow, "stream"> | undefined;
  keys?(state: unknown): RowKeys | undefined;
  isSame?(before: unknown, after: unknown): boolean;
};

/** `left`: streams that could not be folded (newer events, erased bodies), whose rows stay as they were. */
export type Rebuilt = { readonly streams: number; readonly left: number };

export type ViewQuery = {
  readonly view: string;
  readonly bucket?: string;
  /** Only rows whose `due` is at or before this time; null: only rows that are never due. */
  readonly dueBy?: number | null;
  /** Rows strictly after this one. Rows with the same `at` are ordered by the age of their streams. */
  readonly after?: { readonly at: number; readonly stream: string };
  readonly order?: "oldest" | "newest";
  readonly limit: number;
};

/** Like a query for due rows, but each row goes to one caller only, until its lease ends. */
export type ViewClaim = {
  readonly view: string;
  readonly bucket?: string;
  readonly dueBy: number;
  readonly limit: number;
  readonly leaseMs: number;
};

/** The streams that moved since a position, to wake waiting callers. */
export type StoreChanges = {
  readonly position: number;
  readonly streams: readonly { tenant: string; stream: StreamRef }[];
};

/** A hold that is a lease must be renewed within `leaseMs`; renewing a lapsed one throws `epoch_ended`. */
export type EpochHold = {
  release(): Promise<void>;
  /** The hold survives `close` of the store: a lease until it lapses, a lock until its process ends. */
  leave(): void;
  readonly leaseMs?: number;
  renew?(): Promise<void>;
};

/** Features that distinguish one location from another, by name; unknown ones are left out. A copy has other values. */
export type StoreLocation = { readonly [part: string]: string };

export type Home = {
  /** The current name of the history, its recorded home, and its actual location. */
  look(): Promise<{
    readonly incarnation: string;
    readonly noted: StoreLocation | null;
    readonly found: StoreLocation;
  }>;
  /** Records a location as the home, and with a name renames the history. One commit. */
  note(place: StoreLocation, incarnation?: string): Promise<void>;
};

/** The application's own tables, in the same transaction as the journal. Holdpoint's tables are not accessible. */
export type SqlTransaction = {
  run(sql: string, ...values: readonly SqlValue[]): { readonly changes: number };
  all(sql: string, ...values: readonly SqlValue[]): readonly Readonly<Record<string, SqlValue>>[];
};
export type SqlValue = null | number | bigint | string | Uint8Array;

export type Store = {
  /** The name of this store's history when it was opened. An acknowledged restore changes it. */
  readonly incarnation: string;
  /** Present on stores that can be copied or restored without the program noticing. */
  readonly home?: Home;

  transact<Result>(tenant: string, needs: Needs, decide: Decide<Result>): Promise<Result>;
  /**
   * Optional: the decision runs inside its own SQL transaction, outside group commit, and may write the application's
   * tables through `sql`. If it throws, the application's writes are rolled back with the journal's.
   */
  transactWithSql?<Result>(
    tenant: string,
    needs: Needs,
    decide: (sight: DecisionScope, sql: SqlTransaction) => DecideResult<Result>,
  ): Promise<Result>;

  /** Entries of one stream, oldest first. An unknown stream has none. */
  read(
    tenant: string,
    stream: StreamRef,
    options?: { fromSeq?: number; limit?: number },
  ): Promise<readonly JournalEntry[]>;
  /** Entries of a whole tenant in commit order, after a position. */
  log(tenant: string, after: number, limit: number): Promise<readonly JournalEntry[]>;

  query(tenant: string, query: ViewQuery): Promise<readonly ViewRow[]>;
  /**
   * Takes due rows, oldest first: no other caller in any process gets the same row within `leaseMs` of the store's
   * time. If a caller dies, its claim expires then. Finding nothing writes nothing.
   */
  claim(tenant: string, claim: ViewClaim): Promise<readonly ViewRow[]>;
  /** Number of rows in a bucket. */
  count(tenant: string, view: string, bucket: string): Promise<number>;
  /** Discards all views and folds them again from the journal; reports progress. */
  rebuildViews(progress?: (done: number, total: number) => void): Promise<Rebuilt>;

  /** The store's last commit position. */
  position(): Promise<number>;
  /**
   * Resolves when any process has committed after `position`, or when `signal` aborts (then with no streams). Closing
   * the store rejects it. No busy loop, no timer longer than a day.
   */
  follow(position: number, signal: AbortSignal): Promise<StoreChanges>;

  artifact(tenant: string, hash: string): Promise<Uint8Array | undefined>;

  /**
   * Takes a hold under an epoch's id that is released by itself when this process dies. `epochHeld` returns whether any
   * living process has it.
   */
  holdEpoch(id: string): Promise<EpochHold>;
  epochHeld(id: string): Promise<boolean>;

  /**
   * Seals what moved in a tenant since its last seal. `sign` gets the draft inside one transaction, so that two sealers
   * never seal the same heads. Returns undefined if nothing moved.
   */
  seal(tenant: string, sign: (draft: SealDraft) => Seal): Promise<Seal | undefined>;
  seals(tenant: string, after?: number): Promise<readonly Seal[]>;
  /** The first seal that covers a commit position, or the last seal of all; undefined if there is none yet. */
  sealOver(tenant: string, position: number | "last"): Promise<Seal | undefined>;
  /** Tenants that have entries. */
  tenants(): Promise<readonly string[]>;

  /** Small encrypted rows stored next to the journal, never in it. */
  putSecret(tenant: string, id: string, sealed: Uint8Array): Promise<void>;
  getSecret(tenant: string, id: string): Promise<Uint8Array | undefined>;

  close(): Promise<void>;
};

/** One tenant of a store: what most code needs to read or to decide. */
export type TenantStore = { readonly store: Store; readonly tenant: string };
