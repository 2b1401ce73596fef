import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  ACTION,
  ANN,
  APPROVAL,
  APPROVE,
  ARGS,
  action,
  add,
  afterProposal,
  approval,
  asked,
  type Bending,
  BLOCK,
  BOB,
  byAmount,
  comesBack,
  EFFECT,
  EPOCH,
  ESCALATE,
  edits,
  epoch,
  epochOpen,
  proposes,
  SECOND,
  SECOND_APPROVAL,
  says,
  secondApproval,
  voted,
  votes,
} from "../../../tests/fixtures/rules.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { ROSTER } from "../../kernel/stream.ts";
import type { Verdict } from "../../policy/rules/verdict.ts";
import { type Fact, fact, given, NOON, type World } from "../../testing/given.ts";

const escalates = { policy: says(ESCALATE) };
const approved = () => voted(asked(), ANN);
const started = fact(action, "effect.started", {
  effect: EFFECT,
  grant: { kind: "approval", approval: APPROVAL, by: [ANN] },
});
const consumed = fact(approval, "approval.consumed", { effect: EFFECT });

function refusedAtDispatch(world: World, bending: Bending, code: string, now = NOON): void {
  given(world, { now })
    .when(comesBack(bending))
    .then([
      fact(approval, "approval.lapsed"),
      fact(action, "action.refused", { code, by: "dispatch check", retry: false }),
    ])
    .answers({ kind: "refused", refusal: { code } });
}

describe("a question to people", () => {
  const amount = { currency: "USD", micros: 40_000_000n };
  const costs = () => [
    { budget: "daily", amount },
    { budget: "daily", amount },
  ];

  test("says what the tool expects it to cost", () => {
    const said = [{ budget: "daily", currency: "USD", micros: "80000000" }];
    given([epochOpen])
      .when(proposes({ ...escalates, costs }))
      .then([
        fact(action, "action.proposed"),
        fact(action, "action.reviewed", { verdict: "escalate", costs: said }),
        fact(approval, "approval.requested"),
      ]);
  });

  test("is asked all the same where the tool cannot say it", () => {
    const broken = () => {
      throw new Error("no price");
    };
    given([epochOpen])
      .when(proposes({ ...escalates, costs: broken }))
      .answers({ kind: "new" });
  });
});

describe("an approval that people gave", () => {
  test("is used up by the very commit that starts the effect, and names who gave it", () => {
    given(approved()).when(comesBack(escalates)).then([started, consumed]).answers({ kind: "started" });
  });

  test("starts one effect: whoever comes back a second time finds it running", () => {
    const once = given(approved()).when(comesBack(escalates)).world;
    given(once)
      .when(comesBack(escalates))
      .then([])
      .answers({ kind: "settled", state: { phase: "running" } });
  });

  test("passes the notes of its voters on to the tool", () => {
    const noted = given(asked()).when(votes(ANN, { note: "only this once" })).world;
    given(noted)
      .when(comesBack(escalates))
      .then([fact(action, "effect.started", { grant: { notes: ["only this once"] } }), consumed]);
  });

  test("is used up also when the policy has become looser meanwhile", () => {
    given(approved())
      .when(comesBack({ policy: says(APPROVE) }))
      .then([started, consumed]);
  });

  for (const [ms, code] of [
    [-1, undefined],
    [0, "lapsed"],
    [1, "lapsed"],
  ] as const) {
    test(`${ms} ms from execute_by ${code === undefined ? "still starts" : "has lapsed and starts nothing"}`, () => {
      const world = voted(asked({ decideWithinMs: 60 * SECOND, executeWithinMs: 10 * SECOND }), ANN);
      const now = NOON + 70 * SECOND + ms;
      if (code === undefined) given(world, { now }).when(comesBack(escalates)).then([started, consumed]);
      else refusedAtDispatch(world, escalates, code, now);
    });
  }

  test("without execute_by starts a year later", () => {
    given(approved(), { now: NOON + 3.2e10 })
      .when(comesBack(escalates))
      .then([started, consumed]);
  });
});

