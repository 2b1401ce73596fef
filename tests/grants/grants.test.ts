// Standing grants through the engine: what runs without asking, and what does not.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { z } from "zod";
import type { Answer } from "../../src/effects/answer.ts";
import { NotApplied } from "../../src/effects/run-tool.ts";

import { isHoldpointError } from "../../src/kernel/errors.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { machine, type Process, pendingOf } from "../fixtures/runtime.ts";

const HOUR = 3_600_000;
const OFFER = { tool: "refund", uses: 3, forMs: HOUR, by: "person:ann", reason: "small ones" } as const;
type Refund = { readonly amount: number };

function refunds(process: Process, run: (args: Refund) => unknown = ({ amount }) => amount) {
  return process.gate({ name: "refund", run });
}

const isAsked = (answer: Answer<unknown>): boolean =>
  answer.status === "pending" && answer.waitingFor === "approval";

describe("a call that a grant covers", () => {
  test("runs without asking anybody, and its receipt says by which grant", async () => {
    const process = machine().process();
    const refund = refunds(process);
    const grant = await process.grants.give({ ...OFFER, when: "args.amount <= 100" });
    const answer = await refund({ amount: 12 }, { requestId: "r-1", waitMs: 0 });
    assert.ok(answer.status === "done");
    const { grant: by, approvedBy, humanApproved, approval } = answer.receipt;
    assert.deepEqual(
      { by, approvedBy, humanApproved, approval },
      { by: grant.id, approvedBy: ["person:ann"], humanApproved: false, approval: null },
    );
    assert.ok(isAsked(await refund({ amount: 101 }, { requestId: "r-2", waitMs: 0 })));
    const uses = await process.grants.uses(grant.id);
    assert.deepEqual(
      uses.map(({ action, returned }) => ({ action, returned })),
      [{ action: answer.action, returned: false }],
    );
    assert.equal((await process.journal.verify()).ok, true);
    await process.close();
  });

  test("gives the use back when the tool proves that nothing happened", async () => {
    const process = machine().process();
    const refund = refunds(process, () => {
      throw new NotApplied("the account is closed");
    });
    const limit = { total: { currency: "USD", micros: 50_000_000n }, amount: "args.amount" };
    const { id } = await process.grants.give({ ...OFFER, ...limit });
    await refund({ amount: 50 }, { requestId: "r-1" });
    const { used, limit: left } = await process.grants.get(id);
    assert.deepEqual([used, left?.spent.micros], [0, 0n]);
    assert.deepEqual(
      (await process.grants.uses(id)).map(({ returned }) => returned),
      [true],
    );
    await process.close();
  });

  test("is asked about once the grant is over, revoked or used up, and the list says which", async () => {
    const { process: open, clock } = machine();
    const process = open();
    const refund = refunds(process);
    const asks = async (n: number) =>
      isAsked(await refund({ amount: n }, { requestId: `r-${n}`, waitMs: 0 }));
    const one = await process.grants.give({ ...OFFER, uses: 1 });
    assert.equal(await asks(1), false);
    assert.equal(await asks(2), true);
    assert.equal((await process.grants.get(one.id)).status, "used_up");
    const two = await process.grants.give(OFFER);
    assert.equal(await asks(3), false);
    await process.grants.revoke(two.id, { by: "person:bob", reason: "enough" });
    assert.equal(await asks(4), true);
    const three = await process.grants.give({ ...OFFER, forMs: 1_000 });
    await clock.advance(1_000);
    assert.equal(await asks(5), true);
    const { items } = await process.grants.list({ status: "any" });
    assert.deepEqual(
      items.map(({ id, status }) => [id, status]).toSorted(),
      [
        [one.id, "used_up"],
        [two.id, "revoked"],
        [three.id, "expired"],
      ].toSorted(),
    );
    assert.deepEqual((await process.grants.list()).items, []);
    await process.close();
  });

  test("is asked about where many grants cover it and none has room; the one that has room is used", async () => {
    const process = machine().process();
    const refund = refunds(process);
    const limit = { total: { currency: "USD", micros: 10_000_000n }, amount: "args.amount" };
    for (let index = 0; index < 20; index++) await process.grants.give({ ...OFFER, ...limit });
    assert.ok(isAsked(await refund({ amount: 12 }, { requestId: "r-1", waitMs: 0 })));
    const large = { ...limit, total: { currency: "USD", micros: 12_000_000n } };
    const { id } = await process.grants.give({ ...OFFER, ...large, forMs: 2 * HOUR });
    const answer = await refund({ amount: 12 }, { requestId: "r-2", waitMs: 0 });
    assert.ok(answer.status === "done");
    assert.equal(answer.receipt.grant, id);
    await process.close();
  });

  test("does not take the place of people who were asked already", async () => {
    const process = machine().process();
    const refund = refunds(process);
    const call = refund({ amount: 12 }, { requestId: "r-1" });
    const approval = await pendingOf(process);
    const { id } = await process.grants.give(OFFER);
    assert.ok(isAsked(await refund({ amount: 12 }, { requestId: "r-1", waitMs: 0 })));
    await process.approvals.approve(approval, { by: "person:bob" });
    const answer = await call;
    assert.ok(answer.status === "done" && answer.receipt.approval === approval);
    assert.equal((await process.grants.get(id)).used, 0);
    await process.close();
  });

  test("is read in one commit, as any other read, and counts", async () => {
    const process = machine().process();
    const look = process.gate({ name: "look", effect: "read", run: () => 7 });
    const { id } = await process.grants.give({ ...OFFER, tool: "look", uses: 1 });
    assert.equal((await look({}, { requestId: "r-1", waitMs: 0 })).status, "done");
    assert.ok(isAsked(await look({}, { requestId: "r-2", waitMs: 0 })));
    assert.equal((await process.grants.uses(id)).length, 1);
    await process.close();
  });

  test("of a grant that was given under another schema is asked about", async () => {
    const { process: open } = machine();
    const before = open();
    before.gate({ name: "refund", version: "1", run: () => null });
    await before.grants.give(OFFER);
    await before.close();
    const after = open();
    const refund = after.gate({ name: "refund", version: "2", run: () => null });
    assert.ok(isAsked(await refund({ amount: 1 }, { requestId: "r-1", waitMs: 0 })));
    await after.close();
  });
});

