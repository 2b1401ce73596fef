import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  ACTION,
  AGENT,
  ARGS,
  action,
  afterProposal,
  applied,
  BLOCK,
  EFFECT,
  EPOCH,
  ESCALATE,
  epochOpen,
  OTHER,
  proposes,
  reports,
  SECOND,
  says,
} from "../../../tests/fixtures/rules.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import { actionStream } from "../../kernel/stream.ts";
import { fact, given, NOON } from "../../testing/given.ts";

const other = actionStream(OTHER);
const again = (bending = {}, more = {}) => proposes(bending, { action: OTHER, ...more });

describe("a proposal", () => {
  test("is recorded before anything else, with its arguments, their digest and who asks", () => {
    given([epochOpen])
      .when(proposes({ policy: says(BLOCK) }, { requester: [AGENT, "person:dan"], says: "please" }))
      .then([
        fact(action, "action.proposed", {
          requestId: "r-1",
          tool: "refund",
          args: ARGS,
          argsDigest: digestOf(ARGS),
          agent: AGENT,
          requester: [AGENT, "person:dan"],
          says: "please",
        }),
        fact(action, "action.reviewed", { verdict: "block" }),
        fact(action, "action.refused", { code: "blocked", by: "policy (never)", reason: "not today" }),
      ]);
  });

  test("that policy approves starts in the same commit, and its effect's key is made then", () => {
    given([epochOpen])
      .when(proposes())
      .then([
        fact(action, "action.proposed"),
        fact(action, "action.reviewed", { verdict: "approve" }),
        fact(action, "effect.started", { effect: EFFECT, epoch: EPOCH, grant: { kind: "verdict" } }),
      ])
      .answers({ kind: "new", action: ACTION, answer: { kind: "started", effect: EFFECT } });
  });

  test("by a process that was taken for dead starts nothing", () => {
    given([epochOpen, fact({ kind: "epoch", id: EPOCH }, "epoch.died", { by: "x" })])
      .when(proposes())
      .then([fact(action, "action.proposed")])
      .answers({ answer: { kind: "epoch_ended" } });
  });
});

describe("a request id", () => {
  test("names one action for ever: the same proposal again is the first action and writes nothing", () => {
    given(afterProposal(), { now: NOON + 1e12 })
      .when(again())
      .then([])
      .answers({ kind: "existing", action: ACTION });
  });

  test("of an action that was refused still leads to that refusal", () => {
    given(afterProposal({ policy: says(BLOCK) }))
      .when(again())
      .then([])
      .answers({ kind: "existing", action: ACTION });
  });

  test("with other arguments is a conflict: recorded on the first action, and nothing runs", () => {
    given(afterProposal())
      .when(again({}, { args: { ...ARGS, amount: 101 } }))
      .then([fact(action, "action.conflicted", { tool: "refund", by: AGENT })])
      .answers({ kind: "conflict", action: ACTION });
  });

  test("with another tool is a conflict", () => {
    given(afterProposal())
      .when(again({ name: "charge" }))
      .then([fact(action, "action.conflicted", { tool: "charge" })])
      .answers({ kind: "conflict" });
  });

  test("with the same arguments in another order of keys is the same action", () => {
    given(afterProposal())
      .when(again({}, { args: { amount: 100, order: "A-1" } }))
      .then([])
      .answers({ kind: "existing", action: ACTION });
  });

  test("still compares with what was proposed first, after policy or a person changed the arguments", () => {
    const revising = says({ verdict: "revise", set: { amount: 10 }, reason: "cap" });
    const policy = ({ args }: { args: unknown }) =>
      (args as { amount: number }).amount > 10 ? revising() : ({ verdict: "approve" } as const);
    given(afterProposal({ policy })).when(again({ policy })).answers({ kind: "existing", action: ACTION });
  });

  test("left out makes every call an action of its own", () => {
    const first = given([epochOpen]).when(proposes({}, { requestId: null })).world;
    given(first)
      .when(again({}, { requestId: null }))
      .answers({ kind: "new", action: OTHER, answer: { kind: "started" } });
  });
});

describe("a business identity", () => {
  const dedupe = () => ({ key: "A-1:100", windowMs: 900 * SECOND });
  const more = { requestId: "r-2" };
  const first = afterProposal({ dedupe });

  test("stops the same thing under a new request id, and names the first action", () => {
    given(first, { now: NOON + 180 * SECOND })
      .when(again({ dedupe }, more))
      .then([
        fact(other, "action.proposed"),
        fact(other, "action.refused", { code: "duplicate", by: "dedupe", retry: false }),
      ]);
    const { refusal } = given(first).when(again({ dedupe }, more)).state(other) as {
      refusal: { reason: string };
    };
    assert.match(refusal.reason, new RegExp(ACTION));
  });

  for (const [ms, kind] of [
    [-1, "refused"],
    [0, "started"],
  ] as const) {
    test(`${ms} ms from the end of the window after the outcome: ${kind}`, () => {
      const done = given(first, { now: NOON + 600 * SECOND }).when(reports(applied())).world;
      given(done, { now: NOON + 1500 * SECOND + ms })
        .when(again({ dedupe }, more))
        .answers({ answer: { kind } });
    });
  }

  test("holds for as long as the first is under way, however long people take to decide", () => {
    const waiting = afterProposal({ dedupe, policy: says(ESCALATE) });
    given(waiting, { now: NOON + 86_400 * SECOND })
      .when(again({ dedupe, approval: "apr_2" }, more))
      .answers({ answer: { kind: "refused", refusal: { code: "duplicate" } } });
  });

  test("holds while the first is in doubt", () => {
    const doubt = given(first).when(reports({ status: "in_doubt", reason: "time-out" })).world;
    given(doubt, { now: NOON + 86_400 * SECOND })
      .when(again({ dedupe }, more))
      .answers({ answer: { kind: "refused", refusal: { code: "duplicate" } } });
  });

  test("is free again when the first certainly did not happen", () => {
    const failed = given(first).when(reports({ status: "not_applied", reason: "refused" })).world;
    given(failed)
      .when(again({ dedupe }, more))
      .answers({ answer: { kind: "started" } });
  });

  test("is free again when the first was refused", () => {
    const blocked = afterProposal({ dedupe, policy: says(BLOCK) });
    given(blocked)
      .when(again({ dedupe }, more))
      .answers({ answer: { kind: "started" } });
  });

  test("of another tool is another thing", () => {
    given(first)
      .when(again({ dedupe, name: "charge" }, more))
      .answers({ answer: { kind: "started" } });
  });

  test("that cannot be computed blocks the action", () => {
    const broken = () => {
      throw new Error("no order");
    };
    given([epochOpen])
      .when(proposes({ dedupe: broken }))
      .answers({ answer: { kind: "refused", refusal: { code: "blocked" } } });
  });
});
