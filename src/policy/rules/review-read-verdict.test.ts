import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readVerdict } from "./review.ts";
import type { Verdict } from "./verdict.ts";

const ASKS = { verdict: "escalate", approvers: { quorum: 2 } };
const hidden = (object: object, key: PropertyKey, value: unknown) =>
  Object.defineProperty({ ...object }, key, { value, enumerable: false });
const computed = (object: object, key: PropertyKey, get: () => unknown) =>
  Object.defineProperty({ ...object }, key, { get, enumerable: true });

function fault(given: unknown): string {
  try {
    const read = readVerdict(given);
    return typeof read === "string" ? read : assert.fail(`it was read: ${JSON.stringify(read)}`);
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return String(error);
  }
}

describe("a verdict of a policy in code is refused", () => {
  const REFUSED: Readonly<Record<string, readonly [unknown, RegExp]>> = {
    "as a misspelt word": ["escalte", /"escalte" is not a verdict \(did you mean escalate\?\)/],
    "as a word with a space": ["approve ", /is not a verdict \(did you mean approve\?\)/],
    "as a String object": [Object("approve"), /not a verdict/],
    "with a misspelt verdict": [
      { verdict: "aprove" },
      /verdict is not one of approve, block, revise, escalate \(did you mean approve\?\)/,
    ],
    "with a misspelt key for its verdict": [{ verdit: "approve" }, /verdict is not one of/],
    "with misspelt approvers": [
      { verdict: "escalate", aprovers: { quorum: 2 } },
      /the verdict has no field "aprovers" \(did you mean approvers\?\); there are verdict, reason/,
    ],
    "with a misspelt field that is undefined": [{ verdict: "escalate", aprovers: undefined }, /"aprovers"/],
    "with a misspelt quorum": [
      { verdict: "escalate", approvers: { quorom: 2 } },
      /^approvers has no field "quorom" \(did you mean quorum\?\); there are quorum, from/,
    ],
    "with a misspelt quorum in a stage": [
      { verdict: "escalate", stages: [{}, { quorom: 2 }] },
      /^stage 2 has no field "quorom" \(did you mean quorum\?\)/,
    ],
    "with a quorum that is undefined": [
      { verdict: "escalate", approvers: { quorum: undefined } },
      /approvers\.quorum is undefined/,
    ],
    "with separation of duties that is undefined": [
      { verdict: "escalate", approvers: { separate: undefined } },
      /approvers\.separate is undefined/,
    ],
    "with approvers that belong to another verdict": [
      { verdict: "approve", approvers: { quorum: 2 } },
      /^"approvers" does not belong to approve$/,
    ],
    "with a set that belongs to another verdict": [
      { verdict: "block", set: {} },
      /"set" does not belong to block/,
    ],
    "that inherits its approvers": [
      Object.assign(Object.create({ approvers: {} }), { verdict: "escalate" }),
      /./,
    ],
    "that inherits its approvers from an object without a prototype": [
      Object.assign(Object.create(Object.assign(Object.create(null), { approvers: {} })), {
        verdict: "escalate",
      }),
      /not a verdict/,
    ],
    "that inherits its approvers from an object that poses as another realm's Object.prototype": [
      Object.assign(
        Object.create(Object.assign(Object.create(null), { isPrototypeOf: () => true, approvers: {} })),
        { verdict: "escalate" },
      ),
      /not a verdict/,
    ],
    "of a class": [
      new (class Said {
        readonly verdict = "approve";
      })(),
      /not a verdict/,
    ],
    "with approvers that inherit their quorum": [
      { verdict: "escalate", approvers: Object.create({ quorum: 2 }) },
      /approvers/,
    ],
    "with a hidden field": [hidden({ verdict: "escalate" }, "approvers", { quorum: 2 }), /hidden/],
    "with a hidden quorum": [{ verdict: "escalate", approvers: hidden({}, "quorum", 2) }, /hidden/],
    "with a field under a symbol": [{ ...ASKS, [Symbol("approvers")]: 1 }, /no field "Symbol\(approvers\)"/],
    "with a verdict that is computed": [computed({}, "verdict", () => "approve"), /computed by a getter/],
    "with a quorum that is computed": [
      { verdict: "escalate", approvers: computed({}, "quorum", () => 2) },
      /computed by a getter/,
    ],
    "with a risk of a misspelt level": [
      { verdict: "approve", risk: { score: 1, level: "hihg", conditions: [] } },
      /risk\.level is not one of low, medium, high, critical \(did you mean high\?\)/,
    ],
    "with a misspelt field of a risk": [
      { verdict: "approve", risk: { scoer: 1, score: 1, level: "low", conditions: [] } },
      /risk has no field "scoer" \(did you mean score\?\)/,
    ],
    "with risks that are none": [{ verdict: "approve", risks: [1] }, /risks\[0\] is not an object/],
    "with a misspelt field of a rule on trial": [
      { verdict: "approve", shadow: [{ rule: "r", verdict: "block", reson: "x" }] },
      /shadow\[0\] has no field "reson" \(did you mean reason\?\)/,
    ],
    "with a limit of nobody": [
      { verdict: "block", reason: "x", limitOf: "me" },
      /limitOf is not run or usual/,
    ],
    "with a limit behind it that is none": [
      { verdict: "block", reason: "x", limitBehind: { of: "run" } },
      /limitBehind is not/,
    ],
    "with a revision that sets a list": [
      { verdict: "revise", set: [1], reason: "x" },
      /set is not an object/,
    ],
    "with a revision that sets nothing": [{ verdict: "revise", reason: "x" }, /revises without a set/],
    "with an end that there is not": [{ verdict: "escalate", onTimeout: "approve" }, /onTimeout is not/],
    "with a deadline of nothing": [{ verdict: "escalate", decideWithinMs: 0 }, /no time/],
    "with a deadline that is not a number": [{ verdict: "escalate", decideWithinMs: Number.NaN }, /NaN/],
  };
  for (const [name, [given, expected]] of Object.entries(REFUSED))
    test(name, () => assert.match(fault(given), expected));
});