test("the uses of a grant that is not there are unknown, and not none", async () => {
  const process = machine().process();
  await assert.rejects(process.grants.uses("grt_01M7GF1H1NQVJEWTJ6DP1K64Q5"), (error) =>
    isHoldpointError(error, "unknown_id"),
  );
  refunds(process);
  const { id } = await process.grants.give(OFFER);
  assert.deepEqual(await process.grants.uses(id), []);
  await process.close();
});

test("a process without the tool takes the schema of the last action of that name", async () => {
  const { process: open } = machine();
  const [worker, desk] = [open(), open({ agent: "desk" })];
  const refund = refunds(worker);
  await assert.rejects(desk.grants.give(OFFER), (error) => isHoldpointError(error, "unknown_tool"));
  await refund({ amount: 1 }, { requestId: "r-1", waitMs: 0 });
  await desk.grants.give(OFFER);
  assert.equal((await refund({ amount: 2 }, { requestId: "r-2", waitMs: 0 })).status, "done");
  await Promise.all([worker.close(), desk.close()]);
});

test("an id that no grant has is an error: get, uses and revoke", async () => {
  const process = machine().process();
  const { get, uses, revoke } = process.grants;
  const id = `grt_${"A".repeat(26)}`;
  for (const call of [get, uses, () => revoke(id, { by: "person:ann", reason: "odd" })])
    await assert.rejects(call(id), (error) => isHoldpointError(error, "unknown_id"));
  await process.close();
});

