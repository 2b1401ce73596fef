/** Tools that return, throw or say what they should not: the effect's outcome is kept all the same. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { NotApplied, type ToolContext } from "../../src/index.ts";
import { machine } from "../fixtures/runtime.ts";

const hp = machine().process();
const loose = <Value>(value: unknown): Value => value as Value;
const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;

describe("a tool that misbehaves", () => {
  const results: Readonly<Record<string, readonly [unknown, unknown]>> = {
    nothing: [undefined, null],
    "a date": [new Date(0), "1970-01-01T00:00:00.000Z"],
    "a bigint": [
      { id: 12345678901234567890n, name: "x" },
      { id: "12345678901234567890", name: "x" },
    ],
    "an integer beyond 2^53": [{ id: 2 ** 60 }, { id: String(2 ** 60) }],
    "half a character": [
      { text: "ab\ud800", "\udc00": 1 },
      { text: "ab\ufffd", "\ufffd": 1 },
    ],
    "not a number": [{ n: Number.NaN }, { n: null }],
    "a key of JavaScript's own": [JSON.parse('{"__proto__":1,"a":2}'), { "[__proto__]": 1, a: 2 }],
  };
  for (const [index, [name, [value, kept]]] of Object.entries(results).entries()) {
    test(`by returning ${name} has its result kept as well as JSON can`, async () => {
      const tool = hp.gate({ name: `odd-${index}`, policy: "approve", run: () => value });
      const answer = await tool({}, { requestId: `odd-${index}` });
      assert.ok(answer.status === "done");
      assert.deepEqual(answer.result, kept);
    });
  }

  test("by returning what contains itself is applied all the same, and says that the result was not kept", async () => {
    const tool = hp.gate({ name: "odd-cycle", policy: "approve", run: () => cyclic });
    const answer = await tool({}, { requestId: "odd-cycle" });
    assert.ok(answer.status === "done");
    assert.match(String(answer.result), /could not be kept/);
  });

  for (const [name, thrown] of Object.entries({
    text: "no",
    null: null,
    "half a character": new Error("\ud800"),
    "a long story": new Error("x".repeat(100_000)),
  })) {
    test(`by throwing ${name} is in doubt, with a reason that can be read`, async () => {
      const tool = hp.gate({
        name: `throws-${name.replaceAll(" ", "-")}`,
        policy: "approve",
        run: () => {
          throw thrown;
        },
      });
      const answer = await tool({}, { requestId: `throws-${name}` });
      assert.ok(answer.status === "in_doubt");
      assert.ok(answer.reason.length > 0 && answer.reason.length < 3_000 && answer.reason.isWellFormed());
    });
  }

  test("by judging its own error badly has proved nothing", async () => {
    const isDefinite = () => {
      throw new Error("no");
    };
    const tool = hp.gate({
      name: "misjudges",
      policy: "approve",
      isDefinite,
      run: () => {
        throw new Error("x");
      },
    });
    assert.equal((await tool({}, { requestId: "misjudges" })).status, "in_doubt");
    const sure = hp.gate({
      name: "sure",
      policy: "approve",
      run: () => {
        throw new NotApplied("refused");
      },
    });
    assert.equal((await sure({}, { requestId: "sure" })).status, "failed");
  });

  const amounts: Readonly<Record<string, unknown>> = {
    "less-than-nothing": { currency: "USD", micros: -5n },
    "another-currency": { currency: "EUR", micros: 5n },
    "floating-point": { currency: "USD", micros: 5 },
    nothing: null,
  };
  for (const [name, amount] of Object.entries(amounts)) {
    test(`by spending ${name.replaceAll("-", " ")} is in doubt and falsifies no budget`, async () => {
      await hp.budgets.limit("daily", { currency: "USD", micros: 1_000n });
      const cost = () => ({ budget: "daily", amount: { currency: "USD", micros: 10n } });
      const run = (_args: unknown, context: ToolContext) => context.spent("daily", loose(amount));
      const tool = hp.gate({ name: `spends-${name}`, policy: "approve", cost, run });
      assert.equal((await tool({}, { requestId: name })).status, "in_doubt");
      assert.equal((await hp.budgets.get("daily")).spent, 0n);
    });
  }

  test("by listening badly cannot break a call", async () => {
    const notify = () => {
      throw new Error("slack is down");
    };
    const loud = machine().process({ notify });
    const tool = loud.gate({
      name: "loud",
      policy: "approve",
      run: () => {
        throw new Error("x");
      },
    });
    assert.equal((await tool({})).status, "in_doubt");
    await loud.close();
  });
});
