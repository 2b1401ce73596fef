/** Settings for the application, hooks for tests, defaults, and the check of settings. */

import { HoldpointError } from "../../kernel/errors.ts";
import type { Folds } from "../../states.ts";
import type { CacheLimit } from "../head.ts";
import type { Projection } from "../store.ts";

export function isDatabaseUrl(text: string): boolean {
  try {
    return ["postgres:", "postgresql:"].includes(new URL(text).protocol);
  } catch {
    return false;
  }
}

/** Settings of `openPostgres()`. */
export type PostgresSettings = {
  /** `postgres://user@host:port/database`; TLS and other parameters as in `pg`. */
  readonly database: string;
  /** Schema of Holdpoint's tables, created if missing. Default: `holdpoint`. */
  readonly schema?: string;
  /** Role for all queries, so that row-level security binds them. Default: `holdpoint_worker`. */
  readonly role?: string;
  /** Size of this process's connection pool; waiting for changes uses one more. Default: 10. */
  readonly connections?: number;
  /** Lease of an epoch: how long a hold lasts without renewal. Default: 15 s. */
  readonly leaseMs?: number;
  /** How long a call waits for an unavailable server, or for a lock. Default: 15 s. */
  readonly busyMs?: number;
  /** Shown in `pg_stat_activity`. Default: `holdpoint`. */
  readonly applicationName?: string;
  /** `existing` opens an existing store and creates none. */
  readonly mode?: "read-write" | "existing";
};

/** For tests: hooks around the commit, and shorter timeouts. */
export type PostgresHooks = {
  /** Called before the writes of a batch are sent, and after its commit returned. */
  commit?(when: "before" | "after", members: number): void | Promise<void>;
  /** Ignores notifications. */
  readonly deaf?: boolean;
  /** Interval of the poll behind the notifications. */
  readonly pollMs?: number;
  /** Lock timeout. */
  readonly lockMs?: number;
  /** Timeout for a silent server. */
  readonly silentMs?: number;
};

export type PostgresOptions = PostgresSettings & {
  readonly folds: Folds;
  readonly projections: readonly Projection[];
  readonly random: (bytes: number) => Uint8Array;
  /** Replaces the database's own time; for tests. */
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
/** PostgreSQL truncates longer names, and two could become one. */
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

/** No value is quoted: the address may hold a password. */
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
