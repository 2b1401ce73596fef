/** A policy file that changes while a workflow with a policy of its own is in memory. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Notice } from "../../src/runtime/notices.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";

const text = (reason: string): string =>
  JSON.stringify({
    policy: "p",
    default: "block",
    rules: [{ id: "r", tool: "pay", verdict: "escalate", reason }],
  });

test("what was approved under the old file is asked again, and names the new one", async (context) => {
  const folder = temporaryFolder(context);
  const file = join(folder.path, "..", "policy.json");
  writeFileSync(file, text("first"));
  const adopted = Promise.withResolvers<void>();
  const notify = (notice: Notice) => {
    if (notice.kind === "policy_adopted" && notice.before !== null) adopted.resolve();
  };
  const hp = folder.open({ policy: file, notify });
  const paid: number[] = [];
  const pay = hp.gate({ name: "pay", run: ({ n }: { n: number }) => void paid.push(n) });
  const busy = Promise.withResolvers<void>();
  const flow = hp.workflow("w", { policy: "approve" }, (ctx) =>
    ctx.parallel([
      (one) => one.call(pay, { n: 1 }, { approvalRequired: true }),
      (one) => one.step("long", () => busy.promise),
    ]),
  );
  const { id, result } = await flow.start({});
  const first = await pendingApproval(hp);
  writeFileSync(file, text("second"));
  await adopted.promise;
  await hp.approvals.approve(first, { by: "person:ann" });
  const second = await pendingApproval(hp);
  assert.notEqual(second, first);
  assert.equal((await hp.approvals.get(first)).status, "lapsed");
  await hp.approvals.approve(second, { by: "person:ann" });
  busy.resolve();
  await result();
  assert.deepEqual(paid, [1]);
  const versions = (await hp.journal.read(id)).flatMap(({ type, body }) =>
    type === "action.reviewed" ? String((body as { policy: string }).policy) : [],
  );
  assert.equal(new Set(versions).size, 2);
});
