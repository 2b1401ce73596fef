/**
 * The port of everything that remembers. A store keeps streams of hash-chained entries, unique names that lead to a
 * stream, artifacts, views and seals; `memory/`, `sqlite/` and `postgres/` implement it and one contract suite proves
 * them equal.
 *
 * P1. `transact` appends to all streams or to none, and answers only after the append is durable.
 * P2. What `decide` sees (states, names, time) cannot change until its events are written.
 * P3. `now` is read after the locks and is never before a fact that the decision can see: an entry's time never goes
 *     backwards within its stream, even when the clock does.
 * P4. Views are written in the same transaction, from the folded state alone, so they can be rebuilt from the journal.
 * P5. An answer that cannot be known (the commit may or may not have happened) is the error `commit_unknown`.
 */
import type { StoredEntry } from "../journal/entry.ts";
import type { Seal, SealDraft } from "../journal/seal.ts";
import type { JsonObject } from "../kernel/json.ts";
import type { StreamKind, StreamRef } from "../kernel/stream.ts";
import type { Decide, DecideResult, DecisionScope, Needs } from "../kernel/transaction.ts";
import type { StateOf } from "../states.ts";

/** One entry with its place in the store's commit order: positions rise, and may leave gaps. */
export type JournalEntry = StoredEntry & { readonly position: number };

/** One row per stream, computed from its folded state: what lists show. Never consulted by a decision. */
export type ViewRow = {
  readonly stream: StreamRef;
  /** What a list is filtered by, for example the state. */
  readonly bucket: string;
  /** What a list is ordered by. */
  readonly at: number;
  /** When something has to happen to the stream by itself, for example an approval's deadline. */
  readonly due: number | null;
  readonly data: JsonObject;
};

/** A pure function from a stream's state to its row; `undefined` means no row. `version` changes with `row`. */
export type Projection<K extends StreamKind = StreamKind> = {
  readonly view: string;
  readonly kind: K;
  readonly version: number;
  /** The oldest version whose rows may stand beside these: processes that write them go on. This one unless set. */
  readonly oldest?: number;
  row(id: string, state: StateOf<K>): Omit<ViewRow, "stream"> | undefined;
  /** True only when both states make the same row: it is then not written again. */
  isSame?(before: StateOf<K>, after: StateOf<K>): boolean;
};

/** `left`: streams that could not be folded (newer events, erased bodies) and whose rows were left as they were. */
export type Rebuilt = { readonly streams: number; readonly left: number };

export type ViewQuery = {
  readonly view: string;
  readonly bucket?: string;
  /** Only rows whose `due` is at or before this time; null: only those that are never due. */
  readonly dueBy?: number | null;
  /** Rows strictly after this one. Rows of the same `at` are ordered by the age of their streams. */
  readonly after?: { readonly at: number; readonly stream: string };
  readonly order?: "oldest" | "newest";
  readonly limit: number;
};

/** Like a query for what is due; each row is handed to one caller only, until its lease is over. */
export type ViewClaim = {
  readonly view: string;
  readonly bucket?: string;
  readonly dueBy: number;
  readonly limit: number;
  readonly leaseMs: number;
};

/** What moved since a position: enough to wake whoever waits. */
export type StoreChanges = {
  readonly position: number;
  readonly streams: readonly { tenant: string; stream: StreamRef }[];
};

/** Where a hold is a lease it has to be renewed within `leaseMs`; renewing one that lapsed is the error `epoch_ended`. */
export type EpochHold = {
  release(): Promise<void>;
  /** Closing the store does not release it: it stays until its lease runs out, or, where it is a lock, its process ends. */
  leave(): void;
  readonly leaseMs?: number;
  renew?(): Promise<void>;
};

/** What tells one place from another, by name; what cannot be found out is left out. A copy lives elsewhere. */
export type StoreLocation = { readonly [part: string]: string };

export type Home = {
  /** The history's name now, where it was last at home by its own notes, and where it is found. */
  look(): Promise<{
    readonly incarnation: string;
    readonly noted: StoreLocation | null;
    readonly found: StoreLocation;
  }>;
  /** Notes a place as its home; with a name, the history goes on under that. One commit. */
  note(place: StoreLocation, incarnation?: string): Promise<void>;
};

/** The application's own tables, inside the same transaction as the journal. Holdpoint's tables are out of reach. */
export type SqlTransaction = {
  run(sql: string, ...values: readonly SqlValue[]): { readonly changes: number };
  all(sql: string, ...values: readonly SqlValue[]): readonly Readonly<Record<string, SqlValue>>[];
};
export type SqlValue = null | number | bigint | string | Uint8Array;

export type Store = {
  /** The name of this store's history when it was opened; a restore that was acknowledged gives it another. */
  readonly incarnation: string;
  /** A capability of stores that can be copied or restored behind a program's back. */
  readonly home?: Home;

  transact<Result>(tenant: string, needs: Needs, decide: Decide<Result>): Promise<Result>;
  /**
   * A capability some stores have: the decision runs inside an SQL transaction of its own, outside group commit, and may
   * write the application's tables through `sql`. If it throws, the application's writes are undone with ours.
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
   * Takes what is due, oldest first: no other caller of any process gets the same row within `leaseMs` of the store's
   * time. Whoever dies with a claim loses it by that time. Finding nothing writes nothing.
   */
  claim(tenant: string, claim: ViewClaim): Promise<readonly ViewRow[]>;
  /** How many rows a bucket has. */
  count(tenant: string, view: string, bucket: string): Promise<number>;
  /** Throws views away and folds them again from the journal; reports progress. */
  rebuildViews(progress?: (done: number, total: number) => void): Promise<Rebuilt>;

  /** The store's last commit position. */
  position(): Promise<number>;
  /**
   * Resolves when something was committed after `position`, by any process, or when `signal` aborts (then with
   * nothing moved). Closing the store refuses it. No busy loop, no timer longer than a day.
   */
  follow(position: number, signal: AbortSignal): Promise<StoreChanges>;

  artifact(tenant: string, hash: string): Promise<Uint8Array | undefined>;

  /**
   * Holds something that is released by itself when this process dies, under an epoch's id. `held` tells whether any
   * living process holds it.
   */
  holdEpoch(id: string): Promise<EpochHold>;
  epochHeld(id: string): Promise<boolean>;

  /**
   * Seals what moved in a tenant since its last seal: `sign` gets the draft inside one transaction, so that two
   * sealers never seal the same heads. Answers undefined when nothing moved.
   */
  seal(tenant: string, sign: (draft: SealDraft) => Seal): Promise<Seal | undefined>;
  seals(tenant: string, after?: number): Promise<readonly Seal[]>;
  /** The first seal that covers a commit position, or the last seal of all; undefined while there is none. */
  sealOver(tenant: string, position: number | "last"): Promise<Seal | undefined>;
  /** Tenants that have entries. */
  tenants(): Promise<readonly string[]>;

  /** Small encrypted rows kept beside the journal, never in it. */
  putSecret(tenant: string, id: string, sealed: Uint8Array): Promise<void>;
  getSecret(tenant: string, id: string): Promise<Uint8Array | undefined>;

  close(): Promise<void>;
};

/** One tenant of a store: what most of the code needs to read or to decide. */
export type TenantStore = { readonly store: Store; readonly tenant: string };
