/** What was asked beside a policy's document is asked beside the candidate too, and whom people are asked by is told. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { admin, type BacktestReport } from "../../src/admin.ts";
import type { PolicyText } from "../../src/policy/rules/document.ts";
import { runCli } from "../cli/bench.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { GOAL, scripted } from "../supervise/refund.ts";

const HOUSE: PolicyText = { policy: "house", default: "approve" };
const look = (order: number) => ({ kind: "tool", name: "look", args: { order } });

/** An instance with a document, and a run that brings another. */
async function ran(context: TestContext, run: PolicyText, house: PolicyText = HOUSE, orders = [1]) {
  const folder = temporaryFolder(context);
  const hp = folder.open({ policy: house });
  const tools = [hp.gate({ name: "look", effect: "read", run: () => "seen" })];
  const { stop_reason } = await hp.supervise({
    goal: GOAL,
    tools,
    model: scripted(...orders.map(look)),
    policy: run,
  });
  return { hp, folder, stop_reason };
}

const kept = ({ changed, changes }: BacktestReport) => [
  changed,
  changes.map(({ from, to }) => [from.rule, to.rule]),
];

describe("where the document of a supervised run decided", () => {
  const STRICT: PolicyText = { policy: "run", default: "block" };

  test("the instance's own document, unchanged, changes nothing", async (context) => {
    const { hp } = await ran(context, STRICT);
    assert.deepEqual(kept(await admin(hp).policies.backtest(HOUSE)), [0, []]);
    const other = await admin(hp).policies.backtest({ ...HOUSE, description: "the same in other words" });
    assert.deepEqual(kept(other), [0, []], "another version of it neither");
    await hp.close();
  });

  test("the run's document, unchanged, changes nothing, and another version of it does", async (context) => {
    const { hp } = await ran(context, STRICT);
    assert.equal((await admin(hp).policies.backtest(STRICT)).changed, 0);
    assert.equal((await admin(hp).policies.backtest({ ...STRICT, default: "approve" })).changed, 1);
    await hp.close();
  });

  test("a stricter instance's document is the stricter of both", async (context) => {
    const { hp } = await ran(context, { policy: "run", default: "approve" });
    const report = await admin(hp).policies.backtest({ ...HOUSE, default: "block" });
    assert.equal(report.changed, 1);
    assert.equal(report.changes[0]?.to.verdict, "block");
    assert.equal(report.missing.beside, 0);
    await hp.close();
  });

  test("one with a function cannot be asked any more, which is told", async (context) => {
    const { hp } = await ran(context, {
      policy: "run",
      default: "approve",
      rules: [{ id: "no", verdict: "block", when: () => true }],
    });
    const report = await admin(hp).policies.backtest(HOUSE);
    assert.equal(report.missing.beside, 1);
    await hp.close();
  });
});

describe("a limit of a run behind a policy's own no", () => {
  const noThird: PolicyText = {
    ...HOUSE,
    rules: [{ id: "no_third", when: "args.order == 3", verdict: "block", reason: "no" }],
  };

  test("still refuses what another policy would let through", async (context) => {
    const { hp, stop_reason } = await ran(context, { policy: "run", default: "approve" }, noThird, [1, 2, 3]);
    assert.match(stop_reason, /policy|block/);
    const report = await admin(hp).policies.backtest(HOUSE);
    assert.deepEqual([report.changed, report.limited], [0, 1]);
    const same = await admin(hp).policies.backtest(noThird);
    assert.deepEqual([same.changed, same.limited], [0, 0]);
    const counting = await admin(hp).policies.backtest({ ...HOUSE, tools: { look: { calls: 5 } } });
    assert.deepEqual([counting.changed, counting.limited], [1, 0]);
    await hp.close();
  });
});

