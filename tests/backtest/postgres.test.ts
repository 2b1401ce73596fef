/** The same on PostgreSQL: the journal is read in pages there too. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { admin } from "../../src/admin.ts";
import { holdpoint, type PolicyInput } from "../../src/index.ts";
import { FOLDS, PROJECTIONS } from "../../src/streams.ts";

import { temporaryFolder } from "../fixtures/folder.ts";
import { postgresBench } from "../fixtures/postgres-bench.ts";
import { refunds } from "./fill.ts";

const bench = postgresBench();

test("a back-test and suggestions read a journal in PostgreSQL", async (context) => {
  const { path } = temporaryFolder(context);
  const store = await bench(context).open({ folds: FOLDS, projections: PROJECTIONS as never });
  const hp = holdpoint({ store, agent: "support", keyFile: join(path, "key.json"), notify: () => undefined });
  const refund = hp.gate<{ amount_usd: number }, unknown>({
    name: "issue_refund",
    policy: ((input: PolicyInput) => refunds(input)) as never,
    run: () => null,
  });
  for (let number = 0; number < 60; number++) {
    const answer = await refund({ amount_usd: number * 20 }, { requestId: `r-${number}`, waitMs: 0 });
    if (!("code" in answer) || answer.approval === undefined || answer.approval === null) continue;
    const by = number % 2 === 0 ? "person:ann" : "person:bob";
    if (number < 45) await hp.approvals.approve(answer.approval, { by });
    else await hp.approvals.reject(answer.approval, { by, reason: "no" });
  }
  const report = await admin(hp).policies.backtest({ policy: "lax", default: "approve" });
  assert.deepEqual([report.actions, report.compared, report.changed], [60, 60, 39]);
  assert.deepEqual(
    report.people.map(({ decision, total, approve }) => [decision, total, approve]),
    [
      ["rejected", 6, 6],
      ["approved", 24, 24],
    ],
  );
  const { suggestions } = await admin(hp).policies.suggest({ min: 20 });
  assert.deepEqual(
    suggestions.map(({ when }) => when),
    ['args.amount_usd >= 0 && args.amount_usd <= 880 && args.all(name, name in ["amount_usd"])'],
  );
  assert.deepEqual(
    (await admin(hp).policies.tools()).map(({ name }) => name),
    ["issue_refund"],
  );
  await hp.close();
});
