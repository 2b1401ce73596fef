import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Json, JsonObject } from "../../src/kernel/json.ts";
import { compilePolicy } from "../../src/policy/rules/compile.ts";
import {
  type Draw,
  drawFrom,
  drawTruth,
  NUMBERS,
  type Sight,
  textOf,
  WORDS,
} from "./policy-draw-expression.ts";
import { runs } from "./runs.ts";

const SCHEMA: JsonObject = {
  type: "object",
  properties: {
    a: { type: "number" },
    b: { type: "integer" },
    s: { type: "string" },
    list: { type: "array", items: { type: "number" } },
    o: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
    constructor: { type: "string" },
  },
  required: ["a", "b", "s", "list", "o", "constructor"],
};
const TOOL = { name: "pay", effectClass: "once", schema: SCHEMA };
const SIGHT: Sight = {
  numbers: [
    ["args", "a"],
    ["args", "b"],
    ["args", "o", "a"],
    ["workflow", "generation"],
  ],
  texts: [["args", "s"], ["args", "constructor"], ["agent"], ["tool", "name"]],
  depth: 3,
};

const argsOf = (draw: Draw): Json => ({
  a: draw.pick(NUMBERS),
  b: draw.upTo(5),
  s: draw.pick(WORDS),
  list: Array.from({ length: draw.upTo(3) }, () => draw.pick(NUMBERS)),
  o: { a: draw.pick(NUMBERS) },
  constructor: draw.pick(WORDS),
});

const compiled = (when: string) =>
  compilePolicy(
    { policy: "p", default: "approve", rules: [{ id: "r", tool: "pay", when, verdict: "block" }] },
    [TOOL],
  );

/** What no type can rule out. */
const UNAVOIDABLE = /division by zero|not a finite number|the list has no item/;

describe("types of expressions", () => {
  it("what was found in order never fails over arguments that fit the schema, but for arithmetic and places in lists", () => {
    let answered = 0;
    const property = fc.property(fc.integer(), (seed) => {
      const draw = drawFrom(seed);
      // The history's arguments are not known beforehand: nothing is promised about those.
      const text = textOf(
        drawTruth(draw, { ...SIGHT, texts: SIGHT.texts.filter(([name]) => name !== "agent") }),
      );
      const made = compiled(text);
      assert.ok(made.ok, `${text}: ${JSON.stringify(made)}`);
      const input = { tool: "pay", effectClass: "once", agent: "agent:a", requester: [], requestId: null };
      const verdict = made.policy.judge({
        ...input,
        args: argsOf(draw),
        workflow: null,
        history: [],
        now: 0,
      });
      const failed = /cannot be answered: (.*)/.exec(verdict.reason ?? "")?.[1];
      if (failed === undefined) answered += 1;
      else assert.match(failed, UNAVOIDABLE, text);
    });
    const wanted = runs(1_500);
    fc.assert(property, wanted);
    assert.ok(answered > wanted.numRuns / 4, `${answered} were answered`);
  });

  it("a misspelt field is found wherever it stands", () => {
    const property = fc.property(fc.integer(), (seed) => {
      const draw = drawFrom(seed);
      const text = textOf(drawTruth(draw, SIGHT));
      const places = [...text.matchAll(/(?<!has\()args\.(?:s|list|constructor)\b/g)];
      if (places.length === 0) return;
      const { index } = draw.pick(places);
      const wrong = `${text.slice(0, index + 5)}x${text.slice(index + 5)}`;
      const made = compiled(wrong);
      assert.ok(
        !made.ok && made.faults.some(({ offset }) => offset === index + 5),
        `${wrong}: ${JSON.stringify(made)}`,
      );
    });
    fc.assert(property, runs(1_000));
  });
});
