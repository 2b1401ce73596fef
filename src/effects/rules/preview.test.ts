import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  ACTION,
  ANN,
  APPROVAL,
  ARGS,
  action,
  add,
  approval,
  type Bending,
  BOB,
  byAmount,
  EFFECT,
  ESCALATE,
  epochOpen,
  executor,
  proposal,
  SECOND_APPROVAL,
  says,
  secondApproval,
  voted,
  votes,
} from "../../../tests/fixtures/rules.ts";
import { bindingOf } from "../../approvals/rules/ask.ts";
import type { LiveApproval, ShownPreview } from "../../approvals/state.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { ROSTER } from "../../kernel/stream.ts";
import type { Draft } from "../../kernel/transaction.ts";
import type { Executor } from "../../policy/rules/tool-rules.ts";
import { fact, given, NOON, type Then, type World } from "../../testing/given.ts";
import { advance } from "./advance.ts";
import { propose } from "./propose.ts";
import { previewKey } from "./review.ts";

const FROM_A_TO_B: ShownPreview = { value: { from: "a", to: "b" }, failed: false };
const FROM_A_TO_C: ShownPreview = { value: { from: "a", to: "c" }, failed: false };
const FAILED: ShownPreview = { value: "no such host", failed: true };
const escalates = { policy: says(ESCALATE), hasPreview: true };

/** An executor for whom the preview of these arguments was computed. */
function seeing(shown: ShownPreview | null, bending: Bending = escalates, args: Json = ARGS): Executor {
  const own = executor(bending);
  const digest = digestOf(args);
  const keys = [null, APPROVAL, SECOND_APPROVAL].map((approval) => previewKey(digest, approval));
  const known = shown === null ? [] : keys.map((key) => [key, shown as unknown as Json] as const);
  return { ...own, loaded: new Map([...own.loaded, ...known]) };
}

const asks = (shown: ShownPreview | null, bending: Bending = escalates) =>
  given([epochOpen]).when((draft) => propose(draft, proposal({ executor: seeing(shown, bending) })));
const approved = (shown: ShownPreview | null, bending: Bending = escalates): World =>
  voted(asks(shown, bending).world, ANN);

const later = { approval: SECOND_APPROVAL, nonce: "non_2" };
const comesBackSeeing =
  (shown: ShownPreview | null, bending: Bending = escalates) =>
  (draft: Draft) =>
    advance(draft, ACTION, seeing(shown, { ...bending, ...later }));

const asked = <Result>(then: Then<Result>, ref = approval) => then.state(ref) as LiveApproval;
const started = [fact(action, "effect.started", { effect: EFFECT }), fact(approval, "approval.consumed")];

describe("what people are asked", () => {
  test("waits until the preview was computed, and nothing is written before", () => {
    asks(null)
      .then([])
      .answers({
        kind: "load",
        key: previewKey(digestOf(ARGS)),
        preview: { action: ACTION, args: ARGS, requestId: "r-1" },
      });
  });

  test("holds the preview, and its digest is in the binding", () => {
    const then = asks(FROM_A_TO_B);
    const question = asked(then);
    assert.deepEqual(question.preview, { ...FROM_A_TO_B, digest: digestOf(FROM_A_TO_B) });
    const { tool, schema, effectClass, policy, approvers, requester, decideBy, executeBy, nonce } = question;
    const facts = { tenant: "acme", stream: `action/${ACTION}`, action: ACTION, args: digestOf(ARGS) };
    const terms = { tool, schema, effectClass, policy, approvers, requester, decideBy, executeBy, nonce };
    const bound = (preview?: string) => bindingOf({ ...facts, ...terms, ...(preview && { preview }) });
    assert.equal(question.binding, bound(digestOf(FROM_A_TO_B)));
    assert.notEqual(question.binding, bound());
  });

  test("has the binding of before where the tool shows nothing", () => {
    const plain = asked(asks(null, { policy: says(ESCALATE) }));
    assert.equal(plain.preview, undefined);
    assert.equal(plain.binding, digestOf(bytesWithout(plain)));
  });

  test("shows why the preview failed", () => {
    assert.deepEqual(asked(asks(FAILED)).preview, { ...FAILED, digest: digestOf(FAILED) });
  });

  test("keeps a large preview as an artifact", () => {
    const large: ShownPreview = { value: "x".repeat(70_000), failed: false };
    const then = asks(large);
    assert.ok(then.world.artifacts.length === 1);
    assert.equal(asked(then).preview?.digest, digestOf(large));
    given(voted(then.world, ANN)).when(comesBackSeeing(large)).then(started);
  });

  test("shows nothing of what the policy allows or blocks", () => {
    given([epochOpen])
      .when((draft) => propose(draft, proposal({ executor: executor({ hasPreview: true }) })))
      .answers({ kind: "new", answer: { kind: "started" } });
  });
});

