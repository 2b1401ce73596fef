/** A tool's own policy in code beside the document: its part is not the candidate's doing. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { admin } from "../../src/admin.ts";
import type { Verdict } from "../../src/index.ts";
import type { PolicyText } from "../../src/policy/rules/document.ts";
import { runCli } from "../cli/bench.ts";
import { temporaryFolder } from "../fixtures/folder.ts";

const HOUSE: PolicyText = {
  policy: "house",
  default: "approve",
  rules: [{ id: "big", tool: "pay", when: "args.amount > 100", verdict: "escalate" }],
};

const CODE: { readonly [kind: string]: (args: { amount: number }) => Verdict } = {
  asks: () => ({ verdict: "escalate", rule: "code", approvers: { quorum: 2 } }),
  blocks: ({ amount }) =>
    amount > 10 ? { verdict: "block", reason: "too much", rule: "code" } : { verdict: "approve" },
  revises: ({ amount }) =>
    amount === 7
      ? { verdict: "approve" }
      : { verdict: "revise", set: { amount: 7 }, reason: "seven", rule: "code" },
};

/** Two payments by a tool with its own policy. */
async function paid(context: TestContext, code: keyof typeof CODE) {
  const folder = temporaryFolder(context);
  const hp = folder.open({ policy: HOUSE });
  const own = CODE[code] ?? assert.fail();
  const policy = ({ args }: { readonly args: unknown }) => own(args as { amount: number });
  const pay = hp.gate({ name: "pay", policy, run: () => "paid" });
  for (const amount of [20, 200]) await pay({ amount }, { requestId: `r${amount}`, waitMs: 0 });
  return { hp, folder };
}

const looser: PolicyText = { ...HOUSE, rules: [] };
const stricter: PolicyText = { ...HOUSE, default: "block" };

describe("where a tool's own policy in code decided", () => {
  for (const code of Object.keys(CODE))
    test(`the unchanged document changes nothing: code ${code}`, async (context) => {
      const { hp } = await paid(context, code);
      const report = await admin(hp).policies.backtest(HOUSE);
      assert.deepEqual([report.compared, report.changed, report.changes], [2, 0, []]);
      assert.ok(report.byCode >= 1, String(report.byCode));
      await hp.close();
    });

  test("the report says of how many that is so, and --fail-over 0 passes", async (context) => {
    const { hp, folder } = await paid(context, "blocks");
    await hp.close();
    const file = join(folder.path, "..", "house.json");
    writeFileSync(file, JSON.stringify(HOUSE));
    const ran = await runCli(folder, ["policy", "backtest", file, "--fail-over", "0"]);
    assert.equal(ran.code, 0, ran.out + ran.err);
    assert.match(ran.out, /2 decided by code beside the documents, which cannot be judged again/);
  });

  test("a document that is no stricter than the code changes nothing", async (context) => {
    const { hp } = await paid(context, "blocks");
    const report = await admin(hp).policies.backtest(looser);
    assert.deepEqual([report.changed, report.byCode], [0, 2]);
    await hp.close();
  });

  test("a stricter one does", async (context) => {
    const { hp } = await paid(context, "asks");
    const report = await admin(hp).policies.backtest(stricter);
    assert.equal(report.changed, 1);
    assert.deepEqual(
      report.changes.map(({ from, to }) => [from.verdict, to.verdict]),
      [["escalate", "block"]],
    );
    await hp.close();
  });
});