describe("between decision and dispatch", () => {
  test("a changed input schema refuses what was approved, and says so", () => {
    refusedAtDispatch(approved(), { ...escalates, schemaDigest: digestOf("schema 2") }, "tool_changed");
  });

  test("a changed effect class refuses what was approved", () => {
    refusedAtDispatch(approved(), { ...escalates, effectClass: "idempotent" }, "tool_changed");
  });

  test("a changed input schema refuses an action that nobody was asked about, too", () => {
    const held = given([
      epochOpen,
      fact({ kind: "switch", id: "tenant" }, "switch.stopped", { by: ANN, reason: "x" }),
    ]).when(proposes()).world;
    const released = add(
      held,
      fact({ kind: "switch", id: "tenant" }, "switch.released", { by: ANN, reason: "x" }),
    );
    given(released)
      .when(comesBack({ schemaDigest: digestOf("schema 2") }))
      .then([fact(action, "action.refused", { code: "tool_changed" })]);
  });

  test("a policy that now blocks wins over the approval", () => {
    given(approved())
      .when(comesBack({ policy: says(BLOCK), policyDigest: digestOf("policy 2") }))
      .then([
        fact(approval, "approval.lapsed", { reason: "the policy changed after the approval" }),
        fact(action, "action.reviewed", { verdict: "block", policy: digestOf("policy 2") }),
        fact(action, "action.refused", { code: "blocked", reason: "not today" }),
      ]);
  });

  test("a policy that blocks without having changed (it saw the clock) wins over the approval", () => {
    given(approved())
      .when(comesBack({ policy: says(BLOCK) }))
      .then([
        fact(approval, "approval.lapsed"),
        fact(action, "action.reviewed", { verdict: "block" }),
        fact(action, "action.refused", { code: "blocked" }),
      ]);
  });

  test("a changed policy that still escalates asks again, under a new approval", () => {
    given(approved())
      .when(comesBack({ ...escalates, policyDigest: digestOf("policy 2") }))
      .then([
        fact(approval, "approval.lapsed"),
        fact(action, "action.reviewed", { verdict: "escalate", approval: SECOND_APPROVAL }),
        fact(secondApproval, "approval.requested", { action: ACTION, args: ARGS }),
      ])
      .answers({ kind: "waiting", approval: SECOND_APPROVAL });
  });

  test("a changed policy that now approves starts by its own verdict, not by the old approval", () => {
    given(approved())
      .when(comesBack({ policy: says(APPROVE), policyDigest: digestOf("policy 2") }))
      .then([
        fact(approval, "approval.lapsed"),
        fact(action, "action.reviewed", { verdict: "approve" }),
        fact(action, "effect.started", { grant: { kind: "verdict", policy: digestOf("policy 2") } }),
      ]);
  });

  test("a policy that now wants other arguments asks people about those", () => {
    const capped = says({ verdict: "revise", set: { amount: 60 }, reason: "cap" });
    const policy = (input: { args: unknown }): Verdict =>
      (input.args as { amount: number }).amount > 60 ? capped() : ESCALATE;
    given(approved())
      .when(comesBack({ policy }))
      .then([
        fact(approval, "approval.lapsed"),
        fact(action, "action.revised", { by: "policy", args: { amount: 60 } }),
        fact(action, "action.reviewed", { verdict: "escalate" }),
        fact(secondApproval, "approval.requested", { args: { ...ARGS, amount: 60 } }),
      ]);
  });

  test("a policy that now asks for more people than have voted asks them", () => {
    const stricter = says({ ...(ESCALATE as object), approvers: { quorum: 2 } } as Verdict);
    given(approved())
      .when(comesBack({ policy: stricter }))
      .then([
        fact(approval, "approval.lapsed"),
        fact(action, "action.reviewed", { verdict: "escalate", approval: SECOND_APPROVAL }),
        fact(secondApproval, "approval.requested", { approvers: { quorum: 2 } }),
      ]);
  });

  test("an approver who lost their standing no longer counts: people are asked again", () => {
    const suspended = add(
      approved(),
      fact(ROSTER, "person.suspended", { person: ANN, by: BOB, reason: "left" }),
    );
    given(suspended)
      .when(comesBack(escalates))
      .then([
        fact(approval, "approval.lapsed", { reason: "an approver lost their standing" }),
        fact(action, "action.reviewed"),
        fact(secondApproval, "approval.requested"),
      ]);
  });

  test("an approver who is back in good standing counts", () => {
    const back = add(
      approved(),
      fact(ROSTER, "person.suspended", { person: ANN, by: BOB, reason: "left" }),
      fact(ROSTER, "person.reinstated", { person: ANN, by: BOB, reason: "is back" }),
    );
    given(back).when(comesBack(escalates)).then([started, consumed]);
  });

  test("the editor of a modified approval has to keep their standing too", () => {
    const modified = given(asked()).when(edits(ANN, { ...ARGS, amount: 60 }, { policy: byAmount })).world;
    const suspended = add(
      modified,
      fact(ROSTER, "person.suspended", { person: ANN, by: BOB, reason: "left" }),
    );
    given(suspended)
      .when(comesBack({ policy: byAmount, approval: "apr_3" }))
      .answers({ kind: "waiting", approval: "apr_3" });
  });

  const terms: Readonly<Record<string, JsonObject>> = {
    tenant: {},
    arguments: { args: { ...ARGS, amount: 101 }, argsDigest: digestOf({ ...ARGS, amount: 101 }) },
    "approver rule": { approvers: { quorum: 1, from: [ANN], veto: true } },
    decide_by: { decideBy: NOON + SECOND },
    execute_by: { executeBy: NOON + SECOND },
    nonce: { nonce: "non_9" },
  };
  for (const [name, change] of Object.entries(terms)) {
    test(`a journal in which the approved ${name} differs from what would run dispatches nothing`, () => {
      const forge = (one: Fact): Fact =>
        one.type === "approval.requested" ? { ...one, body: { ...one.body, ...change } } : one;
      const world = approved();
      const forged = { ...world, facts: world.facts.map(forge) };
      const answer = given(forged, name === "tenant" ? { tenant: "other" } : {}).when(
        comesBack(escalates),
      ).answer;
      // Changed arguments in the approval alone are not what the action would run.
      if (name === "arguments") assert.equal(answer.kind, "started");
      else assert.partialDeepStrictEqual(answer, { kind: "refused", refusal: { code: "binding_broken" } });
    });
  }

  test("an action whose arguments were changed in the journal dispatches nothing", () => {
    const world = approved();
    const forge = (one: Fact): Fact =>
      one.type === "action.proposed"
        ? { ...one, body: { ...one.body, args: { ...ARGS, amount: 101 } } }
        : one;
    refusedAtDispatch({ ...world, facts: world.facts.map(forge) }, escalates, "binding_broken");
  });
});

