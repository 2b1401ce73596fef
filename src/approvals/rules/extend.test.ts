import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  AGENT,
  ANN,
  action,
  add,
  approval,
  asked,
  BOB,
  CAT,
  comesBack,
  ESCALATE,
  epochOpen,
  proposes,
  SECOND,
  says,
  types,
  voted,
  votes,
} from "../../../tests/fixtures/rules.ts";
import { ROSTER } from "../../kernel/stream.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { LONGEST_MS } from "../../policy/rules/stages.ts";
import type { Verdict } from "../../policy/rules/verdict.ts";
import { fact, given, NOON } from "../../testing/given.ts";
import type { LiveApproval } from "../state.ts";
import { extend } from "./deadline.ts";

type ExtendCommand = Parameters<typeof extend>[1];

const TERMS = { approvers: { quorum: 2 }, decideWithinMs: SECOND, executeWithinMs: SECOND };
const extends_ =
  (by: string, until: number, more: Partial<ExtendCommand> = {}) =>
  (draft: Draft) =>
    extend(draft, { approval: approval.id, by, until, seen: null, via: "test", ...more });

describe("a person who gives more time", () => {
  const world = voted(asked(TERMS), ANN);
  const later = NOON + 9 * SECOND;

  test("moves the deadline and the time to start, and is recorded", () => {
    const then = given(world).when(extends_(BOB, later));
    then
      .then([fact(approval, "approval.extended", { by: BOB, from: NOON + SECOND, decideBy: later })])
      .answers({ kind: "extended", decideBy: later });
    const state = then.state(approval) as LiveApproval;
    assert.deepEqual([state.decideBy, state.executeBy], [later, later + SECOND]);
  });

  test("leaves the binding and the votes as they are, and it starts under them", () => {
    const before = given(world)
      .when(() => "look")
      .state(approval) as LiveApproval;
    const then = given(world).when(extends_(BOB, later));
    const state = then.state(approval) as LiveApproval;
    assert.equal(state.binding, before.binding);
    const agreed = given(then.world, { now: later - 1 }).when(votes(BOB));
    agreed.answers({ status: "approved" });
    const policy = says({ ...(ESCALATE as Extract<Verdict, { verdict: "escalate" }>), ...TERMS });
    given(agreed.world, { now: later }).when(comesBack({ policy })).answers({ kind: "started" });
    given(agreed.world, { now: later + SECOND })
      .when(comesBack({ policy }))
      .answers({ kind: "refused" });
  });

  test("twice gives it once", () => {
    const then = given(world).when(extends_(BOB, later));
    given(then.world).when(extends_(BOB, later)).then([]).answers({ kind: "same", decideBy: later });
  });

  test("does not move the deadline beyond what dates can say, however often it is moved", () => {
    const far = given(world).when(extends_(BOB, LONGEST_MS));
    far.answers({ kind: "extended", decideBy: LONGEST_MS });
    given(far.world)
      .when(extends_(BOB, LONGEST_MS + SECOND, { seen: LONGEST_MS }))
      .then([])
      .answers({ kind: "not_possible", reason: "no deadline is later than 2286-11-20T17:46:40.000Z" });
  });

  test("by the length that was seen is refused when the deadline is another by now", () => {
    const then = given(world).when(extends_(BOB, later, { seen: NOON + SECOND }));
    given(then.world)
      .when(extends_(ANN, later + SECOND, { seen: NOON + SECOND }))
      .then([])
      .answers({ kind: "not_possible", reason: "its deadline is another one by now" });
  });

  for (const by of [AGENT, "service:cron", "agent:other"])
    test(`is a person: ${by} is refused, and that is recorded`, () => {
      given(world)
        .when(extends_(by, later))
        .then([fact(approval, "approval.extend_refused", { by })])
        .answers({ kind: "extend_refused" });
    });

  test("is never whom the agent acts for", () => {
    const own = given([epochOpen]).when(
      proposes({ policy: says({ ...ESCALATE, ...TERMS } as Verdict) }, { requester: [AGENT, CAT] }),
    ).world;
    given(own).when(extends_(CAT, later)).answers({ kind: "extend_refused" });
  });

  test("is in good standing", () => {
    const out = add(world, fact(ROSTER, "person.suspended", { person: BOB, by: CAT, reason: "left" }));
    given(out).when(extends_(BOB, later)).answers({ kind: "extend_refused" });
  });

  test("is of the stage that is asked now", () => {
    const staged = asked({ stages: [{ from: [ANN] }, { from: [BOB] }], decideWithinMs: SECOND });
    given(staged).when(extends_(BOB, later)).answers({ kind: "extend_refused" });
    given(staged)
      .when(extends_(ANN, later))
      .then([fact(approval, "approval.extended", { stage: 1 })]);
  });

  test("cannot shorten it, nor extend what has no deadline", () => {
    given(world)
      .when(extends_(BOB, NOON + SECOND))
      .answers({ kind: "not_possible" });
    given(asked()).when(extends_(BOB, later)).answers({ kind: "not_possible", reason: "it has no deadline" });
  });

  for (const [ms, kind] of [
    [-1, "extended"],
    [0, "not_possible"],
    [1, "not_possible"],
  ] as const)
    test(`${ms} ms from the deadline: ${kind}`, () => {
      given(world, { now: NOON + SECOND + ms })
        .when(extends_(BOB, later))
        .answers({ kind });
    });

  test("too late finds it expired, and the action is refused in the same commit", () => {
    const then = given(world, { now: NOON + SECOND }).when(extends_(BOB, later));
    assert.deepEqual(types(then), ["approval.expired", "action.refused"]);
    assert.partialDeepStrictEqual(then.state(action), { refusal: { code: "expired" } });
  });

  test("does not use up the extension that the policy gives by itself", () => {
    const own = asked({ decideWithinMs: SECOND, onTimeout: "extend" });
    const then = given(own).when(extends_(BOB, NOON + 3 * SECOND)).world;
    given(then, { now: NOON + 4 * SECOND - 1 })
      .when(votes(BOB))
      .answers({ status: "approved" });
    given(then, { now: NOON + 4 * SECOND })
      .when(votes(BOB))
      .answers({ status: "expired" });
  });

  test("does nothing to an approval that is decided or unknown", () => {
    given(voted(world, BOB)).when(extends_(CAT, later)).answers({ kind: "not_possible", status: "approved" });
    given(world)
      .when(extends_(BOB, later, { approval: "apr_9" }))
      .then([])
      .answers({ kind: "unknown" });
  });
});
