import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  ACTION,
  AGENT,
  ARGS,
  asked,
  EPOCH,
  ESCALATE,
  epochOpen,
  proposes,
  says,
} from "../../../tests/fixtures/rules.ts";
import { digestOf, sha256 } from "../../kernel/canonical-json.ts";
import { given, NOON } from "../../testing/given.ts";
import type { ApprovalQuestion } from "../state.ts";
import { questionBinding } from "./ask.ts";

const questionOf = (world: ReturnType<typeof asked>): ApprovalQuestion =>
  world.facts.find(({ type }) => type === "approval.requested")?.body as unknown as ApprovalQuestion;

describe("a question to people", () => {
  test("says what, who asks, why and under which rule, and carries the binding of all of it", () => {
    const question = questionOf(asked());
    assert.partialDeepStrictEqual(question, {
      action: ACTION,
      tool: "refund",
      effectClass: "once",
      args: ARGS,
      argsDigest: digestOf(ARGS),
      agent: AGENT,
      requester: [AGENT],
      reason: "over the limit",
      rule: "big",
      approvers: { quorum: 1, from: null, veto: true },
      decideBy: null,
      executeBy: null,
    });
    assert.equal(question.binding, questionBinding("acme", question));
  });

  test("has two clocks: to decide, and after that to execute", () => {
    const { decideBy, executeBy } = questionOf(asked({ decideWithinMs: 300, executeWithinMs: 50 }));
    assert.deepEqual([decideBy, executeBy], [NOON + 300, NOON + 350]);
  });

  test("keeps the tool's schema beside it, so that an edit can be checked anywhere", () => {
    const schemaText = '{"type":"object"}';
    const bending = { policy: says(ESCALATE), schemaText, schemaDigest: sha256(schemaText), epoch: EPOCH };
    const { artifacts } = given([epochOpen]).when(proposes(bending)).world;
    assert.deepEqual(
      artifacts.map(({ hash }) => hash),
      [sha256(schemaText)],
    );
  });

  const other: Readonly<Record<string, Partial<ApprovalQuestion>>> = {
    action: { action: "act_9" },
    tool: { tool: "charge" },
    schema: { schema: "s" },
    "effect class": { effectClass: "keyed" },
    arguments: { argsDigest: "d" },
    policy: { policy: "p" },
    "approver rule": { approvers: { quorum: 2, from: null, veto: true } },
    requester: { requester: [AGENT, "person:dan"] },
    decide_by: { decideBy: 1 },
    execute_by: { executeBy: 1 },
    nonce: { nonce: "n" },
  };
  for (const [name, change] of Object.entries(other)) {
    test(`has another binding when its ${name} is another`, () => {
      const question = questionOf(asked());
      assert.notEqual(questionBinding("acme", { ...question, ...change }), question.binding);
    });
  }

  test("has another binding in another tenant", () => {
    const question = questionOf(asked());
    assert.notEqual(questionBinding("other", question), question.binding);
  });
});