describe("an action that nobody was asked about", () => {
  const held = () => given([epochOpen, stop]).when(proposes()).world;
  const stop = fact({ kind: "switch", id: "tenant" }, "switch.stopped", { by: ANN, reason: "x" });
  const go = fact({ kind: "switch", id: "tenant" }, "switch.released", { by: ANN, reason: "x" });

  test("and whose arguments are no longer those proposed is refused when it could start", () => {
    const forge = (one: Fact): Fact =>
      one.type === "action.proposed"
        ? { ...one, body: { ...one.body, args: { ...ARGS, amount: 101 } } }
        : one;
    const world = add(held(), go);
    given(world).when(comesBack()).answers({ kind: "started" });
    given({ ...world, facts: world.facts.map(forge) })
      .when(comesBack())
      .then([fact(action, "action.refused", { code: "binding_broken" })]);
  });
});

describe("coming back", () => {
  test("to a pending question waits and writes nothing", () => {
    given(asked()).when(comesBack(escalates)).then([]).answers({ kind: "waiting", approval: APPROVAL });
  });

  for (const [ms, kind] of [
    [-1, "waiting"],
    [0, "refused"],
    [1, "refused"],
  ] as const) {
    test(`to a question ${ms} ms from decide_by: ${kind}`, () => {
      given(asked({ decideWithinMs: SECOND }), { now: NOON + SECOND + ms })
        .when(comesBack(escalates))
        .answers({ kind });
    });
  }

  test("to a question past its deadline records expiry, which has no decider and is not a rejection", () => {
    given(asked({ decideWithinMs: SECOND }), { now: NOON + SECOND })
      .when(comesBack(escalates))
      .then([
        fact(approval, "approval.expired", { decideBy: NOON + SECOND }),
        fact(action, "action.refused", { code: "expired", by: "deadline" }),
      ]);
  });

  test("to an ended action answers what it is", () => {
    given(afterProposal({ policy: says(BLOCK) }))
      .when(comesBack())
      .then([])
      .answers({ kind: "settled", state: { phase: "refused" } });
  });

  test("in the name of an epoch that ended starts nothing, approval or not", () => {
    given(add(approved(), fact(epoch, "epoch.died", { by: "epo_2" })))
      .when(comesBack(escalates))
      .then([])
      .answers({ kind: "epoch_ended" });
  });

  test("reviews an edit that a process without the tool left behind", () => {
    const open = given(asked()).when(votes(ANN, { edit: { ...ARGS, amount: 60 } })).world;
    given(open)
      .when(comesBack({ policy: byAmount }))
      .answers({ kind: "moved" })
      .then([
        fact(action, "action.revised", { by: ANN, args: { amount: 60 } }),
        fact(action, "action.reviewed"),
        fact(approval, "approval.revised", { by: ANN }),
        fact(approval, "approval.voted", { by: ANN }),
        fact(approval, "approval.modified", { by: [ANN] }),
      ]);
  });
});

