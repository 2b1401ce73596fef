/** Approvals in stages, deadlines and more time, through the instance and under a clock that the test moves. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Verdict } from "../../src/index.ts";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import { machine, type Process, pendingOf, settled } from "../fixtures/runtime.ts";

const MINUTE = 60_000;
const [ANN, BOB, CAT] = ["person:ann", "person:bob", "person:cat"] as const;
type Terms = Omit<Extract<Verdict, { verdict: "escalate" }>, "verdict">;

function asking(terms: Terms) {
  const computer = machine();
  const hp = computer.process();
  const tool = hp.gate({ name: "pay", policy: { verdict: "escalate", ...terms }, run: () => "paid" });
  const call = tool({ amount: 1 }, { requestId: "r" });
  return { computer, hp, call };
}

const typesOf = async (hp: Process, id: string) =>
  (await hp.journal.read(id)).map(({ type }) => type).filter((type) => type.startsWith("approval."));
const saysOf = (said: PromiseSettledResult<unknown>): string => {
  if (said.status === "fulfilled") return "counted";
  return isHoldpointError(said.reason) ? said.reason.code : String(said.reason);
};

describe("an approval in stages", () => {
  test("lets the waiting program go on when the last stage has agreed", async () => {
    const { hp, call } = asking({ stages: [{ from: [ANN] }, { from: [BOB] }] });
    const id = await pendingOf(hp);
    assert.equal((await hp.approvals.approve(id, { by: ANN })).status, "pending");
    await hp.approvals.approve(id, { by: BOB });
    const answer = await call;
    assert.ok(answer.status === "done");
    assert.deepEqual(answer.receipt.approvedBy, [ANN, BOB]);
    await hp.close();
  });

  test("two votes at once that both complete a stage: one does, and the stage is met once", async () => {
    const { hp, call } = asking({ stages: [{ from: [ANN, BOB] }, { from: [CAT] }] });
    const id = await pendingOf(hp);
    const both = [ANN, BOB].map((by) => hp.approvals.approve(id, { by }));
    const said = (await Promise.allSettled(both)).map(saysOf);
    assert.deepEqual(said.toSorted(), ["counted", "decision_conflict"]);
    const types = await typesOf(hp, id);
    assert.equal(types.filter((type) => type === "approval.stage_met").length, 1);
    await hp.approvals.approve(id, { by: CAT });
    assert.equal((await call).status, "done");
    await hp.close();
  });

  for (const [ms, first, second] of [
    [-1, "counted", "not_eligible"],
    [0, "decision_conflict", "counted"],
  ] as const)
    test(`votes of both stages ${ms} ms from the deadline: ${first} and ${second}, with no sweeper about`, async () => {
      const terms = { stages: [{ from: [ANN, BOB], quorum: 2, decideWithinMs: 500 }, { from: [CAT] }] };
      const { computer, hp, call } = asking({ ...terms, onTimeout: "escalate" });
      const id = await pendingOf(hp);
      await computer.clock.advance(500 + ms);
      const votes = [ANN, CAT].map((by) => hp.approvals.approve(id, { by }));
      assert.deepEqual((await Promise.allSettled(votes)).map(saysOf), [first, second]);
      if (second === "counted") assert.equal((await call).status, "done");
      await hp.close();
      await call.catch(() => undefined);
    });

  test("moves on by itself when its time is up, and the program keeps waiting for the next stage", async () => {
    const stages = [
      { from: [ANN], decideWithinMs: MINUTE },
      { from: [BOB], decideWithinMs: MINUTE },
    ];
    const { computer, hp, call } = asking({ stages, onTimeout: "escalate" });
    const id = await pendingOf(hp);
    await computer.clock.advance(MINUTE + 2_000);
    await settled();
    const state = await hp.approvals.get(id);
    assert.partialDeepStrictEqual(state, { stage: 2, handedOver: [1], status: "pending" });
    const [row] = (await hp.approvals.list()).items;
    assert.partialDeepStrictEqual(row, { stage: 2, stages: 2, from: [BOB], atDeadline: "expire" });
    await computer.clock.advance(MINUTE);
    const answer = await call;
    assert.partialDeepStrictEqual(answer, { status: "refused", code: "expired" });
    await hp.close();
  });

  test("that is extended by its policy is announced once, and expires then", async () => {
    const { computer, hp, call } = asking({ decideWithinMs: MINUTE, onTimeout: "extend" });
    const id = await pendingOf(hp);
    await computer.clock.advance(MINUTE + 2_000);
    assert.equal((await hp.approvals.get(id)).status, "pending");
    await computer.clock.advance(MINUTE);
    assert.partialDeepStrictEqual(await call, { status: "refused", code: "expired" });
    const types = await typesOf(hp, id);
    assert.deepEqual(types, [
      "approval.requested",
      "approval.reminded",
      "approval.extended",
      "approval.reminded",
      "approval.expired",
    ]);
    await hp.close();
  });
});

describe("more time", () => {
  test("keeps a question open that would have expired, and the program hears of the decision", async () => {
    const { computer, hp, call } = asking({ decideWithinMs: MINUTE });
    const id = await pendingOf(hp);
    const { decideBy } = await hp.approvals.extend(id, { by: ANN, byMs: MINUTE });
    await computer.clock.advance(MINUTE + 10_000);
    const state = await hp.approvals.get(id);
    assert.partialDeepStrictEqual(state, { status: "pending", decideBy });
    await hp.approvals.approve(id, { by: BOB, binding: state.binding });
    assert.equal((await call).status, "done");
    await hp.close();
  });

  test("asked for twice at once by two people adds up to what each saw, once", async () => {
    const { hp, call } = asking({ decideWithinMs: MINUTE });
    const id = await pendingOf(hp);
    const before = (await hp.approvals.get(id)).decideBy ?? 0;
    const both = [ANN, BOB].map((by) => hp.approvals.extend(id, { by, byMs: MINUTE }));
    await Promise.allSettled(both);
    const state = await hp.approvals.get(id);
    // The second saw a deadline that had moved, looked again, and added to that.
    assert.equal(state.decideBy, before + 2 * MINUTE);
    assert.equal(state.extensions.length, 2);
    await hp.close();
    await call.catch(() => undefined);
  });

  test("can be asked for right after a deadline handed over, by somebody of the next stage", async () => {
    const stages = [
      { from: [ANN], decideWithinMs: 300 },
      { from: [BOB], decideWithinMs: MINUTE },
    ];
    const { computer, hp, call } = asking({ stages, onTimeout: "escalate" });
    const id = await pendingOf(hp);
    const begun = (await hp.approvals.get(id)).requestedAt;
    await computer.clock.advance(300);
    const { decideBy } = await hp.approvals.extend(id, { by: BOB, byMs: MINUTE });
    assert.equal(decideBy, begun + 300 + 2 * MINUTE);
    await hp.close();
    await call.catch(() => undefined);
  });

  for (const [what, more] of [
    ["nobody", { byMs: 1 }],
    ["an agent", { by: "agent:tester", byMs: 1 }],
    ["no time", { by: ANN }],
    ["both kinds of time", { by: ANN, byMs: 1, until: 2 }],
    ["less time", { by: ANN, byMs: -1 }],
    ["half a millisecond", { by: ANN, byMs: 0.5 }],
    ["time without end", { by: ANN, byMs: Number.POSITIVE_INFINITY }],
    ["a date", { by: ANN, until: new Date() }],
    ["a moment that no calendar has", { by: ANN, until: 1e15 }],
    ["a channel that is none", { by: ANN, byMs: 1, via: "My Phone" }],
    ["a field that is none", { by: ANN, byMs: 1, reason: "x" }],
  ] as const)
    test(`from ${what} is refused before anything is looked at`, async () => {
      const { hp, call } = asking({ decideWithinMs: MINUTE });
      const id = await pendingOf(hp);
      await assert.rejects(hp.approvals.extend(id, more as never), (error) =>
        isHoldpointError(error, "invalid_input"),
      );
      await hp.close();
      await call.catch(() => undefined);
    });
});

describe("a rule that nobody could meet", () => {
  for (const stages of [
    [{ from: [ANN] }, { from: [ANN] }],
    [{}, { from: [ANN], quorum: 2 }],
  ])
    test(`is refused when it is written: ${JSON.stringify(stages)}`, () => {
      const hp = machine().process();
      const policy = { verdict: "escalate", stages } as const;
      assert.throws(
        () => hp.gate({ name: "pay", policy, run: () => 1 }),
        (error) => isHoldpointError(error, "unsatisfiable_quorum"),
      );
    });

  test("and an end of time that is none, too", () => {
    const hp = machine().process();
    const policy = { verdict: "escalate", onTimeout: "approve" } as never;
    assert.throws(
      () => hp.gate({ name: "pay", policy, run: () => 1 }),
      (error) => isHoldpointError(error, "invalid_input"),
    );
  });
});
