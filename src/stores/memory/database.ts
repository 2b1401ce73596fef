/** The "disk" of the memory store, shared by several handles that each act as a process. No timers, no real clock. */

import type { LastSeal, Seal } from "../../journal/seal.ts";
import type { StreamRef } from "../../kernel/stream.ts";
import type { Folds } from "../../states.ts";
import type { Head } from "../head.ts";
import type { JournalEntry, Projection } from "../store.ts";
import { type Projections, projectionTable } from "../views.ts";

export type MemoryStream = {
  readonly stream: StreamRef;
  readonly name: string;
  /** Streams are numbered in order of creation. */
  readonly number: number;
  readonly head: Head;
  readonly entries: JournalEntry[];
};

/** `data` is JSON text, so that no caller can change a row that another one reads. */
export type MemoryRow = {
  readonly stream: StreamRef;
  readonly number: number;
  readonly bucket: string;
  readonly at: number;
  readonly due: number | null;
  readonly data: string;
};

export type MemoryTenant = {
  readonly streams: Map<string, MemoryStream>;
  readonly names: Map<string, StreamRef>;
  readonly artifacts: Map<string, Uint8Array>;
  readonly secrets: Map<string, Uint8Array>;
  readonly views: Map<string, Map<string, MemoryRow>>;
  /** Expiry of the claim on a row of a view. */
  readonly claims: Map<string, number>;
  readonly log: JournalEntry[];
  readonly seals: { readonly seal: Seal; readonly sealed: LastSeal }[];
};

type MemoryData = {
  readonly tenants: Map<string, MemoryTenant>;
  /** The stream that moved at each position; the position is the index plus one. */
  readonly moves: { readonly tenant: string; readonly stream: StreamRef }[];
  streams: number;
};

export type MemoryHold = { readonly holder: object; until: number; isLeft: boolean };

type MemoryOptions = {
  readonly folds: Folds;
  readonly projections: readonly Projection[];
  readonly clock: { now(): number };
  readonly random: (bytes: number) => Uint8Array;
  /** Makes epochs leases: a hold lapses after this time without renewal. Default: a hold ends with its handle. */
  readonly leaseMs?: number;
};

export type MemoryDatabase = Omit<MemoryOptions, "projections"> & {
  readonly incarnation: string;
  readonly projections: Projections;
  data: MemoryData;
  readonly holds: Map<string, MemoryHold>;
  readonly watchers: Set<() => void>;
};

export function createMemoryDatabase({ projections, ...options }: MemoryOptions): MemoryDatabase {
  return {
    ...options,
    projections: projectionTable(projections),
    incarnation: Buffer.from(options.random(16)).toString("hex"),
    data: { tenants: new Map(), moves: [], streams: 0 },
    holds: new Map(),
    watchers: new Set(),
  };
}

export function memoryTenant(database: MemoryDatabase, tenant: string): MemoryTenant {
  const known = database.data.tenants.get(tenant);
  if (known !== undefined) return known;
  const fresh = emptyTenant();
  database.data.tenants.set(tenant, fresh);
  return fresh;
}

function emptyTenant(): MemoryTenant {
  const maps = {
    streams: new Map(),
    names: new Map(),
    artifacts: new Map(),
    secrets: new Map(),
    views: new Map(),
    claims: new Map(),
  };
  return { ...maps, log: [], seals: [] };
}

/** A backup of the disk. Holds on epochs are not on the disk. */
export function backUp(database: MemoryDatabase): MemoryData {
  return copyData(database.data);
}

export function restore(database: MemoryDatabase, backup: MemoryData): void {
  database.data = copyData(backup);
}

function copyData({ tenants, moves, streams }: MemoryData): MemoryData {
  const copies = [...tenants].map(([name, tenant]): [string, MemoryTenant] => [name, copyTenant(tenant)]);
  return { tenants: new Map(copies), moves: [...moves], streams };
}

function copyTenant(tenant: MemoryTenant): MemoryTenant {
  return {
    streams: new Map([...tenant.streams].map(([name, one]) => [name, { ...one, entries: [...one.entries] }])),
    names: new Map(tenant.names),
    artifacts: new Map(tenant.artifacts),
    secrets: new Map(tenant.secrets),
    views: new Map([...tenant.views].map(([view, rows]) => [view, new Map(rows)])),
    claims: new Map(tenant.claims),
    log: [...tenant.log],
    seals: [...tenant.seals],
  };
}