test("a verdict that has everything it may have is read as it is, into a copy", () => {
  const risk = { score: 1, level: "low", conditions: ["c"], document: "d" };
  const remarks = {
    ...{ rule: "r", reason: "why", risk, risks: [risk] },
    shadow: [{ rule: "s", verdict: "block", reason: "x", document: "d" }],
  };
  const rule = { quorum: 2, from: ["person:ann", "person:bob"], veto: false, separate: true };
  const also = { escalateAtHalf: ["person:cat"], remindEveryMs: 60_000 };
  const given: readonly object[] = [
    { verdict: "approve", ...remarks },
    { verdict: "block", ...remarks, limitOf: "run" },
    { verdict: "block", ...remarks, limitBehind: { of: "usual", rule: "r" } },
    { verdict: "revise", ...remarks, set: { amount: { usd: 5 } } },
    {
      verdict: "escalate",
      ...remarks,
      approvers: { ...rule, ...also },
      decideWithinMs: 5,
      executeWithinMs: 5,
    },
    {
      verdict: "escalate",
      stages: [
        { ...rule, decideWithinMs: 1 },
        { ...rule, ...also, from: ["person:dan", "person:eve"] },
      ],
      onTimeout: "escalate",
    },
  ];
  for (const one of given) {
    const read = readVerdict(one);
    assert.deepEqual(read, one);
    assert.notEqual(read, one);
  }
  assert.deepEqual(readVerdict({ verdict: "escalate", reason: undefined }), {
    verdict: "escalate",
  } satisfies Verdict);
});

test("approvers or stages that came out undefined block: they would ask any one person", () => {
  for (const field of ["approvers", "stages"])
    assert.match(String(readVerdict({ verdict: "escalate", [field]: undefined })), /is undefined/, field);
});