/** The facts of a binding as they were before there were previews, spelt out. */
function bytesWithout({ approvers, policy, requester, schema, nonce }: LiveApproval): Json {
  const fixed = { v: 1, tenant: "acme", stream: `action/${ACTION}`, action: ACTION, tool: "refund" };
  const rest = { args: digestOf(ARGS), effectClass: "once", decideBy: null, executeBy: null };
  return { ...fixed, ...rest, approvers, policy, requester: [...requester], schema, nonce };
}

describe("what people approved", () => {
  test("starts when the preview, computed again, shows the same", () => {
    given(approved(FROM_A_TO_B)).when(comesBackSeeing(null)).then([]).answers({ kind: "load" });
    given(approved(FROM_A_TO_B)).when(comesBackSeeing(FROM_A_TO_B)).then(started);
  });

  test("is not used by a preview that was computed to ask with", () => {
    const own = executor({ ...escalates, ...later });
    const old = [[previewKey(digestOf(ARGS)), FROM_A_TO_B as unknown as Json] as const];
    const loaded = new Map([...own.loaded, ...old]);
    given(approved(FROM_A_TO_B))
      .when((draft) => advance(draft, ACTION, { ...own, loaded }))
      .then([])
      .answers({ kind: "load", key: previewKey(digestOf(ARGS), APPROVAL) });
  });

  const movements: readonly (readonly [string, ShownPreview | null, ShownPreview | null, Bending?])[] = [
    ["has moved", FROM_A_TO_B, FROM_A_TO_C],
    ["fails by now", FROM_A_TO_B, FAILED],
    ["failed then and does not now", FAILED, FROM_A_TO_B],
    ["is not shown any more", FROM_A_TO_B, null, { policy: says(ESCALATE) }],
  ];
  for (const [what, before, now, bending] of movements)
    test(`goes back to people when the preview ${what}`, () => {
      const then = given(approved(before)).when(comesBackSeeing(now, bending));
      then
        .then([
          fact(approval, "approval.lapsed", { reason: "what the preview showed has moved" }),
          fact(action, "action.reviewed", { verdict: "escalate", approval: SECOND_APPROVAL }),
          fact(secondApproval, "approval.requested"),
        ])
        .answers({ kind: "waiting", approval: SECOND_APPROVAL });
      assert.equal(asked(then, secondApproval).preview?.digest, now === null ? undefined : digestOf(now));
    });

  test("goes back to people when the tool shows something now and did not then", () => {
    const then = given(approved(null, { policy: says(ESCALATE) })).when(comesBackSeeing(FROM_A_TO_B));
    then.answers({ kind: "waiting" });
    assert.equal(asked(then, secondApproval).preview?.failed, false);
  });

  test("is not moved by a failure that reads like what was shown", () => {
    const shown: ShownPreview = { value: "no such host", failed: false };
    given(approved(shown)).when(comesBackSeeing(FAILED)).answers({ kind: "waiting" });
  });

  test("does not start, and shows nothing, when the policy blocks it by now", () => {
    const blocks = { policy: says({ verdict: "block", reason: "never" }), hasPreview: true };
    given(approved(FROM_A_TO_B)).when(comesBackSeeing(FROM_A_TO_C, blocks)).answers({ kind: "refused" });
  });

  const lets = { policy: says({ verdict: "approve", rule: "day" }), hasPreview: true };

  test("does not start without people because the policy would let it by now: those who were asked are asked again", () => {
    const stages = [{ from: [ANN], decideWithinMs: 9 }, { from: [BOB] }];
    const terms = { stages, executeWithinMs: 7, onTimeout: "extend" } as const;
    const world = asks(FROM_A_TO_B, { ...escalates, policy: says({ verdict: "escalate", ...terms }) }).world;
    const then = given(voted(world, ANN, BOB), { now: NOON + 5 }).when(comesBackSeeing(FROM_A_TO_C, lets));
    const reason = "what the preview showed has moved";
    then
      .then([
        fact(approval, "approval.lapsed", { reason }),
        fact(action, "action.reviewed", { verdict: "escalate", reason, approval: SECOND_APPROVAL }),
        fact(secondApproval, "approval.requested", { reason }),
      ])
      .answers({ kind: "waiting", approval: SECOND_APPROVAL });
    const {
      stages: before,
      decideBy,
      executeBy,
      onTimeout,
    } = given(world)
      .when(() => null)
      .state(approval) as LiveApproval;
    const later = (at: number | null) => (at === null ? null : at + 5);
    const question = asked(then, secondApproval);
    assert.deepEqual(
      [question.stages, question.decideBy, question.executeBy, question.onTimeout],
      [before, later(decideBy), later(executeBy), onTimeout],
    );
    given(then.world).when(comesBackSeeing(FROM_A_TO_C, lets)).then([]).answers({ kind: "waiting" });
  });

  test("starts by the second word of people, although the policy would let it", () => {
    const back = given(approved(FROM_A_TO_B)).when(comesBackSeeing(FROM_A_TO_C, lets)).world;
    given(given(back).when(votes(BOB, { approval: SECOND_APPROVAL })).world)
      .when(comesBackSeeing(FROM_A_TO_C, lets))
      .then([
        fact(action, "effect.started", { grant: { approval: SECOND_APPROVAL, by: [BOB] } }),
        fact(secondApproval, "approval.consumed"),
      ]);
  });

  test("and has moved does not start because its approver was suspended or another policy lets it", () => {
    const another = { ...lets, policyDigest: digestOf("policy 2") };
    const gone = fact(ROSTER, "person.suspended", { person: ANN, by: BOB, reason: "left" });
    for (const [world, bending] of [
      [approved(FROM_A_TO_B), another],
      [add(approved(FROM_A_TO_B), gone), lets],
    ] as const) {
      given(world).when(comesBackSeeing(FROM_A_TO_C, bending)).answers({ kind: "waiting" });
      given(world).when(comesBackSeeing(FROM_A_TO_B, bending)).answers({ kind: "started" });
    }
  });

  test("is asked about under the terms of now where the policy asks for others", () => {
    const strict = { policy: says({ verdict: "escalate", approvers: { quorum: 2 } }), hasPreview: true };
    const then = given(approved(FROM_A_TO_B)).when(comesBackSeeing(FROM_A_TO_C, strict));
    assert.equal(asked(then, secondApproval).approvers.quorum, 2);
  });

  test("is decided anew under the new preview, and then starts by it", () => {
    const back = given(approved(FROM_A_TO_B)).when(comesBackSeeing(FROM_A_TO_C)).world;
    const again = given(back).when(votes(BOB, { approval: SECOND_APPROVAL })).world;
    given(again)
      .when(comesBackSeeing(FROM_A_TO_C))
      .then([
        fact(action, "effect.started", { grant: { approval: SECOND_APPROVAL, by: [BOB] } }),
        fact(secondApproval, "approval.consumed"),
      ]);
  });
});

