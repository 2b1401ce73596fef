import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isHoldpointError } from "../../kernel/errors.ts";
import { checkCaptured } from "./snapshot.ts";

function refusal(value: unknown): string {
  try {
    checkCaptured(value);
  } catch (error) {
    assert.ok(isHoldpointError(error, "invalid_input"), String(error));
    return error.what;
  }
  return assert.fail("it was taken");
}

describe("what a checkpoint captures", () => {
  test("may be nothing", () => {
    assert.deepEqual(checkCaptured(undefined), {});
    assert.deepEqual(checkCaptured({}), {});
    assert.deepEqual(checkCaptured({ summary: undefined }), {});
  });

  test("is copied and frozen: what the program changes later is not what was captured", () => {
    const outputs = { rows: [1, 2] };
    const captured = checkCaptured({ outputs });
    outputs.rows.push(3);
    assert.deepEqual(captured.outputs, { rows: [1, 2] });
    assert.ok(Object.isFrozen(captured.outputs?.["rows"]));
  });

  test("keeps whatever else an agent has in its memory", () => {
    const memory = { plan: { step: 3 }, other_names: ["a"] };
    assert.deepEqual(checkCaptured({ memory }).memory, memory);
  });

  for (const confidence of [0, 0.5, 1])
    test(`takes a confidence of ${confidence}`, () => {
      assert.equal(checkCaptured({ confidence }).confidence, confidence);
    });

  const REFUSED: readonly (readonly [string, unknown, RegExp])[] = [
    ["a list", [], /^"captured" is an object, not \[\]\.$/],
    ["a text", "done", /^"captured" is an object, not "done"\.$/],
    [
      "a misspelt field",
      { sumary: "x" },
      /no field "sumary" \(did you mean summary\?\); there are summary, decisionNeeded, /,
    ],
    ["a field named like a method", { toString: "x" }, /no field "toString"/],
    ["a summary that is no text", { summary: 3 }, /^"captured\.summary" is a text, not 3\.$/],
    [
      "a confidence above 1",
      { confidence: 92 },
      /^"captured\.confidence" is a number from 0 to 1, not 92\.$/,
    ],
    ["a confidence below 0", { confidence: -0.1 }, /from 0 to 1, not -0\.1/],
    ["a confidence in words", { confidence: "high" }, /from 0 to 1, not "high"/],
    ["an unknown recommendation", { recommendation: "maybe" }, /one of approve, modify, reject, not "maybe"/],
    [
      "artifacts that are no list",
      { artifacts: { a: 1 } },
      /^"captured\.artifacts" is a list, not \{"a":1\}/,
    ],
    ["a context that is no object", { context: ["a"] }, /^"captured\.context" is an object, not \["a"\]/],
    ["outputs that are no object", { outputs: null }, /^"captured\.outputs" is an object, not null/],
    ["a next step that is no text", { nextSteps: ["a", 2] }, /^"captured\.nextSteps\[1\]" is a text, not 2/],
    ["a score that is no number", { confidenceScores: { a: "b" } }, /object of numbers by name/],
    ["a trace that is a text", { trace: "thought" }, /^"captured\.trace" is a list/],
    ["a memory that is a list", { memory: [] }, /^"captured\.memory" is an object/],
    [
      "a conversation that is no list",
      { memory: { conversationHistory: "hello" } },
      /^"captured\.memory\.conversationHistory" is a list/,
    ],
    [
      "a part of the memory under its stored name",
      { memory: { facts_learned: 2 } },
      /^"captured\.memory" has the field "facts_learned"; in a program it is "factsLearned"/,
    ],
    [
      "an unknown field of a call",
      { apiCalls: [{ url: "/x" }] },
      /^"captured\.apiCalls\[0\]" has no field "url"; there are timestamp, endpoint/,
    ],
    [
      "a status that is neither number nor text",
      { apiCalls: [{}, { status: true }] },
      /^"captured\.apiCalls\[1\]\.status" is a number or a text, not true/,
    ],
    ["less than nothing used", { resources: { tokensUsed: -1 } }, /tokensUsed" is a number of at least 0/],
    [
      "an unknown resource",
      { resources: { tokens: 1 } },
      /no field "tokens"; there are apiCalls, tokensUsed/,
    ],
    ["an agent without a name", { agent: "" }, /^"captured\.agent" is a name of 1 to 200 characters/],
    ["a date", { outputs: { when: new Date(0) } }, /captured\.outputs\.when is a Date; send a string/],
    ["a big integer", { inputs: { id: 1n } }, /is JSON\. The value at captured\.inputs\.id is a bigint/],
    ["a number that is none", { confidence: Number.NaN }, /captured\.confidence is NaN/],
    [
      "an instance of a class",
      new (class Report {})(),
      /at captured is an instance of Report; send plain data/,
    ],
  ];
  for (const [what, value, expected] of REFUSED)
    test(`is refused with ${what}, and the error says where`, () => {
      assert.match(refusal(value), expected);
    });

  test("is refused when it contains itself", () => {
    const memory: Record<string, unknown> = {};
    memory["me"] = memory;
    assert.match(refusal({ memory }), /captured\.memory contains itself/);
  });

  test("shows no more of a wrong value than people read", () => {
    assert.ok(refusal({ summary: ["x".repeat(10_000)] }).length < 200);
  });
});
