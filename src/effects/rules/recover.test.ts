import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  ACTION,
  AGENT,
  ANN,
  action,
  add,
  afterProposal,
  applied,
  asked,
  comesBack,
  EPOCH,
  ESCALATE,
  epochDied,
  limited,
  NEXT_EPOCH,
  nextEpochOpen,
  reports,
  SECOND,
  says,
  stopped,
  tenantSwitch,
  usd,
  voted,
} from "../../../tests/fixtures/rules.ts";
import { budgetStream } from "../../kernel/stream.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { EFFECT_CLASSES, type EffectClass } from "../../policy/rules/tool-rules.ts";
import { fact, given, NOON, type World } from "../../testing/given.ts";
import { admitSend, type Retry, retryOwn, type SendCommand, takeOver } from "./recover.ts";

const KNOWN = { keyRetentionMs: 60 * SECOND };

const takesOver =
  (given: Partial<Retry> = {}) =>
  (draft: Draft) =>
    takeOver(draft, { action: ACTION, epoch: NEXT_EPOCH, reason: "its owner died", tool: KNOWN, ...given });

const triesAgain =
  (given: Partial<Retry> = {}) =>
  (draft: Draft) =>
    retryOwn(draft, { action: ACTION, epoch: EPOCH, attempt: 1, reason: "HTTP 503", tool: KNOWN, ...given });

const looksBeforeSending =
  (given: Partial<SendCommand> = {}) =>
  (draft: Draft) =>
    admitSend(draft, { action: ACTION, epoch: EPOCH, isLeft: () => false, ...given });

/** The world in which an effect may only begin within ten seconds. */
const bound = (world: World): World => ({
  ...world,
  facts: world.facts.map((one) =>
    one.type === "effect.started" ? { ...one, body: { ...one.body, executeBy: NOON + 10 * SECOND } } : one,
  ),
});

const orphan = (effectClass: EffectClass): World =>
  add(afterProposal({ effectClass }), epochDied, nextEpochOpen);

const retried = fact(action, "effect.retried", { epoch: NEXT_EPOCH, reason: "its owner died" });

describe("after a crash between start and outcome", () => {
  const sent: Readonly<Record<EffectClass, boolean>> = {
    read: true,
    idempotent: true,
    keyed: true,
    probed: false,
    transactional: false,
    once: false,
  };
  for (const effectClass of EFFECT_CLASSES) {
    test(`an effect of class ${effectClass} is ${sent[effectClass] ? "sent again" : "in doubt"}`, () => {
      const then = given(orphan(effectClass)).when(takesOver());
      if (sent[effectClass])
        then.then([retried]).answers({ kind: "retry", state: { effect: { attempt: 2 } } });
      else then.then([fact(action, "effect.in_doubt", { attempt: 1 })]).answers({ kind: "in_doubt" });
    });
  }

  test("the next attempt has the same key and belongs to the new epoch", () => {
    const before = given(orphan("keyed"))
      .when(takesOver({ tool: null }))
      .state(action);
    const after = given(orphan("keyed")).when(takesOver()).state(action);
    assert.ok("effect" in before && "effect" in after);
    assert.equal(after.effect.id, before.effect.id);
    assert.partialDeepStrictEqual(after.effect, { epoch: NEXT_EPOCH, attempt: 2, startedAt: NOON });
  });

  test("the old owner's report then counts for nothing", () => {
    const world = given(orphan("idempotent")).when(takesOver()).world;
    given(world)
      .when(reports(applied()))
      .answers({ kind: "late", state: { phase: "running" } });
  });

  for (const [ms, kind] of [
    [-1, "retry"],
    [0, "in_doubt"],
    [1, "in_doubt"],
  ] as const) {
    test(`a keyed effect ${ms} ms from the end of the receiver's memory: ${kind}`, () => {
      given(orphan("keyed"), { now: NOON + 60 * SECOND + ms })
        .when(takesOver())
        .answers({ kind });
    });
  }

  test("an idempotent effect is sent again however late", () => {
    given(orphan("idempotent"), { now: NOON + 1e12 })
      .when(takesOver())
      .answers({ kind: "retry" });
  });

  for (const [ms, kind] of [
    [-1, "retry"],
    [0, "in_doubt"],
  ] as const) {
    test(`an idempotent effect ${ms} ms from execute_by: ${kind}`, () => {
      const started = add(afterProposal({ effectClass: "idempotent" }), epochDied, nextEpochOpen);
      given(bound(started), { now: NOON + 10 * SECOND + ms })
        .when(takesOver())
        .answers({ kind });
    });
  }

  test("an effect whose owner lives is left alone", () => {
    given(add(afterProposal({ effectClass: "idempotent" }), nextEpochOpen))
      .when(takesOver())
      .then([])
      .answers({ kind: "left" });
  });

  test("an effect with an outcome is left alone", () => {
    const done = given(afterProposal()).when(reports(applied())).world;
    given(add(done, epochDied, nextEpochOpen))
      .when(takesOver())
      .then([])
      .answers({ kind: "left" });
  });

  test("an effect is taken over by one process: the second finds the owner alive", () => {
    const world = given(orphan("idempotent")).when(takesOver()).world;
    given(world)
      .when(takesOver({ epoch: "epo_3" }))
      .then([])
      .answers({ kind: "left" });
  });

  for (const at of [tenantSwitch, undefined]) {
    test(`nothing is sent again while the kill switch of the ${at === undefined ? "agent" : "tenant"} is on`, () => {
      const world = add(orphan("keyed"), stopped(at));
      given(world).when(takesOver()).then([]).answers({ kind: "left" });
    });
  }

  test("the kill switch does not hide that an effect of class once is in doubt", () => {
    given(add(orphan("once"), stopped(tenantSwitch)))
      .when(takesOver())
      .answers({ kind: "in_doubt" });
  });

  test("a process without the tool leaves what could be sent again to one that has it", () => {
    given(orphan("idempotent"))
      .when(takesOver({ tool: null }))
      .then([])
      .answers({ kind: "left" });
  });

  test("a process without the tool still says that an effect of class once is in doubt", () => {
    given(orphan("once"))
      .when(takesOver({ tool: null }))
      .answers({ kind: "in_doubt" });
  });

  test("the reservation stays while in doubt", () => {
    const costs = () => [{ budget: "daily", amount: usd(40n) }];
    const world = add(afterProposal({ costs }, [limited("daily", 100n)]), epochDied, nextEpochOpen);
    const then = given(world).when(takesOver());
    assert.equal(then.state(budgetStream("daily")).reserved, 40n);
  });

  test("an approval that was used up stays used up: in doubt is not asked about again", () => {
    const started = given(voted(asked(), ANN)).when(comesBack({ policy: says(ESCALATE) })).world;
    const doubt = given(add(started, epochDied, nextEpochOpen)).when(takesOver()).world;
    given(doubt)
      .when(comesBack({ policy: says(ESCALATE), epoch: NEXT_EPOCH }))
      .then([])
      .answers({ kind: "settled", state: { phase: "in_doubt" } });
  });
});