describe("an escalation that asks others", () => {
  const asking = (more: object): PolicyText =>
    ({
      policy: "house",
      default: "approve",
      rules: [{ id: "ask", tool: "pay", verdict: "escalate", ...more }],
    }) as PolicyText;
  const BEFORE = {
    approvers: { from: ["person:ann", "person:bob"], quorum: 1 },
    decide_by: "24h",
    on_timeout: "extend",
  };

  async function asked(context: TestContext, policy: PolicyText | undefined, own?: object) {
    const folder = temporaryFolder(context);
    const hp = folder.open(policy === undefined ? {} : { policy });
    const pay = hp.gate({ name: "pay", ...(own as object), run: () => "paid" });
    await pay({ amount: 1 }, { requestId: "r-1", waitMs: 0 });
    return { hp, folder };
  }

  test("is a change, with who was asked and who would be", async (context) => {
    const { hp, folder } = await asked(context, asking(BEFORE));
    const others: readonly (readonly [string, object])[] = [
      ["2 of person:ann, person:bob", { ...BEFORE, approvers: { ...BEFORE.approvers, quorum: 2 } }],
      ["1 of person:cy", { ...BEFORE, approvers: { from: "person:cy" } }],
      ["within 1h", { ...BEFORE, decide_by: "1h" }],
      ["1 of anybody", { decide_by: "24h", on_timeout: "extend" }],
      ["then 1 of person:bob", { stages: [{ from: "person:ann" }, { from: "person:bob" }] }],
      ["within 1d", { ...BEFORE, on_timeout: "expire" }],
    ];
    for (const [words, more] of others) {
      const report = await admin(hp).policies.backtest(asking(more));
      assert.equal(report.changed, 1, words);
      assert.deepEqual(
        report.transitions.map(({ from, to, count }) => [from, to, count]),
        [["escalate", "escalate, asks others", 1]],
      );
      const [change] = report.changes;
      assert.equal(
        change?.from.asks,
        "1 of person:ann, person:bob; within 1d (at the deadline: extend)",
        words,
      );
      assert.ok(change?.to.asks?.includes(words), `${change?.to.asks} has ${words}`);
    }
    await hp.close();
    const file = join(folder.path, "house.yaml");
    writeFileSync(
      file,
      "policy: house\ndefault: approve\nrules:\n  - { id: ask, tool: pay, verdict: escalate, approvers: { from: person:cy } }\n",
    );
    const { code, out } = await runCli(folder, ["policy", "backtest", file, "--fail-over", "0"]);
    assert.equal(code, 1);
    assert.match(out, /1 {2}escalate → escalate, asks others/);
    assert.match(out.replaceAll(/\s+/g, " "), /now escalate \[ask\].*asks 1 of person:cy/);
  });

  test("is none where the same are asked, in another order or as one stage", async (context) => {
    const { hp } = await asked(context, asking(BEFORE));
    for (const more of [
      BEFORE,
      { ...BEFORE, approvers: { from: ["person:bob", "person:ann"] } },
      {
        on_timeout: "extend",
        stages: [{ from: ["person:ann", "person:bob"], decide_by: "1d" }],
        reason: "other words",
      },
    ])
      assert.equal((await admin(hp).policies.backtest(asking(more))).changed, 0);
    await hp.close();
  });

  test("is none where code of the tool asks for more than the document, before and after", async (context) => {
    const own = { policy: { verdict: "escalate", approvers: { quorum: 3 } } };
    const { hp } = await asked(context, asking(BEFORE), own);
    assert.equal((await admin(hp).policies.backtest(asking(BEFORE))).changed, 0);
    assert.equal((await admin(hp).policies.backtest(asking({}))).changed, 1);
    await hp.close();
  });

  test("is judged beside the tool's own code where only that had asked", async (context) => {
    const own = { policy: { verdict: "escalate", approvers: { from: ["person:ann"] } } };
    const { hp } = await asked(context, undefined, own);
    assert.equal((await admin(hp).policies.backtest(asking({}))).changed, 0, "any one person adds nothing");
    const report = await admin(hp).policies.backtest(asking({ approvers: { from: "person:cy" } }));
    assert.equal(report.changes[0]?.from.asks, "1 of person:ann");
    assert.equal(report.changes[0]?.to.asks, "1 of person:cy, then 1 of person:ann");
    await hp.close();
  });
});
