import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Money } from "../../kernel/money.ts";
import { type CheckpointDefinition, type CheckpointFacts, whetherToAsk } from "./checkpoints.ts";

const usd = (micros: bigint): Money => ({ currency: "USD", micros });
const facts: CheckpointFacts = {
  name: "Review plan",
  confidence: 0.9,
  cost: usd(0n),
  tools: [],
  captured: {},
  attempt: 1,
};
const ask = (when: NonNullable<CheckpointDefinition["when"]>, given: Partial<CheckpointFacts> = {}) =>
  whetherToAsk({ name: "Review plan", when }, { ...facts, ...given });

describe("a checkpoint that is reached", () => {
  test("asks unless something else is declared", () => {
    assert.deepEqual(whetherToAsk({ name: "a" }, facts), { asks: true, why: "it always asks" });
  });

  test("asks when nobody declared it", () => {
    assert.deepEqual(whetherToAsk(undefined, facts), {
      asks: true,
      why: "nothing says when it asks, so it asks each time",
    });
  });

  test("passes when the chosen set leaves it out, and says so", () => {
    const { asks, why } = whetherToAsk("left_out", facts);
    assert.equal(asks, false);
    assert.match(why, /left out by the set/);
  });

  test("passes when it needs no approval, whatever its condition says", () => {
    const when = () => assert.fail("it was asked");
    assert.deepEqual(whetherToAsk({ name: "a", requiresApproval: false, when }, facts), {
      asks: false,
      why: "it needs no approval",
    });
  });
});

describe("a confidence to be reached", () => {
  for (const [confidence, asks] of [
    [0.79, true],
    [0.8, false],
    [0.81, false],
    [null, true],
  ] as const)
    test(`of 0.8 ${asks ? "asks" : "does not ask"} at ${confidence ?? "none"}`, () => {
      assert.equal(ask({ confidenceBelow: 0.8 }, { confidence }).asks, asks);
    });

  test("is named with the one that was captured", () => {
    assert.equal(ask({ confidenceBelow: 0.8 }, { confidence: 0.5 }).why, "the confidence 0.5 is below 0.8");
    assert.match(ask({ confidenceBelow: 0.8 }, { confidence: null }).why, /no confidence was captured/);
  });
});

describe("a limit of cost", () => {
  const when = { costAbove: usd(12_500_000n) };

  test("asks above it, and not at it", () => {
    assert.equal(ask(when, { cost: usd(12_500_000n) }).asks, false);
    assert.deepEqual(ask(when, { cost: usd(12_500_001n) }), {
      asks: true,
      why: "12.500001 USD is more than the limit of 12.5 USD",
    });
  });

  test("asks where the cost is not known, or in another currency", () => {
    assert.match(ask(when, { cost: null }).why, /not known, and the limit is 12\.5 USD/);
    assert.deepEqual(ask(when, { cost: { currency: "EUR", micros: 1n } }), {
      asks: true,
      why: "0.000001 EUR cannot be compared with the limit of 12.5 USD",
    });
  });
});

describe("tools to be watched", () => {
  test("ask when any of them was called since the checkpoint before", () => {
    const when = { tools: ["transfer", "delete"] };
    assert.equal(ask(when, { tools: ["search"] }).asks, false);
    assert.deepEqual(ask(when, { tools: ["delete", "search", "delete"] }), {
      asks: true,
      why: "delete was called",
    });
  });
});

describe("several conditions", () => {
  const when = { confidenceBelow: 0.8, costAbove: usd(1_000_000n), tools: ["transfer"] };

  test("ask when any one of them holds, and name those that do", () => {
    assert.equal(ask(when, { tools: ["transfer"] }).asks, true);
    assert.equal(
      ask(when, { confidence: 0.1, tools: ["transfer"] }).why,
      "the confidence 0.1 is below 0.8; transfer was called",
    );
  });

  test("pass when none of them holds", () => {
    assert.deepEqual(ask(when), { asks: false, why: "none of its conditions holds" });
  });
});

describe("a condition that is a function", () => {
  test("is asked with the facts, and its answer counts", () => {
    const when = ({ captured, attempt }: CheckpointFacts) => attempt > 1 || captured.risk === "high";
    assert.deepEqual(ask(when), { asks: false, why: "its condition does not hold" });
    assert.equal(ask(when, { attempt: 2 }).asks, true);
    assert.equal(ask(when, { captured: { risk: "high" } }).asks, true);
  });

  test("asks when it throws, with the error", () => {
    const failing = () => {
      throw new Error("no such table");
    };
    assert.deepEqual(ask(failing), { asks: true, why: "its condition failed: no such table" });
  });

  for (const said of [undefined, null, 0, 1, "false", {}])
    test(`asks when it answers ${JSON.stringify(said)}`, () => {
      const { asks, why } = ask((() => said) as unknown as () => boolean);
      assert.equal(asks, true);
      assert.match(why, /neither true nor false/);
    });

  test("asks when it answers a promise, and one that fails does not end the process", async () => {
    const late = (async () => Promise.reject(new Error("late"))) as unknown as () => boolean;
    assert.match(ask(late).why, /answered a promise/);
    await new Promise((resolve) => setImmediate(resolve));
  });
});
