import { type StreamRef, streamName } from "../../kernel/stream.ts";
import type { TransactionPlan } from "../decision.ts";
import { emptyHead, foldEntry } from "../head.ts";
import type { Rebuilt, ViewClaim, ViewQuery, ViewRow } from "../store.ts";
import { checkViewQuery } from "../views.ts";
import { type MemoryDatabase, type MemoryRow, type MemoryStream, memoryTenant } from "./database.ts";

type PlannedRow = {
  readonly view: string;
  readonly stream: StreamRef;
  readonly row: Omit<MemoryRow, "number"> | undefined;
};

/** Runs before anything is written, because a projection may throw. */
export function projectPlan(database: MemoryDatabase, plan: TransactionPlan<unknown>): readonly PlannedRow[] {
  return plan.streams.flatMap(({ stream, after }) => projectStream(database, stream, after.state));
}

function projectStream(database: MemoryDatabase, stream: StreamRef, state: unknown): readonly PlannedRow[] {
  return database.projections.of(stream.kind).map((projection) => {
    const row = projection.row(stream.id, state);
    const { view } = projection;
    return { view, stream, row: row && { ...row, stream, data: JSON.stringify(row.data) } };
  });
}

export function writeRows(database: MemoryDatabase, tenant: string, rows: readonly PlannedRow[]): void {
  for (const { view, stream, row } of rows) {
    const { views, streams } = memoryTenant(database, tenant);
    const name = streamName(stream);
    const table = views.get(view) ?? new Map<string, MemoryRow>();
    views.set(view, table);
    if (row === undefined) table.delete(name);
    else table.set(name, { ...row, number: streams.get(name)?.number ?? 0 });
  }
}

function isDue({ due }: MemoryRow, dueBy: ViewQuery["dueBy"]): boolean {
  if (dueBy === undefined) return true;
  return dueBy === null ? due === null : due !== null && due <= dueBy;
}

export function query(database: MemoryDatabase, tenant: string, asked: ViewQuery): readonly ViewRow[] {
  const found = database.data.tenants.get(tenant);
  database.projections.named(asked.view);
  checkViewQuery(asked, (name) => found?.streams.has(name) === true);
  const direction = asked.order === "newest" ? -1 : 1;
  const compare = (a: RowOrder, b: RowOrder) => direction * (a.at - b.at || a.number - b.number);
  const { bucket, dueBy, after } = asked;
  const cursor = after && { at: after.at, number: found?.streams.get(after.stream)?.number ?? 0 };
  const rows = [...(found?.views.get(asked.view)?.values() ?? [])].filter(
    (row) =>
      (bucket === undefined || row.bucket === bucket) &&
      isDue(row, dueBy) &&
      (cursor === undefined || compare(row, cursor) > 0),
  );
  return rows.sort(compare).slice(0, asked.limit).map(viewRow);
}

export function claimMemoryRows(
  database: MemoryDatabase,
  tenant: string,
  asked: ViewClaim,
): readonly ViewRow[] {
  const { view, limit, leaseMs, ...due } = asked;
  checkViewQuery(asked, () => true);
  const rows = query(database, tenant, { view, ...due, limit: Number.MAX_SAFE_INTEGER });
  const claims = database.data.tenants.get(tenant)?.claims;
  const now = database.clock.now();
  const keyOf = ({ stream }: ViewRow) => `${view}/${streamName(stream)}`;
  const free = rows.filter((row) => (claims?.get(keyOf(row)) ?? 0) <= now).slice(0, limit);
  for (const row of free) claims?.set(keyOf(row), now + leaseMs);
  return free;
}

type RowOrder = { readonly at: number; readonly number: number };

const viewRow = ({ stream, bucket, at, due, data }: MemoryRow): ViewRow => ({
  stream,
  bucket,
  at,
  due,
  data: JSON.parse(data),
});

export function countMemoryRows(
  database: MemoryDatabase,
  tenant: string,
  view: string,
  bucket: string,
): number {
  database.projections.named(view);
  const rows = database.data.tenants.get(tenant)?.views.get(view)?.values() ?? [];
  return [...rows].filter((row) => row.bucket === bucket).length;
}

export function rebuildMemoryViews(
  database: MemoryDatabase,
  progress: (done: number, total: number) => void = () => {},
): Rebuilt {
  const all = [...database.data.tenants].flatMap(([tenant, { streams }]) =>
    [...streams.values()].map((stream) => ({ tenant, stream })),
  );
  const rows = all.map(({ tenant, stream }, done) => {
    progress(done + 1, all.length);
    return { tenant, rows: projectStream(database, stream.stream, refold(database, stream)) };
  });
  for (const tenant of database.data.tenants.values()) tenant.views.clear();
  for (const { tenant, rows: made } of rows) writeRows(database, tenant, made);
  return { streams: all.length, left: 0 };
}

function refold({ folds }: MemoryDatabase, { stream, entries }: MemoryStream): unknown {
  let head = emptyHead(folds, stream.kind);
  for (const entry of entries) head = foldEntry(folds, stream.kind, head, entry);
  return head.state;
}
