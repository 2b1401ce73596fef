/** All prepared statements for one schema, used by the other files of this folder. */

import type { Folds } from "../../states.ts";
import { type CacheLimit, createCache } from "../head.ts";
import type { Home } from "../store.ts";
import type { Projections } from "../views.ts";
import { type PostgresAppend, preparePostgresAppend } from "./append.ts";
import { type EpochLeases, prepareEpochLeases } from "./epochs.ts";
import { type ChangesSince, prepareChangesSince } from "./follow.ts";
import { type PostgresHeads, preparePostgresHeads } from "./heads.ts";
import { preparePostgresHome } from "./home.ts";
import { type LockAndLoad, prepareLockAndLoad } from "./lock-and-load.ts";
import { createLockPrediction, type LockPrediction, type LockSpace } from "./locks.ts";
import type { PostgresHooks } from "./options.ts";
import type { QueryRunner } from "./query.ts";
import {
  type PostgresReads,
  type PostgresSeals,
  preparePostgresReads,
  preparePostgresSeals,
} from "./read.ts";
import { quoteIdentifier } from "./tables.ts";
import {
  type PostgresArtifacts,
  type PostgresSecrets,
  type PostgresTenants,
  preparePostgresArtifacts,
  preparePostgresSecrets,
  preparePostgresTenants,
} from "./tenant-tables.ts";
import { type ClaimRows, type PostgresViews, prepareClaims, preparePostgresViews } from "./views.ts";

type PostgresJournalParts = {
  readonly asking: QueryRunner;
  /** As given, not quoted. */
  readonly schema: string;
  readonly folds: Folds;
  readonly projections: Projections;
  readonly random: (bytes: number) => Uint8Array;
  readonly clock?: { now(): number };
  readonly incarnation: string;
  /** The store's first name, from which all processes derive lock numbers, even after it was renamed. */
  readonly born: string;
  readonly leaseMs: number;
  readonly mostHeads: CacheLimit;
  readonly hooks: PostgresHooks;
  /** Throws if the schema was migrated to a layout that this program may not use. */
  checkLayout(seen: string): Promise<void>;
  committed(): void;
};

export type PostgresJournal = Omit<PostgresJournalParts, "asking"> &
  QueryRunner & {
    readonly space: LockSpace;
    readonly tenants: PostgresTenants;
    readonly heads: PostgresHeads;
    readonly grounds: LockAndLoad;
    readonly views: PostgresViews;
    readonly artifacts: PostgresArtifacts;
    readonly append: PostgresAppend;
    readonly reads: PostgresReads;
    readonly moves: ChangesSince;
    readonly seals: PostgresSeals;
    readonly secrets: PostgresSecrets;
    readonly epochs: EpochLeases;
    readonly claim: ClaimRows;
    readonly home: Home;
    habits(tid: number): LockPrediction;
  };

export function lockSpace(born: string): LockSpace {
  return { seed: Number.parseInt(born.slice(0, 8), 16) | 0 };
}

function lockPredictions(): (tid: number) => LockPrediction {
  const habits = createCache<LockPrediction>({ count: 2_000, size: Number.POSITIVE_INFINITY }, () => 1);
  return (tid) => {
    const known = habits.get(String(tid)) ?? createLockPrediction();
    habits.set(String(tid), known);
    return known;
  };
}

export function preparePostgresJournal({ asking, ...parts }: PostgresJournalParts): PostgresJournal {
  const { folds, projections } = parts;
  const schema = quoteIdentifier(parts.schema);
  const space = lockSpace(parts.born);
  const views = preparePostgresViews(asking, schema, projections);
  const artifacts = preparePostgresArtifacts(asking, schema);
  return {
    ...asking,
    ...parts,
    schema,
    space,
    views,
    artifacts,
    tenants: preparePostgresTenants(asking, schema),
    heads: preparePostgresHeads({ schema, folds, most: parts.mostHeads }),
    grounds: prepareLockAndLoad({ enter: asking.enter, views, schema, space }),
    append: preparePostgresAppend({ schema, folds, views, artifacts }),
    reads: preparePostgresReads(asking, schema),
    moves: prepareChangesSince(asking, schema),
    seals: preparePostgresSeals(asking, { ...parts, schema, space }),
    secrets: preparePostgresSecrets(asking, schema),
    epochs: prepareEpochLeases(asking, { ...parts, schema }),
    claim: prepareClaims(asking, { ...parts, schema }),
    home: preparePostgresHome(asking, schema),
    habits: lockPredictions(),
  };
}
