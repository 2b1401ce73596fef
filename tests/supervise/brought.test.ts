/** Tools that a run brings along: what they do to the policies that are in force, and what is left of them. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { z } from "zod";
import type { Holdpoint } from "../../src/index.ts";
import type { PolicyText } from "../../src/policy/rules/document.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { atStep, FINAL, GOAL, scripted } from "./refund.ts";

const amount = z.object({ amount: z.number() });
const LIST = { name: "pay_list", effect: "read", input: z.object({ q: z.string() }), run: () => "found" };
const LOOK = { ...LIST, name: "look" };
const PAY = { name: "pay", input: amount, run: () => "paid" };
const call = (name: string, args: object) => ({ kind: "tool", name, args });
const OPEN: PolicyText = { policy: "open", default: "approve" };
const BIG = { id: "big", when: "args.amount > 5", verdict: "block", reason: "too much" } as const;

function shop(context: TestContext, rule: PolicyText["rules"]) {
  const hp = temporaryFolder(context).open({
    policy: { policy: "shop", default: "approve", rules: rule ?? [] },
  });
  const pay = hp.gate(PAY);
  const pays = async (requestId: string) => (await pay({ amount: 3 }, { requestId })).status;
  return { hp, pays };
}

/** A run that is under way until it is let go. */
function slowRun(hp: Holdpoint, tool: typeof LIST, policy = OPEN) {
  const begun = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const slow = async () => {
    begun.resolve();
    await go.promise;
    return { text: JSON.stringify(FINAL) };
  };
  const running = hp.supervise({ goal: GOAL, tools: [tool], model: scripted(slow), policy });
  running.catch(begun.reject);
  const end = async () => {
    go.resolve();
    return (await running).stop_reason;
  };
  return { begun: begun.promise, end };
}

describe("a run that brings a tool which the instance's policy does not fit", () => {
  test("is refused with the fault, and every other call goes on as before", async (context) => {
    const { hp, pays } = shop(context, [{ ...BIG, tool: "pay*" }]);
    assert.equal(await pays("1"), "done");
    const run = hp.supervise({ goal: GOAL, tools: [LIST], model: scripted(FINAL), policy: OPEN });
    await assert.rejects(run, { code: "policy_invalid", message: /args has no field amount.*of pay_list/s });
    assert.equal(await pays("2"), "done");
    assert.deepEqual((await hp.workflows.list()).items, []);
    const other = hp.supervise({ goal: GOAL, tools: [], model: scripted(FINAL), policy: OPEN });
    assert.equal((await other).stop_reason, "success");
  });

  test("is not told that its tool is at fault where the policy was wrong before", async (context) => {
    const { hp } = shop(context, [{ ...BIG, tool: "pay", when: "args.amont > 5" }]);
    const run = hp.supervise({ goal: GOAL, tools: [LIST], model: scripted(FINAL) });
    await assert.rejects(run, { code: "policy_invalid", message: /cannot be used.*amont/s });
  });
});

describe("a tool that a run brings", () => {
  test("leaves another run's document alone, which is checked against that run's tools", async (context) => {
    const hp = temporaryFolder(context).open();
    const other = slowRun(hp, LOOK);
    await other.begun;
    const policy: PolicyText = { policy: "own", default: "approve", rules: [BIG] };
    const model = atStep(call("pay", { amount: 1 }), call("pay", { amount: 9 }));
    const run = hp.supervise({ goal: GOAL, tools: [PAY], model, policy });
    assert.equal((await run).stop_reason, "supervisor_block:too much");
    assert.equal(await other.end(), "success");
    const unfit = hp.supervise({ goal: GOAL, tools: [LOOK], model: scripted(FINAL), policy });
    await assert.rejects(unfit, { code: "policy_invalid", message: /args has no field amount/ });
  });

  test("is not taken for a slip of the pen where the document names a tool that only other runs have", async (context) => {
    const hp = temporaryFolder(context).open();
    hp.gate({ ...PAY, name: "loop" });
    const rules = [{ ...BIG, tool: "loop" }];
    const policy: PolicyText = { policy: "own", default: "approve", rules };
    const run = hp.supervise({ goal: GOAL, tools: [LOOK], model: scripted(FINAL), policy });
    assert.equal((await run).stop_reason, "success");
  });

  test("is gone when the run is over: its name is free, and policies that do not fit it may come", async (context) => {
    const folder = temporaryFolder(context);
    const file = join(folder.path, "..", "shop.yaml");
    const text = "policy: shop\ndefault: approve\n";
    writeFileSync(file, text);
    const hp = folder.open({ policy: file });
    const pay = hp.gate(PAY);
    const run = slowRun(hp, LIST);
    await run.begun;
    assert.throws(() => hp.gate(LIST as never), { code: "tool_conflict" });
    assert.equal(await run.end(), "success");
    await assert.rejects(hp.execute({ requestId: "x", action: "pay_list", payload: { q: "a" } }), {
      code: "unknown_tool",
    });
    writeFileSync(
      file,
      `${text}rules:\n  - { id: big, when: args.amount > 5, verdict: block, reason: too much }\n`,
    );
    const adopted = () => folder.notices.filter(({ kind }) => kind === "policy_adopted").length;
    const refused = () => folder.notices.some(({ kind }) => kind === "policy_refused");
    // The instance's first version, the run's, and this one.
    while (adopted() < 3 && !refused()) await new Promise<void>((resolve) => setTimeout(resolve, 10));
    assert.equal((await pay({ amount: 9 }, { requestId: "y" })).status, "refused");
    hp.gate({ ...PAY, name: "pay_list" });
  });

  test("that a policy leans on takes nothing out of force when it is gone", async (context) => {
    const hp = temporaryFolder(context).open({
      policy: { policy: "shop", default: "approve", rules: [{ ...BIG, when: "has(args.q)" }] },
    });
    const run = slowRun(hp, LOOK);
    await run.begun;
    const pay = hp.gate(PAY);
    assert.equal((await pay({ amount: 1 }, { requestId: "1" })).status, "done");
    assert.equal(await run.end(), "success");
    assert.equal((await pay({ amount: 1 }, { requestId: "2" })).status, "done");
  });
});
