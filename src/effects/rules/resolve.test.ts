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
  epochOpen,
  limited,
  proposes,
  reports,
  SECOND,
  usd,
} from "../../../tests/fixtures/rules.ts";
import { budgetStream } from "../../kernel/stream.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { fact, given, NOON, type World } from "../../testing/given.ts";
import { type ProbeAnswer, recordProbe, resolveByPerson } from "./outcome.ts";

const daily = budgetStream("daily");
const FINALITY = 30 * SECOND;

function inDoubt(): World {
  const costs = () => [{ budget: "daily", amount: usd(40n) }];
  const running = afterProposal({ effectClass: "probed", costs }, [limited("daily", 100n)]);
  return given(running).when(reports({ status: "in_doubt", reason: "time-out" })).world;
}

const probed =
  (answer: ProbeAnswer["answer"], result: ProbeAnswer["result"] = null, askedAt?: number) =>
  (draft: Draft) =>
    recordProbe(draft, {
      action: ACTION,
      probe: { answer, evidence: { seen: answer }, result },
      askedAt: askedAt ?? draft.now,
      isOver: true,
      finalityMs: FINALITY,
    });

/** Asked while the attempt may still do what it was asked to. */
const probedInFlight = (answer: ProbeAnswer["answer"]) => (draft: Draft) =>
  recordProbe(draft, {
    action: ACTION,
    probe: { answer, evidence: null, result: null },
    askedAt: draft.now,
    isOver: false,
    finalityMs: 0,
  });

const resolves =
  (status: "applied" | "not_applied", by = ANN) =>
  (draft: Draft) =>
    resolveByPerson(draft, { action: ACTION, status, by, reason: "asked the bank" });

describe("a probe", () => {
  test("that finds the effect ends the doubt at once, with its evidence", () => {
    const then = given(inDoubt()).when(probed("applied", { id: 7 }));
    then.answers({
      kind: "resolved",
      state: { phase: "applied", outcome: { by: "probe", result: { id: 7 } } },
    });
    assert.partialDeepStrictEqual(then.appended[0], {
      type: "effect.resolved",
      body: { status: "applied", by: "probe", evidence: { seen: "applied" } },
    });
    assert.partialDeepStrictEqual(then.state(daily), { spent: 40n, reserved: 0n });
  });

  for (const [ms, kind] of [
    [-1, "unresolved"],
    [0, "resolved"],
    [1, "resolved"],
  ] as const) {
    test(`that finds nothing ${ms} ms from finality: ${kind}`, () => {
      given(inDoubt(), { now: NOON + FINALITY + ms })
        .when(probed("not_applied"))
        .answers({ kind });
    });
  }

  test("that was asked before finality is not believed because its answer is written down after it", () => {
    given(inDoubt(), { now: NOON + FINALITY + 5 * SECOND })
      .when(probed("not_applied", null, NOON + FINALITY - 1))
      .answers({ kind: "unresolved" });
  });

  test("that finds nothing while the attempt may still be under way is not believed, however late", () => {
    given(inDoubt(), { now: NOON + 1e12 })
      .when(probedInFlight("not_applied"))
      .then([fact(action, "effect.probed", { answer: "not_applied" })])
      .answers({ kind: "unresolved" });
    given(inDoubt()).when(probedInFlight("applied")).answers({ kind: "resolved" });
  });

  test("that finds nothing is not believed against an executor that reported success late", () => {
    const reported = given(inDoubt()).when(reports(applied())).world;
    given(reported, { now: NOON + 1e12 })
      .when(probed("not_applied"))
      .answers({ kind: "unresolved", state: { phase: "in_doubt" } });
    given(reported).when(probed("applied")).answers({ kind: "resolved" });
  });

  test("that finds nothing before finality is written down and changes nothing", () => {
    const then = given(inDoubt()).when(probed("not_applied"));
    then.then([fact(action, "effect.probed", { answer: "not_applied", evidence: { seen: "not_applied" } })]);
    assert.partialDeepStrictEqual(then.state(action), { phase: "in_doubt" });
    assert.equal(then.state(daily).reserved, 40n);
  });

  test("that does not know leaves the doubt, at any time", () => {
    given(inDoubt(), { now: NOON + 1e12 })
      .when(probed("unknown"))
      .answers({ kind: "unresolved" });
  });

  test("that keeps saying the same is written down once, whatever the evidence", () => {
    const once = given(inDoubt()).when(probed("unknown")).world;
    given(once, { now: NOON + SECOND })
      .when(probed("unknown"))
      .then([])
      .answers({ kind: "unresolved" });
    given(once)
      .when(probedInFlight("unknown"))
      .then([])
      .answers({ state: { effect: { probe: { evidence: { seen: "unknown" } } } } });
  });

  test("that finds out later that nothing happened releases the budget", () => {
    const then = given(inDoubt(), { now: NOON + FINALITY }).when(probed("not_applied"));
    assert.partialDeepStrictEqual(then.state(daily), { spent: 0n, reserved: 0n });
  });

  test("of an effect that is not in doubt changes nothing", () => {
    given(afterProposal({ effectClass: "probed" }))
      .when(probed("applied"))
      .then([])
      .answers({ kind: "not_in_doubt" });
  });
});

describe("a person", () => {
  for (const status of ["applied", "not_applied"] as const) {
    test(`resolves doubt as ${status}, with a reason that is kept`, () => {
      given(inDoubt())
        .when(resolves(status))
        .answers({
          kind: "resolved",
          state: { phase: status, outcome: { by: ANN, reason: "asked the bank" } },
        });
    });
  }

  test("who says that it happened books the money; who says that it did not frees it", () => {
    assert.partialDeepStrictEqual(given(inDoubt()).when(resolves("applied")).state(daily), {
      spent: 40n,
      reserved: 0n,
    });
    assert.partialDeepStrictEqual(given(inDoubt()).when(resolves("not_applied")).state(daily), {
      spent: 0n,
      reserved: 0n,
    });
  });

  test("cannot resolve twice: the first word stands", () => {
    const world = given(inDoubt()).when(resolves("applied")).world;
    given(world).when(resolves("not_applied")).then([]).answers({ kind: "not_in_doubt" });
  });

  test("cannot resolve what is still running or has ended", () => {
    given(afterProposal()).when(resolves("applied")).then([]).answers({ kind: "not_in_doubt" });
    const done = given(afterProposal()).when(reports(applied())).world;
    given(done).when(resolves("not_applied")).then([]).answers({ kind: "not_in_doubt" });
  });

  test("cannot resolve doubt about an action that was asked in their own name", () => {
    const running = given([epochOpen]).when(proposes({}, { requester: [AGENT, ANN] })).world;
    const doubt = given(running).when(reports({ status: "in_doubt", reason: "time-out" })).world;
    given(doubt).when(resolves("applied")).then([]).answers({ kind: "not_allowed" });
  });

  test("who lost their standing cannot resolve doubt", () => {
    const suspended = fact({ kind: "roster", id: "people" }, "person.suspended", {
      person: ANN,
      by: "person:bob",
      reason: "left",
    });
    given(add(inDoubt(), suspended)).when(resolves("applied")).then([]).answers({ kind: "not_allowed" });
  });
});

describe("an agent or a service", () => {
  for (const by of [AGENT, "agent:other", "service:cron"]) {
    test(`${by} never resolves doubt by its word`, () => {
      given(inDoubt()).when(resolves("applied", by)).then([]).answers({ kind: "not_allowed" });
    });
  }
});
