import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compilePolicy } from "./compile.ts";
import type { PolicyText } from "./document.ts";

function faults(set: object): readonly string[] {
  const rules = [{ id: "a", verdict: "revise", set }];
  const made = compilePolicy({ policy: "p", default: "block", rules } as unknown as PolicyText, null);
  return made.ok
    ? []
    : made.faults.map(({ path, message, offset }) => `${path.join(".")} ${offset ?? "-"} ${message}`);
}

describe("what a rule puts into the arguments", () => {
  it("is no handle of a secret, at any depth: a fault at its place when the policy is loaded", () => {
    const [found, ...more] = faults({ key: { $secret: "env:TOKEN" } });
    assert.match(found ?? "", /^rules\.0\.set\.key\.\$secret - a policy does not write "\$secret"/);
    assert.deepEqual(more, []);
    assert.match(
      faults({ list: [{ deep: { $artifact: "x" } }] }).join(),
      /^rules\.0\.set\.list\.0\.deep\.\$artifact/,
    );
    assert.match(faults({ $secret: "env:TOKEN" }).join(), /^rules\.0\.set\.\$secret/);
    assert.match(
      faults({ key: { expr: '{"a": {"$secret": "env:TOKEN"}}' } }).join(),
      /^rules\.0\.set\.key\.expr 7 a policy does not write "\$secret"/,
    );
  });

  it("may be what the action has, and text that only looks like it", () => {
    assert.deepEqual(faults({ key: { expr: "args.key" }, note: "$secret", to: { secret: "$secret" } }), []);
  });
});

describe("a worker's answer that no rule names", () => {
  const warnings = (more: object) => {
    const made = compilePolicy({ policy: "p", default: "block", ...more } as unknown as PolicyText, null);
    return made.ok
      ? made.warnings.map(({ path, message }) => `${path.join(".")}: ${message}`)
      : assert.fail();
  };
  const rule = (tool: string) => ({ id: "a", tool, verdict: "approve" });

  it("is told of where the policy is written for supervised runs", () => {
    for (const limits of [{ steps: 3 }, { seconds: 3 }])
      assert.match(
        warnings({ limits, rules: [rule("pay")] }).join(),
        /^limits: no rule names final: .* is let through/,
      );
  });

  it("is not where a rule names it, it is approved anyway, or no run is thought of", () => {
    assert.deepEqual(warnings({ limits: { steps: 3 }, rules: [rule("final")] }), []);
    assert.deepEqual(warnings({ limits: { steps: 3 }, default: "approve" }), []);
    assert.deepEqual(warnings({ limits: { tool_calls: 3 }, rules: [rule("pay")] }), []);
    assert.deepEqual(warnings({ rules: [rule("*")] }), []);
  });
});
