import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type ErrorCode, isHoldpointError } from "../../kernel/errors.ts";
import { checkCheckpoints } from "./check-checkpoints.ts";

function refusal(
  given: unknown,
  code: ErrorCode = "invalid_input",
  requester: readonly string[] = [],
): string {
  try {
    checkCheckpoints(given, requester);
  } catch (error) {
    assert.ok(isHoldpointError(error, code), String(error));
    return error.what;
  }
  return assert.fail("it was taken");
}

describe("declared checkpoints", () => {
  test("may say everything there is to say", () => {
    const list = [
      { name: "Plan" },
      {
        name: "Pay",
        id: "cp_pay",
        description: "money leaves",
        requiresApproval: true,
        canRollback: false,
        timeoutSeconds: 300,
        onTimeout: "expire",
        when: { confidenceBelow: 0.8, costAbove: { currency: "USD", micros: 0n }, tools: ["transfer"] },
        approvers: { quorum: 2, from: ["person:ann", "person:bob"] },
      },
      { name: "Late", timeoutSeconds: null, when: () => true },
    ];
    assert.deepEqual(checkCheckpoints(list), list);
    assert.deepEqual(checkCheckpoints([]), []);
  });

  test("lose the fields that are undefined", () => {
    assert.deepEqual(checkCheckpoints([{ name: "a", when: undefined, timeoutSeconds: undefined }]), [
      { name: "a" },
    ]);
  });

  const one = (fields: object) => [{ name: "Pay", ...fields }];
  const REFUSED: readonly (readonly [string, unknown, RegExp])[] = [
    ["nothing", undefined, /^Checkpoints are a list, or an object of sets by complexity: simple, medium/],
    ["one that is a text", ["Plan"], /^The checkpoint number 1 is an object: \{ name, id, /],
    ["one without a name", [{ name: "a" }, { id: "b" }], /^The checkpoint number 2 has no name/],
    ["one with an empty name", [{ name: "" }], /number 1: "name" is a text of 1 to 100 characters/],
    ["two of one name", [{ name: "a" }, { name: "b" }, { name: "a" }], /^Two checkpoints have the name "a"/],
    [
      "two of one id",
      [
        { name: "a", id: "x" },
        { name: "b", id: "x" },
      ],
      /^Two checkpoints have the id "x"/,
    ],
    [
      "an unknown field",
      one({ timeout: 3 }),
      /^The checkpoint "Pay" has no field "timeout" \(did you mean onTimeout\?\); there are name/,
    ],
    ["a switch that is no boolean", one({ canRollback: "no" }), /"canRollback" is true or false, not "no"/],
    ["no time at all", one({ timeoutSeconds: 0 }), /"timeoutSeconds" is a whole number of seconds from 1/],
    ["half a second", one({ timeoutSeconds: 0.5 }), /whole number of seconds/],
    [
      "endless seconds",
      one({ timeoutSeconds: Number.POSITIVE_INFINITY }),
      /or null for ever, not "Infinity"/,
    ],
    [
      "approval by silence",
      one({ onTimeout: "approve" }),
      /"onTimeout" is "expire", "escalate" or "extend": a deadline cannot approve/,
    ],
    ["a condition in words", one({ when: "always" }), /"when" is an object of conditions or a function/],
    ["no condition", one({ when: {} }), /would never ask: its "when" has no condition/],
    ["a condition that is undefined", one({ when: { confidenceBelow: undefined } }), /has no condition/],
    ["a misspelt condition", one({ when: { confidence: 1 } }), /"when" has no field "confidence"; there are/],
    ["a confidence in percent", one({ when: { confidenceBelow: 80 } }), /is a number from 0 to 1, not "80"/],
    ["a cost without a currency", one({ when: { costAbove: 50 } }), /"costAbove" is \{ currency, micros \}/],
    ["a cost below 0", one({ when: { costAbove: { currency: "USD", micros: -1n } } }), /at least 0/],
    ["no tool to watch", one({ when: { tools: [] } }), /at least one tool's name/],
    ["approvers that are a list", one({ approvers: ["person:ann"] }), /approvers is not an object/],
    ["no set", {}, /^There is no set of checkpoints/],
    ["a set for an unknown complexity", { hard: { checkpoints: [] } }, /^"hard" is not a complexity/],
    ["an undo without a function", one({ undo: { effect: "once" } }), /an undo without a function to run/],
    [
      "an undo of no class",
      one({ undo: { run: String, effect: "probed" } }),
      /"effect" is one of idempotent/,
    ],
    ["an undo with a slip", one({ undo: { run: String, efect: "once" } }), /has no field "efect"/],
    ["a set without checkpoints", { simple: {} }, /^The set "simple" has no list of checkpoints/],
    ["a set that is a list", { simple: [] }, /^The set "simple" is an object/],
    ["an escrow that is a number", { simple: { checkpoints: [], escrow: 50 } }, /"escrow" is \{ currency/],
    ["a fault inside a set", { medium: { checkpoints: [{ name: "a", id: 3 }] } }, /"a": "id" is a text/],
  ];
  for (const [what, given, expected] of REFUSED)
    test(`are refused with ${what}, and the error says what is allowed`, () => {
      assert.match(refusal(given), expected);
    });

  test("may have one name in several sets", () => {
    const sets = { simple: { checkpoints: [{ name: "a" }] }, medium: { checkpoints: [{ name: "a" }] } };
    assert.deepEqual(checkCheckpoints(sets), sets);
  });

  test("are refused with a quorum that the people named cannot meet", () => {
    const given = one({ approvers: { quorum: 2, from: ["person:ann", "person:ann"] } });
    assert.match(
      refusal(given, "unsatisfiable_quorum"),
      /^The checkpoint "Pay" can never be approved: 2 people/,
    );
    assert.match(refusal(one({ approvers: { quorum: 0 } }), "unsatisfiable_quorum"), /whole number/);
  });

  test("are refused with a quorum that only the requester could complete", () => {
    const given = one({ approvers: { quorum: 1, from: ["person:ann"] } });
    assert.doesNotThrow(() => checkCheckpoints(given, ["agent:x"]));
    assert.match(refusal(given, "unsatisfiable_quorum", ["agent:x", "person:ann"]), /0 of those named/);
  });
});
