/** A review is of one version of each policy, whatever is put in force while it goes on. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createExecutor } from "../../src/effects/advance-call.ts";
import { defineTool } from "../../src/effects/define-tool.ts";
import { applyPolicy } from "../../src/policy/apply-to-tool.ts";
import { compilePolicy } from "../../src/policy/rules/compile.ts";
import type { PolicyInput } from "../../src/policy/rules/verdict.ts";
import { underLimits, underWorkflowPolicy } from "../../src/workflows/workflow-policy.ts";
import { machine } from "../fixtures/runtime.ts";

function version(name: string, number: number) {
  const rules = [{ id: `${name}_${number}`, verdict: "escalate" as const }];
  const made = compilePolicy({ policy: name, default: "block", rules }, null);
  return made.ok ? made.policy : assert.fail("it does not compile");
}

const INPUT: PolicyInput = {
  tool: "pay",
  effectClass: "once",
  args: {},
  agent: "agent:tester",
  requester: ["agent:tester"],
  requestId: null,
  workflow: null,
  history: [],
  now: 0,
};

/** Both documents change together, between two looks. */
for (const separate of [false, true])
  test(`digest, documents and verdict do not change with a reload in between${separate ? ", duties kept apart" : ""}`, async () => {
    const process = machine().process();
    let now = 1;
    const house = { 1: version("house", 1), 2: version("house", 2) };
    const run = { 1: version("run", 1), 2: version("run", 2) };
    const own = defineTool({ name: "pay", policy: "approve", run: () => null });
    const inHouse = applyPolicy(own, "policy", () => house[now as 1 | 2]);
    const byCode = underWorkflowPolicy(inHouse, { verdict: "approve" } as never);
    const inRun = applyPolicy(byCode, "policy", () => run[now as 1 | 2]);
    const tool = underLimits(inRun, { digest: "limits", guard: () => (_input, said) => said });
    const { rules } = await createExecutor({ ...process.runtime, separate }, tool);
    const digest = rules.policyDigest;
    now = 2;
    assert.deepEqual(rules.documents, [house[1].digest, run[1].digest]);
    assert.equal(rules.policyDigest, digest);
    assert.equal(rules.policy(INPUT).rule, "run_1; house_1");
    const after = await createExecutor({ ...process.runtime, separate }, tool);
    assert.notEqual(after.rules.policyDigest, digest);
    assert.deepEqual(after.rules.documents, [house[2].digest, run[2].digest]);
    assert.equal(after.rules.policy(INPUT).rule, "run_2; house_2");
    await process.close();
  });