describe("what is given wrongly is refused with a text", () => {
  const USD = { currency: "USD", micros: 1n };
  const cases: readonly (readonly [string, object, RegExp])[] = [
    ["by an agent", { by: "agent:a" }, /not a person/],
    ["without a reason", { reason: " " }, /reason/],
    ["for ever", { forMs: 91 * 24 * HOUR }, /90 days/],
    ["without an end", { forMs: undefined }, /ends/],
    ["for half a use", { uses: 0.5 }, /uses/],
    ["with a condition that is none", { when: "args.amount <" }, /"when"/],
    ["with a condition that is a number", { when: "1 + 2" }, /is needed/],
    ["with a total and no amount", { total: USD }, /together/],
    ["with an amount and no total", { amount: "args.amount" }, /together/],
    ["with a field that is misspelt", { use: 3 }, /"use"/],
    ["for a tool that has no name", { tool: "" }, /^"" is not a tool's name\./],
    ["for a tool whose name has a space", { tool: "re fund" }, /^"re fund" is not a tool's name\./],
    [
      "for an agent whose name says that it is a person",
      { agent: "person:x" },
      /^"person:x" is not an agent's name\./,
    ],
    [
      "with a total in small letters",
      { total: { ...USD, currency: "usd" }, amount: "1" },
      /^A currency is 3 to 8 capital letters/,
    ],
  ];
  for (const [what, change, said] of cases)
    test(what, async () => {
      const process = machine().process();
      refunds(process);
      const offer = { ...OFFER, ...change } as typeof OFFER;
      await assert.rejects(
        process.grants.give(offer),
        (error) => isHoldpointError(error, "invalid_input") && said.test(error.message),
      );
      assert.deepEqual((await process.grants.list({ status: "any" })).items, []);
      await process.close();
    });

  test("with a field that the tool's arguments do not have, in any process that knows the schema", async () => {
    const { process: open } = machine();
    const [worker, desk] = [open(), open({ agent: "desk" })];
    const input = z.object({ amount: z.number() });
    const refund = worker.gate({ name: "refund", input, run: () => null });
    await refund({ amount: 1 }, { requestId: "r-1", waitMs: 0 });
    for (const { grants } of [worker, desk])
      await assert.rejects(grants.give({ ...OFFER, when: "args.amont <= 1" }), /amont/);
    await desk.grants.give({ ...OFFER, when: "args.amount <= 1" });
    await Promise.all([worker.close(), desk.close()]);
  });

  test("by somebody who is suspended, who cannot revoke one either", async () => {
    const process = machine().process();
    refunds(process);
    const { id } = await process.grants.give(OFFER);
    await process.people.suspend("person:bob", { by: "person:ann", reason: "left" });
    const said = { by: "person:bob", reason: "mine" };
    const isOut = (error: unknown) => isHoldpointError(error, "not_eligible");
    await assert.rejects(process.grants.give({ ...OFFER, ...said }), isOut);
    await assert.rejects(process.grants.revoke(id, said), isOut);
    await assert.rejects(process.grants.get("grt_nobody"), (error) => isHoldpointError(error, "unknown_id"));
    await process.close();
  });
});

describe("a grant on the real store", () => {
  test("covers what is written in one transaction with the journal, and the use is in it", async (t) => {
    const hp = temporaryFolder(t).open();
    let fails = true;
    const book = hp.gate({
      name: "book",
      effect: "transactional",
      runInTransaction: (_args: { n: number }, sql) => {
        if (fails) throw new Error("no");
        sql.run("CREATE TABLE IF NOT EXISTS rooms (n INTEGER)");
        return null;
      },
    });
    const { id } = await hp.grants.give({ ...OFFER, tool: "book", uses: 1 });
    assert.equal((await book({ n: 1 }, { requestId: "r-1", waitMs: 0 })).status, "failed");
    fails = false;
    assert.equal((await book({ n: 2 }, { requestId: "r-2", waitMs: 0 })).status, "done");
    assert.ok(isAsked(await book({ n: 3 }, { requestId: "r-3", waitMs: 0 })));
    const uses = await hp.grants.uses(id);
    assert.deepEqual(
      uses.map(({ returned }) => returned),
      [true, false],
    );
  });

  test("is revoked when a restore of the store is acknowledged, also when it was used up", async (t) => {
    const hp = temporaryFolder(t).open();
    const refund = hp.gate({ name: "refund", run: () => null });
    const spent = await hp.grants.give({ ...OFFER, uses: 1 });
    assert.equal((await refund({}, { requestId: "r-1", waitMs: 0 })).status, "done");
    const fresh = await hp.grants.give(OFFER);
    const said = { by: "person:ann", reason: "a copy", anyway: true };
    const { grants } = await hp.acknowledgeRestore(said);
    assert.equal(grants, 2);
    for (const { id } of [spent, fresh]) assert.equal((await hp.grants.get(id)).revoked?.by, "restore");
  });
});
