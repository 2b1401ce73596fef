import type { StoredEntry } from "../../journal/entry.ts";
import type { PlannedStream } from "../plan.ts";
import type { JournalEntry } from "../store.ts";
import { type MemoryDatabase, tenantOf } from "./database.ts";

export function append(database: MemoryDatabase, tenant: string, planned: PlannedStream): void {
  const { streams, log } = tenantOf(database, tenant);
  const { stream, name, after: head } = planned;
  const before = streams.get(name);
  const added = planned.entries.map((entry) => place(database, { tenant, planned, entry }));
  const number = before?.number ?? ++database.data.streams;
  const entries = before?.entries ?? [];
  entries.push(...added);
  streams.set(name, { stream, name, number, head, entries });
  log.push(...added);
}

function place(
  database: MemoryDatabase,
  { tenant, planned, entry }: { tenant: string; planned: PlannedStream; entry: StoredEntry },
): JournalEntry {
  const position = database.data.moves.push({ tenant, stream: planned.stream });
  return { ...entry, position };
}
