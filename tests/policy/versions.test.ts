/** Every recorded verdict names the documents that were asked, whoever else decides beside them. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { z } from "zod";
import { admin } from "../../src/admin.ts";
import { defineTool, type Policy } from "../../src/effects/define-tool.ts";
import { documentsNamed } from "../../src/effects/state.ts";
import type { Holdpoint } from "../../src/index.ts";
import type { JsonObject } from "../../src/kernel/json.ts";
import { applyPolicy } from "../../src/policy/apply-to-tool.ts";
import { compilePolicy } from "../../src/policy/rules/compile.ts";
import type { PolicyText } from "../../src/policy/rules/document.ts";
import { underWorkflowPolicy } from "../../src/workflows/workflow-policy.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";
import { FINAL, GOAL, scripted } from "../supervise/refund.ts";

const ANN = { by: "person:ann" };
const pay = (amount: number) => ({ kind: "tool", name: "pay", args: { amount } });

/** The same rules under another name: each scores, and has a rule on trial. */
const document = (name: string, weight: number, more: Partial<PolicyText> = {}): PolicyText => ({
  policy: name,
  default: "approve",
  risk: { conditions: [{ id: `${name}_large`, tool: "pay", when: "args.amount > 100", weight }] },
  rules: [
    { id: "trial", tool: "pay", when: "args.amount > 100", verdict: "block", shadow: true },
    { id: "never", tool: "pay", when: "args.amount > 9000", verdict: "block", reason: "never so much" },
    { id: "large", tool: "pay", when: "args.amount > 100", verdict: "escalate" },
  ],
  ...more,
});
const HOUSE = document("house", 40);
const RUN = document("run", 70);

function digestOf(text: PolicyText): string {
  const made = compilePolicy(text, null);
  return made.ok ? made.policy.digest : assert.fail(JSON.stringify(made.faults));
}

function payOn(hp: Holdpoint, policy?: Policy<{ amount: number }>) {
  const input = z.object({ amount: z.number() });
  const own = policy === undefined ? {} : { policy };
  return hp.gate({ name: "pay", input, ...own, run: ({ amount }) => ({ paid: amount }) });
}

async function told(hp: Holdpoint, id: string, type: string): Promise<JsonObject> {
  const found = (await hp.journal.read(id)).findLast((record) => record.type === type);
  return (found?.body ?? assert.fail(`no ${type}`)) as JsonObject;
}

/** A run that asks about a payment under both documents; the tool's own policy is left to them unless it is given. */
async function asked(context: TestContext, own?: Policy<{ amount: number }>) {
  const hp = temporaryFolder(context).open({ policy: HOUSE });
  const tools = [payOn(hp, own)];
  const model = scripted(pay(500), FINAL);
  const running = hp.supervise({ goal: GOAL, tools, policy: RUN, model });
  running.catch(() => undefined);
  const approval = await pendingApproval(hp);
  return { hp, running, approval, action: (await hp.approvals.get(approval)).action ?? "" };
}

