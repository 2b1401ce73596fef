import { type StreamRef, streamName } from "../../kernel/stream.ts";
import type { JournalEntry } from "../store.ts";
import type { MemoryDatabase } from "./database.ts";

export type ReadOptions = { readonly fromSeq?: number; readonly limit?: number };

export function read(
  database: MemoryDatabase,
  tenant: string,
  stream: StreamRef,
  { fromSeq = 1, limit = Number.POSITIVE_INFINITY }: ReadOptions = {},
): readonly JournalEntry[] {
  const entries = database.data.tenants.get(tenant)?.streams.get(streamName(stream))?.entries ?? [];
  return entries.slice(fromSeq - 1, fromSeq - 1 + limit);
}

export function log(
  database: MemoryDatabase,
  tenant: string,
  after: number,
  limit: number,
): readonly JournalEntry[] {
  const entries = database.data.tenants.get(tenant)?.log ?? [];
  const start = firstAfter(entries, after);
  return entries.slice(start, start + limit);
}

function firstAfter(entries: readonly JournalEntry[], after: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.position ?? 0) > after) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function tenants(database: MemoryDatabase): readonly string[] {
  const found = [...database.data.tenants].filter(([, tenant]) => tenant.log.length > 0);
  return found.map(([name]) => name).sort();
}
