import type { Folds } from "../../states.ts";
import type { Most } from "../cache.ts";
import type { Projection } from "../store.ts";

/** What whoever opens the store may set. */
export type PostgresSettings = {
  /** `postgres://user@host:port/database`; TLS and the like as `pg` reads them. */
  readonly database: string;
  /** Where Holdpoint's tables are; made if it is not there. `holdpoint` unless set. */
  readonly schema?: string;
  /** The role under which all work is done, so that row-level security binds it. `holdpoint_worker` unless set. */
  readonly role?: string;
  /** Connections of this process at most. 10 unless set. */
  readonly connections?: number;
  /** How long an epoch counts as held unless it is renewed. 15 s unless set. */
  readonly leaseMs?: number;
  /** How long a call waits for a server that is away, or for a lock. 15 s unless set. */
  readonly busyMs?: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName?: string;
  /** `existing` opens a store that is there and creates none. */
  readonly mode?: "read-write" | "existing";
};

/** For tests: what stands around the commit, and what may be missed. */
export type PostgresHooks = {
  /** Before the writes of a batch are sent, or after its commit returned. */
  commit?(when: "before" | "after", members: number): void | Promise<void>;
  /** Swallows notifications. */
  readonly deaf?: boolean;
  /** How long the poll behind the notifications waits. */
  readonly pollMs?: number;
  /** Locks are given up after this time. */
  readonly lockMs?: number;
  /** A server that says nothing is given up after this time. */
  readonly silentMs?: number;
};

export type PostgresOptions = PostgresSettings & {
  readonly folds: Folds;
  readonly projections: readonly Projection[];
  readonly random: (bytes: number) => Uint8Array;
  /** Instead of the database's own time; for tests. */
  readonly clock?: { now(): number };
  readonly mostHeads?: Most;
  readonly hooks?: PostgresHooks;
};

export type Resolved = PostgresOptions &
  Required<Pick<PostgresOptions, "schema" | "role" | "connections" | "leaseMs" | "busyMs" | "mode">>;

export function resolved(options: PostgresOptions): Resolved {
  return {
    schema: "holdpoint",
    role: "holdpoint_worker",
    connections: 10,
    leaseMs: 15_000,
    busyMs: 15_000,
    mode: "read-write",
    ...options,
  };
}
