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
  approval,
  asked,
  BLOCK,
  BOB,
  byAmount,
  comesBack,
  ESCALATE,
  edits,
  executor,
  SECOND,
  SECOND_APPROVAL,
  says,
  secondApproval,
  types,
  voted,
  votes,
} from "../../../tests/fixtures/rules.ts";
import type { LiveApproval } from "../../approvals/state.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { INLINE_BYTES } from "../../kernel/stored-value.ts";
import { ROSTER } from "../../kernel/stream.ts";
import type { PolicyInput, Verdict } from "../../policy/rules/verdict.ts";
import { fact, given, NOON } from "../../testing/given.ts";
import { reviewEdit } from "./edit.ts";

const LESS = { ...ARGS, amount: 60 };
const policy = byAmount;
const two = () => asked({ approvers: { quorum: 2 } });
const escalateTwo = says({ ...(ESCALATE as object), approvers: { quorum: 2 } } as Verdict);

const stateOf = (then: { state(ref: typeof approval): unknown }) => then.state(approval) as LiveApproval;

describe("an edit", () => {
  test("is a new proposal: revised by the person, reviewed, bound anew, and the editor's own vote counts", () => {
    const before = asked();
    const then = given(before).when(edits(ANN, LESS, { policy }));
    then
      .then([
        fact(approval, "approval.edited", { by: ANN, args: LESS, argsDigest: digestOf(LESS) }),
        fact(approval, "approval.revised", { by: ANN, args: LESS, nonce: "non_2" }),
        fact(approval, "approval.voted", { by: ANN, decision: "approve" }),
        fact(approval, "approval.modified", { by: [ANN] }),
        fact(action, "action.revised", { by: ANN, args: LESS }),
        fact(action, "action.reviewed", { verdict: "escalate", approval: APPROVAL }),
      ])
      .answers({ kind: "recorded", status: "modified", approval: APPROVAL });
    assert.notEqual(stateOf(then).binding, stateOf(given(before).when(comesBack({ policy }))).binding);
  });

  test("leaves proposed, approved and executed arguments as three facts, and says whose the last were", () => {
    const modified = given(asked()).when(edits(ANN, LESS, { policy })).world;
    const then = given(modified).when(comesBack({ policy, approval: "apr_3" }));
    then.answers({ kind: "started" });
    assert.partialDeepStrictEqual(then.state(action), {
      proposedDigest: digestOf(ARGS),
      args: LESS,
      argsDigest: digestOf(LESS),
      from: "human_revised",
      effect: { grant: { kind: "approval", by: [ANN] } },
    });
    assert.equal(stateOf(then).status, "consumed");
  });

  test("that changes nothing is a plain approval: what runs stays the original", () => {
    const then = given(asked()).when(edits(ANN, { amount: 100, order: "A-1" }, { policy }));
    then.answers({ status: "approved" });
    assert.partialDeepStrictEqual(then.state(action), { from: "original" });
    given(then.world)
      .when(comesBack({ policy, approval: "apr_3" }))
      .answers({ kind: "started" });
  });

  test("that does not fit the schema is refused; the question stays open and nothing runs", () => {
    const then = given(asked()).when(edits(ANN, { order: "A-1", amount: "much" }, { policy }));
    then
      .then([fact(approval, "approval.edited"), fact(approval, "approval.edit_refused", { rule: "schema" })])
      .answers({ kind: "vote_refused", code: "edit_refused", status: "pending" });
    assert.partialDeepStrictEqual(stateOf(then), {
      edit: null,
      editRefused: { by: ANN, reason: "amount: not a number" },
    });
  });

  test("that policy blocks is refused with the policy's reason; the question stays open", () => {
    given(asked())
      .when(edits(ANN, { ...ARGS, amount: 5000 }, { policy }))
      .then([
        fact(approval, "approval.edited"),
        fact(approval, "approval.edit_refused", { rule: "never", reason: "not today" }),
      ]);
  });

  test("that was refused can be followed by another decision of the same person", () => {
    const refused = given(asked()).when(edits(ANN, { ...ARGS, amount: 5000 }, { policy })).world;
    given(refused).when(votes(ANN)).answers({ status: "approved" });
    given(refused)
      .when(edits(ANN, LESS, { policy }))
      .answers({ status: "modified" });
  });

  test("that policy would let through by itself is approved by the editor alone", () => {
    const free = { ...ARGS, amount: 10 };
    const then = given(two()).when(edits(ANN, free, { policy }));
    then.answers({ status: "modified" });
    given(then.world)
      .when(comesBack({ policy, approval: "apr_3" }))
      .answers({ kind: "started" });
  });

  test("is recorded as what its review said: let through, with its risk and the rules on trial", () => {
    const risk = { score: 1, level: "low", conditions: ["small"] } as const;
    const shadow = [{ rule: "trial", verdict: "block", reason: "perhaps" }];
    const remarks = { rule: "small", reason: "little", risk, shadow };
    const small = { ...ARGS, amount: 10 };
    for (const [verdict, documents] of [
      ["approve", [digestOf("of the instance"), digestOf("of the run")]],
      ["escalate", undefined],
    ] as const) {
      const rules = { policy: says({ ...remarks, verdict }), ...(documents && { documents }) };
      const then = given(asked()).when(edits(ANN, small, rules));
      const policy = digestOf("policy 1");
      const said = { verdict, ...remarks, policy, ...(documents && { documents }) };
      const body = then.appended.find(({ type }) => type === "action.reviewed")?.body;
      assert.deepEqual(body, { ...said, approval: APPROVAL });
      assert.partialDeepStrictEqual(then.state(action), { phase: "waiting", approval: APPROVAL });
    }
  });

  test("that is refused says by which versions of the policy, and what they remarked; a schema has none", () => {
    const risk = { score: 1, level: "low", conditions: ["small"] } as const;
    const shadow = [{ rule: "trial", verdict: "block", reason: "perhaps" }];
    const documents = [digestOf("of the instance"), digestOf("of the run")];
    const refusal = (args: object, policy: (input: PolicyInput) => Verdict) =>
      given(asked())
        .when(edits(ANN, args as Json, { policy, documents }))
        .appended.find(({ type }) => type === "approval.edit_refused")?.body;
    const versions = { policy: digestOf("policy 1"), documents };
    const remarks = { ...versions, risk, shadow };
    const { rule, reason } = BLOCK;
    assert.deepEqual(refusal(LESS, says({ ...BLOCK, risk, shadow })), { by: ANN, rule, reason, ...remarks });
    const less = ({ args }: PolicyInput): Verdict =>
      (args as { amount: number }).amount === 1
        ? { ...ESCALATE, risk, shadow }
        : { verdict: "revise", set: { amount: 1 }, reason: "less", rule: "less" };
    assert.partialDeepStrictEqual(refusal(LESS, less), { rule: "less", ...remarks });
    const unfit = refusal({ amount: "much" }, says(APPROVE)) ?? {};
    assert.deepEqual(Object.keys(unfit).toSorted(), ["by", "reason", "rule"]);
  });

  test("that policy would revise further is refused with the rule: nobody has agreed to what would run", () => {
    const rounding = ({ args }: { args: unknown }): Verdict =>
      (args as { amount: number }).amount % 60 === 0
        ? ESCALATE
        : { verdict: "revise", set: { amount: 60 }, reason: "round", rule: "rounding" };
    given(asked())
      .when(edits(ANN, { ...ARGS, amount: 61 }, { policy: rounding }))
      .then([
        fact(approval, "approval.edited", { by: ANN }),
        fact(approval, "approval.edit_refused", { by: ANN, rule: "rounding" }),
      ]);
  });

  test("by somebody who may not decide is refused like a vote", () => {
    given(asked({ approvers: { from: [BOB] } }))
      .when(edits(ANN, LESS, { policy }))
      .then([fact(approval, "approval.vote_refused", { code: "not_eligible" })]);
  });

  test("of a question that is decided already is refused", () => {
    given(voted(asked(), BOB))
      .when(edits(ANN, LESS, { policy }))
      .then([fact(approval, "approval.vote_refused", { code: "decision_conflict" })]);
  });

  test("after the deadline is refused", () => {
    given(asked({ decideWithinMs: SECOND }), { now: NOON + SECOND })
      .when(edits(ANN, LESS, { policy }))
      .answers({ kind: "vote_refused", status: "expired" });
  });

  test("of more than 64 KiB is kept as an artifact and reviewed at once", () => {
    const large = { ...LESS, memo: "x".repeat(INLINE_BYTES) };
    const then = given(asked()).when(edits(ANN, large, { policy }));
    then.answers({ status: "modified" });
    assert.ok(then.world.artifacts.some(({ hash }) => hash === digestOf(large)));
  });
});

