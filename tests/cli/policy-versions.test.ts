// Which version decided: on the card, in explanations and in the list.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { admin } from "../../src/admin.ts";
import type { Holdpoint } from "../../src/index.ts";
import type { PolicyText } from "../../src/policy/rules/document.ts";
import { type Folder, pendingApproval, temporaryFolder } from "../fixtures/folder.ts";
import { FINAL, GOAL, scripted } from "../supervise/refund.ts";
import { errorOf, linesOf, runCli } from "./bench.ts";

const limit = (most: number, more: Partial<PolicyText> = {}): PolicyText => ({
  policy: "refunds",
  default: "approve",
  rules: [
    {
      id: "large",
      tool: "refund",
      when: `args.amount > ${most}`,
      verdict: "escalate",
      reason: `over ${most}`,
    },
  ],
  ...more,
});

const refundOn = (hp: Holdpoint) => hp.gate({ name: "refund", run: (_: { amount: number }) => null });

/** A refund of 500 that was asked about under one version; then another was put in force. */
async function decided(folder: Folder) {
  const first = folder.open({ policy: limit(100) });
  await refundOn(first)({ amount: 500 }, { requestId: "r", waitMs: 0 });
  const approval = await pendingApproval(first);
  const { action } = await first.approvals.get(approval);
  await first.close();
  const second = folder.open({ policy: limit(1_000), agent: "later" });
  await refundOn(second)({ amount: 1 }, { requestId: "other" });
  return { approval, action: action ?? "", versions: await admin(second).policies.list(), second };
}

function fileIn({ path }: Folder, name: string, value: unknown): string {
  const file = join(dirname(path), name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(value));
  return file;
}

const short = (digest = ""): string => digest.slice(0, 12);

describe("an action that was decided under one version, after another was put in force", () => {
  test("is shown with the policy's name, its version and the rule; and the list says what is in force now", async (context) => {
    const folder = temporaryFolder(context);
    const { approval, versions } = await decided(folder);
    const [one, two] = versions;
    const { out } = await runCli(folder, ["show", approval]);
    assert.match(out, new RegExp(`policy +refunds ${short(one?.digest)}\\n +rule +large\\n`));
    const listed = linesOf((await runCli(folder, ["policy", "list"])).out).map((line) => line.split("\t"));
    assert.deepEqual(
      listed.map(([, digest, , until, by, , standing]) => [digest, until === "-", by, standing]),
      [
        [one?.digest, false, "agent:tester", "ended"],
        [two?.digest, true, "agent:later", "used"],
      ],
    );
    assert.match(listed[1]?.[7] ?? "", new RegExp(`^agent:later \\(.*/${process.pid}\\)$`));
  });

  test("is explained by the version that its verdict names, or by the one in force now, and says which", async (context) => {
    const folder = temporaryFolder(context);
    const { action, versions } = await decided(folder);
    const [one, two] = versions;
    const then = await runCli(folder, ["policy", "explain", action]);
    assert.deepEqual([then.code, then.err], [0, ""]);
    assert.match(then.out, new RegExp(`refunds ${short(one?.digest)}, the version that the verdict names`));
    assert.match(then.out, /escalate +\[large\] over 100/);
    const now = await runCli(folder, ["policy", "explain", action, "--now"]);
    assert.match(now.out, new RegExp(`refunds ${short(two?.digest)}, in force now`));
    assert.match(now.out, /approve +\[default\]/);
    assert.match(now.out, /at the time +escalate \[large\] over 100/);
    const file = fileIn(folder, "p.json", limit(400));
    const json = JSON.parse(
      (await runCli(folder, ["policy", "explain", action, "--policy", file, "--json"])).out,
    );
    assert.deepEqual([json.by, json.review.reason], ["file", "over 400"]);
    const both = await runCli(folder, ["policy", "explain", action, "--policy", file, "--now"]);
    assert.equal(both.code, 2);
  });
});

