/** Reads the journal of a tenant, and the seals over it. */

import type { Seal, SealDraft } from "../../journal/seal.ts";
import { checkSeal, draftSeal } from "../../journal/seal.ts";
import { type StreamRef, streamName } from "../../kernel/stream.ts";
import type { JournalEntry } from "../store.ts";
import type { MemoryDatabase, MemoryTenant } from "./database.ts";

type MemoryReadOptions = { readonly fromSeq?: number; readonly limit?: number };

export function read(
  database: MemoryDatabase,
  tenant: string,
  stream: StreamRef,
  { fromSeq = 1, limit = Number.POSITIVE_INFINITY }: MemoryReadOptions = {},
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

export function tenantsWithEntries(database: MemoryDatabase): readonly string[] {
  const found = [...database.data.tenants].filter(([, tenant]) => tenant.log.length > 0);
  return found.map(([name]) => name).sort();
}

export function sealMemoryTenant(
  database: MemoryDatabase,
  tenant: string,
  sign: (draft: SealDraft) => Seal,
): Seal | undefined {
  const found = database.data.tenants.get(tenant);
  const last = found?.seals.at(-1)?.sealed;
  const moved = log(database, tenant, last?.position ?? 0, Number.POSITIVE_INFINITY);
  const position = moved.at(-1)?.position;
  if (found === undefined || position === undefined) return undefined;
  const draft = draftSeal({
    tenant,
    incarnation: database.incarnation,
    now: database.clock.now(),
    last,
    position,
    entries: moved.length,
    leaves: leavesOf(
      found,
      moved.map((entry) => JSON.parse(entry.header).stream),
    ),
  });
  const signed = checkSeal(draft, sign(draft));
  const { n, at, entries } = draft;
  found.seals.push({ seal: signed, sealed: { n, at, entries, position, jws: signed.jws } });
  return signed;
}

function leavesOf({ streams }: MemoryTenant, names: readonly string[]): SealDraft["leaves"] {
  return [...new Set(names)].flatMap((name) => {
    const found = streams.get(name);
    return found === undefined ? [] : [{ stream: name, seq: found.head.seq, hash: found.head.hash }];
  });
}

export function seals({ data }: MemoryDatabase, tenant: string, after = 0): readonly Seal[] {
  return (data.tenants.get(tenant)?.seals ?? []).slice(after).map(({ seal: kept }) => kept);
}

export function sealOver(
  { data }: MemoryDatabase,
  tenant: string,
  position: number | "last",
): Seal | undefined {
  const kept = data.tenants.get(tenant)?.seals ?? [];
  const found = position === "last" ? kept.at(-1) : kept.find(({ sealed }) => sealed.position >= position);
  return found?.seal;
}