describe("an edit under a quorum", () => {
  test("voids earlier votes: they were for something else", () => {
    const then = given(voted(two(), BOB)).when(edits(ANN, LESS, { policy: escalateTwo }));
    then.answers({ status: "pending" });
    assert.deepEqual(
      stateOf(then).votes.map(({ by }) => by),
      [ANN],
    );
    given(then.world).when(votes(BOB)).answers({ status: "modified" });
  });

  test("by somebody who had voted is refused: they have decided", () => {
    given(voted(two(), ANN))
      .when(edits(ANN, LESS, { policy: escalateTwo }))
      .then([fact(approval, "approval.vote_refused", { code: "decision_conflict" })]);
  });

  test("answers the same editor's same edit with the original", () => {
    const world = given(two()).when(edits(ANN, LESS, { policy: escalateTwo })).world;
    given(world)
      .when(edits(ANN, LESS, { policy: escalateTwo }))
      .then([])
      .answers({ kind: "same", status: "pending" });
  });

  test("that falls under a stricter rule opens a new approval, on which nobody has voted", () => {
    const stricter = ({ args }: { args: unknown }): Verdict =>
      (args as { amount: number }).amount === 60
        ? ({ ...(ESCALATE as object), approvers: { quorum: 2 } } as Verdict)
        : ESCALATE;
    const then = given(asked()).when(edits(ANN, LESS, { policy: stricter }));
    then.answers({ kind: "recorded", approval: SECOND_APPROVAL, status: "superseded" });
    assert.deepEqual(types(then).toSorted(), [
      "action.reviewed",
      "action.revised",
      "approval.edited",
      "approval.requested",
      "approval.superseded",
    ]);
    assert.partialDeepStrictEqual(then.state(secondApproval), {
      status: "pending",
      args: LESS,
      approvers: { quorum: 2 },
      votes: [],
    });
    assert.partialDeepStrictEqual(then.state(action), { phase: "waiting", approval: SECOND_APPROVAL });
  });
});