describe("a grant by verdict", () => {
  test("is bound to tenant, stream, action, tool, schema, arguments, class, policy and requester", () => {
    const binding = (tenant: string, bending: Bending = {}) => {
      const body = given([epochOpen], { tenant }).when(proposes(bending)).appended.at(-1)?.body;
      return body?.["binding"];
    };
    const all = [
      binding("acme"),
      binding("other"),
      binding("acme", { name: "charge" }),
      binding("acme", { schemaDigest: digestOf("schema 2") }),
      binding("acme", { effectClass: "keyed" }),
      binding("acme", { policyDigest: digestOf("policy 2") }),
      binding("acme", { nonce: "non_9" }),
    ];
    assert.equal(new Set(all).size, all.length);
    assert.equal(binding("acme", { epoch: EPOCH }), all[0]);
  });

  test("runs the arguments as the policy revised them", () => {
    const policy = ({ args }: { args: unknown }): Verdict =>
      (args as { amount: number }).amount > 50
        ? { verdict: "revise", set: { amount: 50 }, reason: "cap" }
        : APPROVE;
    const then = given([epochOpen])
      .when(proposes({ policy }))
      .then([
        fact(action, "action.proposed", { args: ARGS }),
        fact(action, "action.revised", { by: "policy", args: { amount: 50 }, reason: "cap" }),
        fact(action, "action.reviewed", { verdict: "approve" }),
        fact(action, "effect.started"),
      ]);
    assert.partialDeepStrictEqual(then.state(action), {
      args: { order: "A-1", amount: 50 },
      proposedDigest: digestOf(ARGS),
      from: "supervisor_revised",
    });
  });
});
