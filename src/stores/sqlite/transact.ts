import type { StreamRef } from "../../kernel/stream.ts";
import { type Decide, MOST_INDEXED, type Needs } from "../../kernel/transaction.ts";

import { checkText } from "../check-text.ts";
import { emptyHead } from "../head.ts";
import { type Ground, makePlan, type Plan } from "../plan.ts";
import type { Prepared, Writer } from "./group-commit.ts";
import type { Journal } from "./journal.ts";

export function transact<Result>(
  { journal, writer }: { journal: Journal; writer: Writer },
  tenant: string,
  needs: Needs,
  decide: Decide<Result>,
): Promise<Result> {
  checkText("tenant", tenant);
  return new Promise((resolve, refuse) => {
    const prepare = (): Prepared => {
      const plan = makePlan(groundOf(journal, tenant), needs, decide);
      return { write: () => writePlan(journal, tenant, plan), answer: () => resolve(plan.result) };
    };
    writer.submit({ prepare, refuse });
  });
}

export function groundOf(journal: Journal, tenant: string): Ground {
  const { tenants, heads, names, views, folds, clock, random } = journal;
  const tid = tenants.find(tenant);
  return {
    tenant,
    folds,
    random,
    now: () => clock.now(),
    head: (stream: StreamRef, name: string) =>
      tid === undefined ? emptyHead(folds, stream.kind) : heads.head(tid, stream, name),
    name: (name: string) => (tid === undefined ? undefined : names.find(tid, name)),
    // Members of a batch before this one have written their rows: the index has them.
    index: ({ view, key }) =>
      tid === undefined ? [] : views.query(tid, { view, bucket: key, order: "newest", limit: MOST_INDEXED }),
  };
}

export function writePlan({ tenants, append }: Journal, tenant: string, plan: Plan<unknown>): void {
  if (plan.streams.length + plan.names.length + plan.artifacts.length === 0) return;
  append(tenants.ensure(tenant), plan);
}