describe("an edit in a process that does not have the tool", () => {
  const open = () => given(asked()).when(votes(ANN, { edit: LESS }));

  test("waits for one that has it, and holds other approvals back", () => {
    open()
      .then([fact(approval, "approval.edited", { by: ANN })])
      .answers({ kind: "edit_open", status: "pending" });
    given(open().world)
      .when(votes(BOB))
      .then([fact(approval, "approval.vote_refused", { code: "decision_conflict" })]);
  });

  test("can still be rejected by somebody else", () => {
    given(open().world)
      .when(votes(BOB, { decision: "reject", note: "no" }))
      .answers({ status: "rejected" });
  });

  test("sent again answers the original and writes nothing", () => {
    given(open().world)
      .when(votes(ANN, { edit: LESS }))
      .then([])
      .answers({ kind: "same" });
  });

  test("is void when its author lost their standing before it was reviewed", () => {
    const world = add(
      open().world,
      fact(ROSTER, "person.suspended", { person: ANN, by: BOB, reason: "left" }),
    );
    given(world)
      .when((draft) => reviewEdit(draft, APPROVAL, executor({ policy, approval: SECOND_APPROVAL })))
      .then([fact(approval, "approval.edit_refused", { rule: "standing" })]);
  });

  test("is refused when the tool's schema is no longer the proposal's", () => {
    given(open().world)
      .when(comesBack({ policy, schemaDigest: digestOf("schema 2") }))
      .then([fact(approval, "approval.edit_refused", { rule: "schema" })]);
  });

  test("still ends at the deadline", () => {
    const world = given(asked({ decideWithinMs: SECOND })).when(votes(ANN, { edit: LESS })).world;
    given(world, { now: NOON + SECOND })
      .when(comesBack({ policy }))
      .answers({ kind: "refused", refusal: { code: "expired" } });
  });
});

test("an edit cannot name another tool: what runs is the tool that was proposed", () => {
  const then = given(asked()).when(
    edits(ANN, { ...LESS, tool: "wire_transfer", name: "wire_transfer" }, { policy }),
  );
  assert.partialDeepStrictEqual(then.state(action), { tool: "refund", phase: "waiting" });
  given(then.world)
    .when(comesBack({ policy, approval: "apr_3" }))
    .answers({ kind: "started", effect: ACTION.replace("act", "eff") });
});

test("an edit under a policy that now approves everything still needs the schema", () => {
  given(asked())
    .when(edits(ANN, {}, { policy: says(APPROVE) }))
    .answers({ kind: "vote_refused", code: "edit_refused" });
  given(asked())
    .when(edits(ANN, LESS, { policy: says(BLOCK) }))
    .answers({ code: "edit_refused" });
});
