/** What the application may set, what tests may hook into, the defaults, and the check of settings. */

import { HoldpointError } from "../../kernel/errors.ts";
import type { Folds } from "../../states.ts";
import type { CacheLimit } from "../cache.ts";
import type { Projection } from "../store.ts";

export function isDatabaseUrl(text: string): boolean {
  try {
    return ["postgres:", "postgresql:"].includes(new URL(text).protocol);
  } catch {
    return false;
  }
}

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
  readonly mostHeads?: CacheLimit;
  readonly hooks?: PostgresHooks;
};

export type ResolvedOptions = PostgresOptions &
  Required<Pick<PostgresOptions, "schema" | "role" | "connections" | "leaseMs" | "busyMs" | "mode">>;

export function resolveOptions(options: PostgresOptions): ResolvedOptions {
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

type Rule = readonly [isRight: (value: unknown) => boolean, what: string];

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
/** PostgreSQL cuts longer names off, and two would become one. */
const isName: Rule = [
  (value) => isText(value) && Buffer.byteLength(value) <= 63 && !value.includes("\0"),
  "is a name of at most 63 bytes",
];
const isCount = (least: number, most: number): Rule => [
  (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
  `is a whole number from ${least} to ${most}`,
];

const SETTINGS: Readonly<Record<string, Rule>> = {
  database: [
    (value) => isText(value) && isDatabaseUrl(value),
    "is an address such as postgres://user@host/database",
  ],
  schema: isName,
  role: isName,
  applicationName: isName,
  connections: isCount(2, 1_000),
  leaseMs: isCount(1_000, 3_600_000),
  busyMs: isCount(1, 3_600_000),
  mode: [(value) => value === "read-write" || value === "existing", "is read-write or existing"],
};

/** No value is repeated: the address may hold a password. */
export function checkPostgresSettings(settings: unknown): void {
  if (typeof settings !== "object" || settings === null)
    throw invalidSetting("What openPostgres() takes is an object.");
  const given = new Map<string, unknown>(Object.entries(settings));
  if (!given.has("database")) throw invalidSetting('The setting "database" is needed.');
  for (const [name, value] of given) {
    const rule = SETTINGS[name];
    if (rule === undefined) throw invalidSetting(`There is no setting "${name}".`);
    if (value !== undefined && !rule[0](value)) throw invalidSetting(`The setting "${name}" ${rule[1]}.`);
  }
}

const invalidSetting = (what: string): HoldpointError => new HoldpointError("invalid_input", what);
