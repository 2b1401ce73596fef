/** Decides and appends within one JavaScript turn, which is the lock. */

import type { Entry } from "../../journal/entry.ts";
import type { IndexKey, StreamRef } from "../../kernel/stream.ts";
import { type Decide, MOST_INDEXED, type Needs } from "../../kernel/transaction.ts";
import { checkStoredText, type PlannedStream, planAtOnce, type TransactionPlan } from "../decision.ts";
import { emptyHead } from "../head.ts";
import type { JournalEntry } from "../store.ts";
import { type MemoryDatabase, memoryTenant } from "./database.ts";
import { projectPlan, query, writeRows } from "./views.ts";

function appendPlanned(database: MemoryDatabase, tenant: string, planned: PlannedStream): void {
  const { streams, log } = memoryTenant(database, tenant);
  const { stream, name, after: head } = planned;
  const before = streams.get(name);
  const added = planned.entries.map((entry) => placeEntry(database, { tenant, planned, entry }));
  const number = before?.number ?? ++database.data.streams;
  const entries = before?.entries ?? [];
  entries.push(...added);
  streams.set(name, { stream, name, number, head, entries });
  log.push(...added);
}

function placeEntry(
  database: MemoryDatabase,
  { tenant, planned, entry }: { tenant: string; planned: PlannedStream; entry: Entry },
): JournalEntry {
  const position = database.data.moves.push({ tenant, stream: planned.stream });
  return { ...entry, position };
}

/** Decides and writes without yielding: the JavaScript turn is the lock. */
export function transact<Result>(
  database: MemoryDatabase,
  tenant: string,
  needs: Needs,
  decide: Decide<Result>,
): Result {
  const plan = planAtOnce(memoryContext(database, checkStoredText("tenant", tenant)), needs, decide);
  const rows = projectPlan(database, plan);
  writePlanned(database, tenant, plan);
  writeRows(database, tenant, rows);
  if (plan.streams.length > 0) for (const wake of [...database.watchers]) wake();
  return plan.result;
}

function memoryContext(database: MemoryDatabase, tenant: string) {
  const { folds, clock, random } = database;
  const found = database.data.tenants.get(tenant);
  return {
    tenant,
    folds,
    random,
    now: () => clock.now(),
    head: (stream: StreamRef, name: string) =>
      found?.streams.get(name)?.head ?? emptyHead(folds, stream.kind),
    name: (name: string) => found?.names.get(name),
    index: ({ view, key }: IndexKey) =>
      query(database, tenant, { view, bucket: key, order: "newest", limit: MOST_INDEXED }),
  };
}

function writePlanned(database: MemoryDatabase, tenant: string, plan: TransactionPlan<unknown>): void {
  for (const planned of plan.streams) appendPlanned(database, tenant, planned);
  if (plan.names.length + plan.artifacts.length === 0) return;
  const { names, artifacts } = memoryTenant(database, tenant);
  for (const { name, stream } of plan.names) names.set(name, stream);
  for (const { hash, bytes } of plan.artifacts)
    if (!artifacts.has(hash)) artifacts.set(hash, new Uint8Array(bytes));
}
