import assert from "node:assert/strict";
import { test } from "node:test";
import { temporaryFolder } from "../fixtures/folder.ts";
import { CONTEXT, FINAL, given, refund, scripted } from "./refund.ts";

test("the trace names the standing grant that let a call through: nobody was asked, and nobody is said to have agreed", async (context) => {
  const hp = temporaryFolder(context).open();
  const options = given(hp, scripted(CONTEXT, refund(1200), FINAL));
  const grant = await hp.grants.give({
    tool: "issue_refund",
    when: "args.amount_usd <= 1500",
    uses: 1,
    forMs: 3_600_000,
    by: "person:ann",
    reason: "the annual plans of this week",
  });
  const result = await hp.supervise(options);
  assert.equal(result.stop_reason, "success");
  assert.deepEqual(
    result.trace.map(({ standing_grant }) => standing_grant),
    [undefined, grant.id, undefined],
  );
  assert.partialDeepStrictEqual(result.trace[1], { supervisor_decision: "escalate", ok: true });
  assert.equal(result.trace[1]?.human_approved, undefined);
  assert.equal(await hp.approvals.count("any"), 0);
});
