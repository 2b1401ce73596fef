import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  action,
  add,
  afterProposal,
  applied,
  EPOCH,
  epochDied,
  limited,
  NEXT_EPOCH,
  nextEpochOpen,
  reports,
  usd,
} from "../../../tests/fixtures/rules.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import { INLINE_BYTES } from "../../kernel/stored-value.ts";
import { budgetStream } from "../../kernel/stream.ts";
import type { Draft } from "../../kernel/transaction.ts";
import type { EffectClass } from "../../policy/rules/tool-rules.ts";
import { fact, given, NOON } from "../../testing/given.ts";
import { retryOwn, takeOver } from "./recover.ts";

const running = (effectClass: EffectClass = "once") => afterProposal({ effectClass });
const retries = (draft: Draft) =>
  retryOwn(draft, {
    action: action.id,
    epoch: EPOCH,
    attempt: 1,
    reason: "no answer",
    tool: { keyRetentionMs: 60_000 },
  });
const notApplied = { status: "not_applied", reason: "the card was declined" } as const;
const inDoubt = { status: "in_doubt", reason: "no answer within 30000 ms" } as const;
const daily = budgetStream("daily");
const costing = () =>
  afterProposal({ costs: () => [{ budget: "daily", amount: usd(40n) }] }, [limited("daily", 100n)]);

describe("an outcome", () => {
  test("is written by the epoch and the attempt that hold the effect", () => {
    given(running())
      .when(reports(applied({ id: 7 })))
      .then([
        fact(action, "effect.applied", {
          epoch: EPOCH,
          attempt: 1,
          result: { id: 7 },
          resultDigest: digestOf({ id: 7 }),
        }),
      ])
      .answers({ kind: "recorded", state: { phase: "applied" } });
  });

  test("that certainly did not happen is not_applied, with its reason", () => {
    given(running())
      .when(reports(notApplied))
      .then([fact(action, "effect.not_applied", { reason: "the card was declined" })]);
  });

  test("that nobody knows is in doubt, never failed", () => {
    given(running())
      .when(reports(inDoubt))
      .then([fact(action, "effect.in_doubt", { reason: "no answer within 30000 ms" })])
      .answers({ state: { phase: "in_doubt" } });
  });

  test("of a second attempt that certainly did nothing is in doubt: the first may have been applied", () => {
    const again = given(running("keyed")).when(retries).world;
    const then = given(again).when(reports(notApplied, { attempt: 2 }));
    then.then([fact(action, "effect.in_doubt", { attempt: 2 })]).answers({ state: { phase: "in_doubt" } });
    given(then.world)
      .when(reports(notApplied, { attempt: 2 }))
      .then([])
      .answers({ kind: "recorded" });
  });

  test("said twice by the same executor is recorded once", () => {
    const once = given(running()).when(reports(applied())).world;
    given(once)
      .when(reports(applied()))
      .then([])
      .answers({ kind: "recorded", state: { phase: "applied" } });
  });

  test("larger than 64 KiB is kept as an artifact under its hash", () => {
    const result = "x".repeat(INLINE_BYTES);
    const then = given(running()).when(reports(applied(result)));
    assert.deepEqual(then.appended[0]?.body["result"], {
      $artifact: `sha256:${digestOf(result)}`,
      bytes: INLINE_BYTES + 2,
    });
    assert.equal(then.world.artifacts.length, 1);
  });
});

describe("a zombie's report", () => {
  const recovered = () => add(running(), epochDied, nextEpochOpen);
  const doubted = () =>
    given(recovered()).when((draft) =>
      takeOver(draft, { action: action.id, epoch: NEXT_EPOCH, reason: "its owner died", tool: null }),
    ).world;

  test("after its epoch ended is kept as testimony and changes nothing", () => {
    const then = given(recovered()).when(reports(applied()));
    then.then([fact(action, "effect.reported_late", { epoch: EPOCH, attempt: 1, status: "applied" })]);
    then.answers({ kind: "late", state: { phase: "running" } });
  });

  test("after its effect went in doubt leaves it in doubt, and can be read there", () => {
    const then = given(doubted()).when(reports(applied()));
    assert.partialDeepStrictEqual(then.state(action), {
      phase: "in_doubt",
      effect: { late: [{ status: "applied" }] },
    });
  });

  test("repeated is recorded once", () => {
    const once = given(doubted()).when(reports(applied())).world;
    given(once).when(reports(applied())).then([]).answers({ kind: "late" });
  });

  test("of another attempt than the present one is late", () => {
    given(running())
      .when(reports(applied(), { attempt: 2 }))
      .then([fact(action, "effect.reported_late", { attempt: 2 })]);
  });

  test("of an epoch that never held the effect is late, even while that epoch lives", () => {
    given(add(running(), nextEpochOpen))
      .when(reports(applied(), { epoch: NEXT_EPOCH }))
      .answers({ kind: "late", state: { phase: "running" } });
  });

  test("cannot turn an applied effect into one that was not", () => {
    const done = given(running()).when(reports(applied())).world;
    given(done)
      .when(reports(notApplied))
      .answers({ kind: "late", state: { phase: "applied" } });
  });
});

describe("a reservation", () => {
  test("is settled at the estimate when the tool does not say what it cost", () => {
    const then = given(costing()).when(reports(applied()));
    assert.partialDeepStrictEqual(then.state(daily), { spent: 40n, reserved: 0n, overrun: 0n });
  });

  test("is settled at the true amount, and the rest is free again", () => {
    const then = given(costing()).when(reports(applied("done", { daily: 25n })));
    assert.partialDeepStrictEqual(then.state(daily), { spent: 25n, reserved: 0n, overrun: 0n });
  });

  test("that was too low is settled at the true amount, and the overrun can be seen", () => {
    const then = given(costing()).when(reports(applied("done", { daily: 150n })));
    assert.partialDeepStrictEqual(then.state(daily), { spent: 150n, reserved: 0n, overrun: 110n });
  });

  for (const name of ["constructor", "__proto__", "toString"]) {
    test(`on a budget that is called ${name} is settled at the estimate, or at what was said`, () => {
      const costs = () => [{ budget: name, amount: usd(40n) }];
      const world = afterProposal({ costs }, [limited(name, 100n)]);
      const estimated = given(world).when(reports(applied()));
      assert.partialDeepStrictEqual(estimated.state(budgetStream(name)), { spent: 40n, reserved: 0n });
      const said = given(world).when(reports(applied("done", Object.fromEntries([[name, 25n]]))));
      assert.partialDeepStrictEqual(said.state(budgetStream(name)), { spent: 25n, reserved: 0n });
    });
  }

  test("is released when the effect certainly did not happen", () => {
    const then = given(costing()).when(reports(notApplied));
    assert.partialDeepStrictEqual(then.state(daily), { spent: 0n, reserved: 0n });
  });

  test("is kept while the effect is in doubt", () => {
    const then = given(costing()).when(reports(inDoubt));
    assert.partialDeepStrictEqual(then.state(daily), { spent: 0n, reserved: 40n });
  });

  test("ends once: a late report does not settle it a second time", () => {
    const done = given(costing()).when(reports(applied("done", { daily: 25n }))).world;
    const then = given(done, { now: NOON + 1 }).when(reports(notApplied));
    assert.partialDeepStrictEqual(then.state(daily), { spent: 25n, reserved: 0n });
  });

  test("stands in no way of a report about an action that never started", () => {
    given(afterProposal({ policy: () => ({ verdict: "block", reason: "no" }) }))
      .when(reports(applied()))
      .then([])
      .answers({ kind: "late", state: { phase: "refused" } });
  });
});