/** Whoever runs it reviews the edit. */
async function refusedEdit(hp: Holdpoint, approval: string): Promise<void> {
  for (let look = 0; look < 500; look++) {
    if ((await hp.approvals.get(approval)).editRefused !== null) return;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  assert.fail("nobody has refused the edit");
}

const BOTH = [digestOf(HOUSE), digestOf(RUN)];

describe("under the documents of an instance and of a run", () => {
  for (const [whose, own] of [
    ["and a tool without a policy of its own", undefined],
    ["and a tool's own policy", "approve"],
  ] as const)
    test(`${whose}, every verdict names both, and each is found by its digest`, async (context) => {
      const { hp, running, approval, action } = await asked(context, own);
      await hp.approvals.approve(approval, { ...ANN, edit: { amount: 9_500 } });
      await refusedEdit(hp, approval);
      await hp.approvals.approve(approval, { ...ANN, edit: { amount: 400 } });
      const result = await running;
      assert.equal(result.stop_reason, "success");
      const records = [
        await told(hp, action, "action.reviewed"),
        await told(hp, approval, "approval.requested"),
        await told(hp, approval, "approval.edit_refused"),
        await told(hp, approval, "approval.revised"),
      ];
      const policies = records.map((body) => body["policy"]);
      assert.equal(new Set(policies).size, 1, "all were asked by the same");
      for (const body of records) assert.deepEqual(body["documents"], BOTH);
      for (const digest of BOTH) assert.equal((await admin(hp).policies.get(digest)).digest, digest);
      const { approval: _, ...review } = records[0] ?? {};
      assert.deepEqual(documentsNamed(review as never), BOTH);
    });

  test("the risks and the rules on trial of both are kept, each with its document; the highest is the trace's", async (context) => {
    const { hp, running, approval, action } = await asked(context);
    const { review } = await hp.actions.get(action);
    const [house, run] = BOTH;
    const one = (document: string | undefined) => ({
      rule: "trial",
      verdict: "block",
      reason: "rule trial",
      document,
    });
    assert.deepEqual(review?.shadow, [one(run), one(house)]);
    assert.partialDeepStrictEqual(review?.risk, { score: 70, document: run });
    assert.partialDeepStrictEqual(review?.risks, [
      { score: 70, document: run },
      { score: 40, document: house },
    ]);
    await hp.approvals.approve(approval, ANN);
    assert.equal((await running).trace[0]?.risk_score, 70);
  });

  test("of which only one blocks, what the other remarks is kept", async (context) => {
    const hp = temporaryFolder(context).open({
      policy: document("house", 95, { default: "approve", rules: [] }),
    });
    const policy = document("strict", 10, {
      rules: [{ id: "no", tool: "pay", verdict: "block", reason: "no" }],
    });
    const model = scripted(pay(500));
    const result = await hp.supervise({ goal: GOAL, tools: [payOn(hp)], policy, model });
    assert.equal(result.stop_reason, "supervisor_block:no");
    assert.equal(result.trace[0]?.risk_score, 95);
  });

  test("a limit of the run itself, or its workflow asking, drops nothing of it", async (context) => {
    const hp = temporaryFolder(context).open({ policy: document("house", 40, { rules: [] }) });
    const limits = { tools: { pay: { calls: 1 } } };
    const model = scripted(pay(500), pay(600));
    const result = await hp.supervise({ goal: GOAL, tools: [payOn(hp)], model, limits });
    assert.equal(result.stop_reason, "loop_detected:per_tool_limit");
    assert.equal(result.trace[1]?.risk_score, 40);
    const flow = hp.workflow("asks", (ctx, _: object) =>
      ctx.call({ toolName: "pay" } as never, { amount: 500 } as never, { approvalRequired: true }),
    );
    await flow.start({});
    const { action } = await hp.approvals.get(await pendingApproval(hp));
    assert.equal((await hp.actions.get(action ?? "")).review?.risk?.score, 40);
  });
});

test("a verdict of code alone names no document, and one of a document alone names it", async (context) => {
  const folder = temporaryFolder(context);
  const plain = folder.open();
  const { action } = await payOn(plain, "approve")({ amount: 5 }, { requestId: "a" });
  assert.deepEqual((await plain.actions.get(action)).review?.documents, []);
  await plain.close();
  const hp = folder.open({ policy: HOUSE });
  const second = await payOn(hp)({ amount: 5 }, { requestId: "b" });
  assert.deepEqual((await hp.actions.get(second.action)).review?.documents, [digestOf(HOUSE)]);
});

test("entries from before there could be several documents are read: by the one they name, or by their policy", () => {
  const facts = { verdict: "approve", rule: "r", reason: "", policy: "p" } as const;
  assert.deepEqual(documentsNamed({ ...facts, document: "d" }), ["d"]);
  assert.deepEqual(documentsNamed(facts), ["p"]);
});

test("a review in a workflow is by one version from beginning to end, though another is put in force meanwhile", () => {
  const compiled = (verdict: "approve" | "block") => {
    const made = compilePolicy({ policy: "p", default: verdict }, null);
    return made.ok ? made.policy : assert.fail();
  };
  const [first, second] = [compiled("approve"), compiled("block")];
  let current = first;
  const tool = applyPolicy(defineTool({ name: "pay", run: () => null }), "nothing", () => current);
  const inWorkflow = underWorkflowPolicy(tool, "approve");
  const rules = { ...inWorkflow.rules };
  current = second;
  const input = { tool: "pay", args: {}, history: [], workflow: null } as never;
  assert.equal(rules.policy(input).verdict, "approve");
  assert.deepEqual(rules.documents, [first.digest]);
  const later = { ...inWorkflow.rules };
  assert.equal(later.policy(input).verdict, "block");
  assert.deepEqual(later.documents, [second.digest]);
  assert.notEqual(later.policyDigest, rules.policyDigest);
});
