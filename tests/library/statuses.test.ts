/** The five statuses of a call, and what `run` makes of each. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Failed, HoldpointError, InDoubt, Pending, Refused } from "../../src/index.ts";
import { defineStatuses, EXPECTED } from "../fixtures/five-statuses.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";

const ERRORS = { pending: Pending, failed: Failed, refused: Refused, in_doubt: InDoubt };
const STOP = { by: "person:ann", reason: "drill" };

for (const { tool: name, status, waitingFor } of EXPECTED)
  describe(`a call that is ${[status, waitingFor].filter(Boolean).join(", waiting for ")}`, () => {
    const opened = (t: Parameters<typeof temporaryFolder>[0]) => {
      const hp = temporaryFolder(t).open();
      const tool = defineStatuses(hp).get(name) ?? assert.fail();
      return { hp, tool };
    };

    test("answers so, the second time too", async (t) => {
      const { tool } = opened(t);
      const first = await tool({}, { requestId: "one", waitMs: 0 });
      assert.equal(first.status, status);
      if (first.status === "pending") assert.equal(first.waitingFor, waitingFor);
      assert.deepEqual(await tool({}, { requestId: "one", waitMs: 0 }), first);
    });

    test("resolves or throws in run", async (t) => {
      const { tool } = opened(t);
      const running = tool.run({}, { requestId: "one", waitMs: 0 });
      if (status === "done") {
        assert.equal(await running, "ran");
        return;
      }
      await assert.rejects(running, (error) => {
        assert.ok(error instanceof ERRORS[status] && error instanceof HoldpointError);
        assert.equal(error.code, `call_${status}`);
        assert.equal(error.answer.status, status);
        assert.ok(error.message.includes(error.next));
        return true;
      });
    });
  });

test("a call under the kill switch is pending until it is released", async (t) => {
  const hp = temporaryFolder(t).open();
  const read = defineStatuses(hp).get("read") ?? assert.fail();
  await hp.pause(STOP);
  const held = await read({}, { requestId: "one" });
  assert.partialDeepStrictEqual(held, { status: "pending", waitingFor: "kill_switch", approval: null });
  await assert.rejects(read.run({}, { requestId: "one" }), Pending);
  await hp.resume(STOP);
  assert.equal(await read.run({}, { requestId: "one" }), "ran");
});

test("run of a pending call names the approval, and resolves once a person has approved", async (t) => {
  const hp = temporaryFolder(t).open();
  const ask = defineStatuses(hp).get("ask") ?? assert.fail();
  const options = { requestId: "one", waitMs: 0 };
  const error = await ask.run({}, options).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof Pending);
  assert.equal(error.answer.approval, await pendingApproval(hp));
  await hp.approvals.approve(error.answer.approval ?? "", { by: "person:ann" });
  assert.equal(await ask.run({}, { requestId: "one" }), "ran");
});

test("run throws when a person resolved a doubt as applied: the result is unknown", async (t) => {
  const hp = temporaryFolder(t).open();
  const lose = defineStatuses(hp).get("lose") ?? assert.fail();
  const doubt = await lose({}, { requestId: "one" });
  assert.ok(doubt.status === "in_doubt");
  await hp.actions.resolve(doubt.effect, { by: "person:ann", status: "applied", reason: "seen at the bank" });
  assert.equal((await lose({}, { requestId: "one" })).status, "done");
  await assert.rejects(lose.run({}, { requestId: "one" }), (error) => {
    assert.ok(error instanceof InDoubt);
    assert.match(error.message, /was applied, and its result is unknown.*Do not call it again/s);
    return true;
  });
});