describe("an edit", () => {
  const edit = { order: "A-1", amount: 80 };
  const bands = { policy: byAmount, hasPreview: true };
  const editing = (shown: ShownPreview | null, change: Json = edit, bending: Bending = bands) =>
    votes(BOB, { edit: change, executor: seeing(shown, { ...bending, ...later }, change) });

  test("asks for the preview of the edited arguments, and binds it", () => {
    const world = asks(FROM_A_TO_B, bands).world;
    given(world)
      .when(editing(null))
      .then([])
      .answers({ kind: "load", key: previewKey(digestOf(edit)), preview: { args: edit } });
    const shows = given(world).when(editing(FROM_A_TO_C));
    assert.deepEqual([asked(shows).status, asked(shows).votes], ["pending", []]);
    const then = given(shows.world).when(votes(BOB));
    const question = asked(then);
    assert.equal(question.status, "modified");
    assert.deepEqual(question.preview, { ...FROM_A_TO_C, digest: digestOf(FROM_A_TO_C) });
    const back =
      (shown: ShownPreview, ids: Bending = {}) =>
      (draft: Draft) =>
        advance(draft, ACTION, seeing(shown, { ...bands, ...ids }, edit));
    given(then.world).when(back(FROM_A_TO_C)).then(started);
    given(then.world).when(back(FROM_A_TO_B, later)).answers({ kind: "waiting", approval: SECOND_APPROVAL });
  });

  test("that the policy lets through goes back to everybody who was asked when its preview has moved", () => {
    const small = { order: "A-1", amount: 10 };
    const two = ({ args }: { readonly args: Json }) =>
      (args as { amount: number }).amount > 50
        ? ({ verdict: "escalate", approvers: { quorum: 2 } } as const)
        : ({ verdict: "approve" } as const);
    const bending = { hasPreview: true, policy: two };
    const then = given(asks(FROM_A_TO_B, bending).world).when(editing(FROM_A_TO_B, small, bending));
    assert.equal(asked(then).status, "modified", "what the editor was shown has not changed");
    const back = (shown: ShownPreview) => (draft: Draft) =>
      advance(draft, ACTION, seeing(shown, { ...bending, ...later }, small));
    given(then.world).when(back(FROM_A_TO_B)).then(started);
    const moved = given(then.world).when(back(FROM_A_TO_C));
    moved.answers({ kind: "waiting", approval: SECOND_APPROVAL });
    assert.partialDeepStrictEqual(asked(moved, secondApproval), { args: small, approvers: { quorum: 2 } });
  });

  test("that the policy lets through waits for everybody who was asked where nobody has seen its preview", () => {
    const then = given(asks(FROM_A_TO_B, bands).world).when(
      editing(FROM_A_TO_C, { order: "A-1", amount: 10 }),
    );
    assert.partialDeepStrictEqual(asked(then), { status: "pending", votes: [], edited: true, editor: BOB });
  });

  test("by a process whose tool shows nothing drops the preview of before", () => {
    const then = given(asks(FROM_A_TO_B, bands).world).when(editing(null, edit, { policy: byAmount }));
    const question = asked(then);
    assert.deepEqual([question.status, question.preview], ["modified", undefined]);
  });

  test("that falls under another rule is asked about with its own preview", () => {
    const strict = { verdict: "escalate", approvers: { quorum: 2 } } as const;
    const bending = {
      hasPreview: true,
      policy: ({ args }: { readonly args: Json }) =>
        (args as { amount: number }).amount > 90 ? byAmount({ args } as never) : strict,
    };
    const then = given(asks(FROM_A_TO_B, bending).world).when(editing(FROM_A_TO_C, edit, bending));
    assert.equal(asked(then, secondApproval).preview?.digest, digestOf(FROM_A_TO_C));
  });
});