test("where several documents were asked, each explains it", async (context) => {
  const folder = temporaryFolder(context);
  const hp = folder.open({ policy: limit(100, { policy: "house" }) });
  const tools = [refundOn(hp)];
  const policy: PolicyText = { policy: "run", default: "approve" };
  const model = scripted({ kind: "tool", name: "refund", args: { amount: 50 } }, FINAL);
  await hp.supervise({ goal: GOAL, tools, policy, model });
  const { items } = await hp.actions.list({ phase: "applied" });
  const action = items.find(({ tool }) => tool === "refund")?.id ?? "";
  await hp.close();
  const { out } = await runCli(folder, ["policy", "explain", action, "--json"]);
  const told = linesOf(out).map((line) => JSON.parse(line));
  assert.deepEqual(
    told.map(({ policy: { name }, by, review }) => [name, by, review.verdict]),
    [
      ["house", "verdict", "approve"],
      ["run", "verdict", "approve"],
    ],
  );
  const people = await runCli(folder, ["policy", "explain", action]);
  assert.match(people.out, /Policy 1 of 2[\s\S]*Policy 2 of 2[\s\S]*the strictest answer holds/);
});

test("an action that code decided is not explained by some document that nobody asked", async (context) => {
  const folder = temporaryFolder(context);
  const hp = folder.open();
  const { action } = await hp.gate({ name: "act", policy: "approve", run: () => null })(
    {},
    { requestId: "a" },
  );
  await hp.close();
  const ran = await runCli(folder, ["policy", "explain", action, "--json"]);
  assert.equal(ran.code, 2);
  assert.match(
    errorOf(ran)["what"] ?? "",
    /No policy document was asked about act_.*: what decided is in code/,
  );
  assert.match(errorOf(ran)["next"] ?? "", /--now .*--policy <file>/);
});

describe("an action that is written down", () => {
  const POLICY: PolicyText = {
    policy: "p",
    default: "block",
    rules: [
      { id: "more", tool: "pay", when: "!has(args.to)", verdict: "revise", set: { to: 7 } },
      { id: "reads", when: 'tool.effect == "read"', verdict: "approve" },
    ],
  };
  const TOOL = {
    name: "pay",
    effect: "read",
    schema: { type: "object", properties: { to: { type: "string" } } },
  };

  async function explained(context: TestContext, action: unknown, tools?: unknown) {
    const folder = temporaryFolder(context);
    const files = [fileIn(folder, "a.json", action), "--policy", fileIn(folder, "p.json", POLICY)];
    const given = tools === undefined ? [] : ["--tools", fileIn(folder, "t.json", tools)];
    return runCli(folder, ["policy", "explain", ...files, ...given, "--json"]);
  }

  test("goes by the schema and the class of a tool that only --tools knows", async (context) => {
    const blind = JSON.parse((await explained(context, { tool: "pay" })).out);
    assert.deepEqual([blind.review.verdict, blind.review.rule, blind.hasSchema], ["block", "default", false]);
    const unfit = JSON.parse((await explained(context, { tool: "pay" }, [TOOL])).out);
    assert.deepEqual([unfit.review.verdict, unfit.review.invalidRevision], ["block", true]);
    const read = JSON.parse((await explained(context, { tool: "pay", args: { to: "bob" } }, [TOOL])).out);
    assert.deepEqual([read.review.verdict, read.review.rule], ["approve", "reads"]);
  });

  const call = { tool: "pay", args: {} };
  for (const [what, action, tools, says] of [
    ["of the action", { tool: "pay", arg: {} }, undefined, /arg is not a key here \(did you mean args\?\)/],
    [
      "of a call in its history",
      { tool: "pay", history: [call, { ...call, stauts: "applied" }] },
      undefined,
      /history\.1: stauts is not a key here \(did you mean status\?\)/,
    ],
    [
      "of its workflow",
      { tool: "pay", workflow: { nme: "x" } },
      undefined,
      /workflow: nme is not a key here/,
    ],
    [
      "of a tool",
      { tool: "pay" },
      [{ ...TOOL, shema: {} }],
      /0: shema is not a key here \(did you mean schema\?\)/,
    ],
  ] as const)
    test(`is refused for a field ${what} that there is not, by its name`, async (context) => {
      const ran = await explained(context, action, tools);
      assert.equal(ran.code, 2, ran.out);
      assert.match(errorOf(ran)["what"] ?? "", says);
    });
});
