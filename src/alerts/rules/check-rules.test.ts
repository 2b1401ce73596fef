import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isHoldpointError } from "../../kernel/errors.ts";
import { checkMonitorName, checkRules } from "./check-rules.ts";

const refused = (rules: unknown, text: RegExp) =>
  assert.throws(
    () => checkRules(rules),
    (error) => isHoldpointError(error, "invalid_input") && text.test(error.message),
  );

describe("rules of a monitor", () => {
  const rate = { kind: "rate", name: "r", of: "calls", windowMs: 1_000, above: 1 };

  test("that are well written are taken, as a copy", () => {
    const given = { ...rate };
    const [rule] = checkRules([given]);
    given.above = 7;
    assert.deepEqual(rule, rate);
  });

  test("that would say nothing, or something else than was meant, are refused with the reason", () => {
    refused([], /a list of rules/);
    refused("rate", /a list of rules/);
    refused([null], /Rule 1 is an object/);
    refused([{ ...rate, kind: "rte" }], /Rule 1 has a kind: one of rate, errors/);
    refused([{ ...rate, kind: "toString" }], /has a kind/);
    refused(
      [{ ...rate, windwMs: 5 }],
      /^Rule 1 \(rate\) has no field "windwMs" \(did you mean windowMs\?\); there are kind, /,
    );
    refused([{ ...rate, name: undefined }], /has a name/);
    refused([{ ...rate, name: "a/b" }], /"name" is a text/);
    refused([{ ...rate, above: 1.5 }], /^Rule 1 \(rate\): "above" is a whole number/);
    refused([{ ...rate, above: undefined }], /^Rule 1 \(rate\) has one of above, baseline/);
    refused([{ ...rate, baseline: {} }], /one of above, baseline/);
    refused([{ ...rate, above: undefined, baseline: { warmup: 3 } }], /"baseline" is an object of/);
    refused([{ ...rate, raise: "hell" }], /"raise" is one of alert, checkpoint/);
    refused([{ kind: "errors", name: "e", above: 1, last: 10 }], /"above" is a share/);
    refused([{ kind: "errors", name: "e", above: 0.5, last: 3 }], /never as many as "least" wants, 5/);
    refused([{ kind: "progress", name: "p", withinMs: 5 }], /at least one of fewerThan, moreThan/);
    refused([{ kind: "silence", name: "s" }], /^Rule 1 \(silence\) needs "forMs"/);
    refused([{ kind: "resources", name: "u" }], /at least one of tokens/);
    refused([{ kind: "resources", name: "u", cost: { currency: "USD", micros: 5 } }], /micros as a bigint/);
    refused([{ kind: "when", name: "w", condition: "args.x > 1" }], /"condition" is a function/);
    refused([rate, { ...rate }], /Two rules are named "r"/);
  });

  test("a monitor's own name is as narrow", () => {
    assert.equal(checkMonitorName("night watch"), "night watch");
    for (const name of [undefined, "", " x", "a#b", "x".repeat(61), "\ud800"])
      assert.throws(() => checkMonitorName(name), /The name of a monitor is a text/);
  });
});
