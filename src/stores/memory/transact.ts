import type { IndexKey, StreamRef } from "../../kernel/stream.ts";
import { type Decide, MOST_INDEXED, type Needs } from "../../kernel/transaction.ts";

import { checkText } from "../check-text.ts";
import { emptyHead } from "../head.ts";
import { makePlan, type Plan } from "../plan.ts";
import { append } from "./append.ts";
import { type MemoryDatabase, tenantOf } from "./database.ts";
import { projectPlan, query, writeRows } from "./views.ts";

/** Decides and writes without giving way to anybody: the JavaScript turn is the lock. */
export function transact<Result>(
  database: MemoryDatabase,
  tenant: string,
  needs: Needs,
  decide: Decide<Result>,
): Result {
  const plan = makePlan(groundOf(database, checkText("tenant", tenant)), needs, decide);
  const rows = projectPlan(database, plan);
  write(database, tenant, plan);
  writeRows(database, tenant, rows);
  if (plan.streams.length > 0) for (const wake of [...database.watchers]) wake();
  return plan.result;
}

function groundOf(database: MemoryDatabase, tenant: string) {
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

function write(database: MemoryDatabase, tenant: string, plan: Plan<unknown>): void {
  for (const planned of plan.streams) append(database, tenant, planned);
  if (plan.names.length + plan.artifacts.length === 0) return;
  const { names, artifacts } = tenantOf(database, tenant);
  for (const { name, stream } of plan.names) names.set(name, stream);
  for (const { hash, bytes } of plan.artifacts)
    if (!artifacts.has(hash)) artifacts.set(hash, new Uint8Array(bytes));
}