describe("an owner whose attempt failed without proof", () => {
  const own = (effectClass: EffectClass) => afterProposal({ effectClass });

  test("sends again what may be sent again, as the next attempt", () => {
    given(own("keyed"))
      .when(triesAgain())
      .then([fact(action, "effect.retried", { epoch: EPOCH, reason: "HTTP 503" })])
      .answers({ kind: "retry", state: { effect: { attempt: 2 } } });
  });

  for (const effectClass of ["once", "probed"] as const) {
    test(`never sends an effect of class ${effectClass} twice: it is in doubt`, () => {
      given(own(effectClass))
        .when(triesAgain())
        .then([
          fact(action, "effect.in_doubt", {
            reason: `HTTP 503; a tool of class ${effectClass} is not sent twice`,
          }),
        ]);
    });
  }

  test("does not send again while the kill switch is on: in doubt", () => {
    given(add(own("idempotent"), stopped(tenantSwitch)))
      .when(triesAgain())
      .answers({ kind: "in_doubt" });
  });

  for (const effectClass of ["idempotent", "once"] as const) {
    test(`after another process took it for dead it leaves an effect of class ${effectClass} to whoever takes over`, () => {
      given(add(own(effectClass), epochDied))
        .when(triesAgain())
        .then([])
        .answers({ kind: "left" });
    });
  }

  test("that lost the effect to another process leaves it alone", () => {
    const taken = given(add(own("idempotent"), epochDied, nextEpochOpen)).when(takesOver()).world;
    given(taken).when(triesAgain()).then([]).answers({ kind: "left" });
  });

  test("asks for one next attempt, not two", () => {
    const once = given(own("idempotent")).when(triesAgain()).world;
    given(once).when(triesAgain()).then([]).answers({ kind: "left" });
  });

  test("of another agent's switch is not stopped by it", () => {
    const other = fact({ kind: "switch", id: `${AGENT}-2` }, "switch.stopped", { by: ANN, reason: "x" });
    given(add(own("idempotent"), other))
      .when(triesAgain())
      .answers({ kind: "retry" });
  });
});

describe("the last look before a send", () => {
  const started = (effectClass: EffectClass = "once") => afterProposal({ effectClass });

  test("lets through what may still be sent, and writes nothing", () => {
    given(started())
      .when(looksBeforeSending())
      .then([])
      .answers({ kind: "send", state: { phase: "running" }, now: NOON });
  });

  for (const at of [tenantSwitch, undefined]) {
    test(`finds the kill switch of the ${at === undefined ? "agent" : "tenant"} on: it certainly did nothing`, () => {
      given(add(started(), stopped(at)))
        .when(looksBeforeSending())
        .then([fact(action, "effect.not_applied", { attempt: 1 })])
        .answers({ kind: "left", state: { phase: "not_applied" } });
    });
  }

  for (const [ms, kind] of [
    [-1, "send"],
    [0, "left"],
  ] as const) {
    test(`is taken ${ms} ms from execute_by: ${kind}`, () => {
      given(bound(started()), { now: NOON + 10 * SECOND + ms })
        .when(looksBeforeSending())
        .answers({ kind });
    });
  }

  test("releases what an effect that is not sent any more had reserved", () => {
    const costs = () => [{ budget: "daily", amount: usd(40n) }];
    const world = add(afterProposal({ costs }, [limited("daily", 100n)]), stopped(tenantSwitch));
    const then = given(world).when(looksBeforeSending());
    assert.partialDeepStrictEqual(then.state(budgetStream("daily")), { spent: 0n, reserved: 0n });
  });

  test("at a second attempt finds doubt, not certainty: the first may have been applied", () => {
    const again = given(started("idempotent")).when(triesAgain()).world;
    given(add(again, stopped(tenantSwitch)))
      .when(looksBeforeSending())
      .then([fact(action, "effect.in_doubt", { attempt: 2 })]);
  });

  test("leaves alone what may have been sent, what is another's and what has ended", () => {
    const world = add(started(), stopped(tenantSwitch));
    for (const bending of [{ isLeft: () => true }, { epoch: NEXT_EPOCH }])
      given(world).when(looksBeforeSending(bending)).then([]).answers({ kind: "left" });
    const done = given(started()).when(reports(applied())).world;
    given(add(done, stopped(tenantSwitch)))
      .when(looksBeforeSending())
      .then([])
      .answers({ kind: "left", state: { phase: "applied" } });
  });
});
