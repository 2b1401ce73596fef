import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type Holdpoint, holdpoint } from "holdpoint";
import { memoryStore } from "holdpoint/testing";
import define from "./workflow.ts";

const folder = mkdtempSync(join(tmpdir(), "order-"));
after(() => rmSync(folder, { recursive: true }));

/** An instance that forgets everything, and a person who decides as soon as they are asked. */
function open(decide: (hp: Holdpoint, approval: string) => Promise<unknown>): Holdpoint {
  const hp: Holdpoint = holdpoint({
    store: memoryStore(),
    keyFile: join(folder, "key.json"),
    notify: (notice) => void (notice.kind === "waiting" && decide(hp, notice.approval)),
  });
  return hp;
}

const by = "person:ann";

test("what a person lowers is what is ordered", async () => {
  await using hp = open((hp, approval) => hp.approvals.approve(approval, { by, edit: { count: 5 } }));
  const workflow = await define(hp);
  const end = await workflow.run({ item: "pencil", people: 4 });
  assert.equal(end.status, "completed");
  assert.deepEqual(end.status === "completed" && end.result, { ordered: "5 × pencil" });
});

test("an order that is rejected for good is not placed, and its reservation is taken back", async () => {
  await using hp = open((hp, approval) => hp.approvals.reject(approval, { by, reason: "no", final: true }));
  const workflow = await define(hp);
  const end = await workflow.run({ item: "pencil", people: 4 });
  assert.equal(end.status === "failed" && end.reason, "no");
  const { items } = await hp.actions.list({ phase: "applied" });
  assert.deepEqual(items.map(({ tool }) => tool).toSorted(), ["stock.reserve", "stock.reserve.undo"]);
});
