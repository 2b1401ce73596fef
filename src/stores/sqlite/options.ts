import type { DatabaseSync } from "node:sqlite";
import type { Folds } from "../../states.ts";
import type { Most } from "../cache.ts";
import type { Projection } from "../store.ts";
import type { Open } from "./connect.ts";
import type { AroundCommit } from "./write-transaction.ts";

/** For tests of what a disk does wrong: the connection itself, a place around every commit, and nothing that hangs on time. */
export type SqliteHooks = {
  /** Brings a connection. What it is set to is set and read back all the same. */
  readonly open?: Open;
  connected?(db: DatabaseSync): void;
  commit?: AroundCommit;
  /** How long commits that follow each other are gathered for those who wait. */
  readonly pauseMs?: number;
};

export type SqliteOptions = {
  readonly folder: string;
  readonly folds: Folds;
  readonly projections: readonly Projection[];
  readonly clock: { now(): number };
  readonly random: (bytes: number) => Uint8Array;
  /** `existing` opens a store that is there and creates none. */
  readonly mode?: "read-write" | "existing";
  /** How long to wait for another process's write lock. */
  readonly busyMs?: number;
  /** How many streams' heads and states are kept in memory, and about how many bytes of them. */
  readonly mostHeads?: Most;
  readonly hooks?: SqliteHooks;
};
