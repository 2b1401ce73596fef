/** What a back-test says of a history that is known. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, type TestContext, test } from "node:test";
import { admin } from "../../src/admin.ts";
import type { Holdpoint, PolicyInput, Verdict } from "../../src/index.ts";
import type { PolicyText } from "../../src/policy/rules/document.ts";
import { eraseEntries } from "../fixtures/erase-entries.ts";
import { type Folder, temporaryFolder } from "../fixtures/folder.ts";

type Args = { readonly amount_usd: number; readonly note?: string };

const inForce = ({ args }: PolicyInput): Verdict => {
  const { amount_usd: amount } = args as Args;
  if (amount > 1_000) return { verdict: "block", rule: "too_much", reason: "over 1000" };
  return amount > 100
    ? { verdict: "escalate", rule: "large", reason: "over 100" }
    : { verdict: "approve", rule: "small" };
};

function tool(hp: Holdpoint) {
  return hp.gate<Args, unknown>({
    name: "issue_refund",
    policy: inForce as never,
    cost: ({ amount_usd }) => {
      const amount = { currency: "USD", micros: BigInt(amount_usd) * 1_000_000n };
      return [
        { budget: "refunds", amount },
        { budget: "all", amount },
      ];
    },
    run: () => "done",
  });
}

type Refund = ReturnType<typeof tool>;

async function ask(refund: Refund, args: Args): Promise<string> {
  const answer = await refund(args, { requestId: JSON.stringify(args), waitMs: 0 });
  return answer.status === "pending" ? (answer.approval ?? "") : "";
}

/** 50 let through, 300 approved, 400 changed to 350, 500 rejected, 600 waits, 2000 blocked. */
async function history(folder: Folder): Promise<Holdpoint> {
  const hp = folder.open();
  for (const budget of ["refunds", "all"])
    await hp.budgets.limit(budget, { currency: "USD", micros: 10n ** 12n });
  const refund = tool(hp);
  const again = (args: Args) => refund(args, { requestId: JSON.stringify(args), waitMs: 0 });
  await again({ amount_usd: 50 });
  await again({ amount_usd: 2_000 });
  await hp.approvals.approve(await ask(refund, { amount_usd: 300 }), { by: "person:ann" });
  await again({ amount_usd: 300 });
  const edit = { amount_usd: 350 };
  await hp.approvals.approve(await ask(refund, { amount_usd: 400 }), { by: "person:bob", edit });
  await again({ amount_usd: 400 });
  const reason = "not\u202e this one";
  await hp.approvals.reject(await ask(refund, { amount_usd: 500 }), { by: "person:ann", reason });
  await ask(refund, { amount_usd: 600 });
  return hp;
}

const policy = (...rules: NonNullable<PolicyText["rules"]>): PolicyText => ({
  policy: "refunds",
  default: "approve",
  rules,
});
const rule = (id: string, when: string, verdict: "approve" | "block" | "escalate") => ({ id, when, verdict });
const SAME = policy(
  rule("large", "args.amount_usd > 100", "escalate"),
  rule("too_much", "args.amount_usd > 1000", "block"),
);

const withHistory = (title: string, run: (hp: Holdpoint, folder: Folder) => Promise<void>) =>
  test(title, async (context: TestContext) => {
    const folder = temporaryFolder(context);
    await run(await history(folder), folder);
  });

describe("a back-test", () => {
  withHistory("of a policy that says the same finds nothing", async (hp) => {
    const report = await admin(hp).policies.backtest(SAME);
    assert.deepEqual([report.actions, report.compared, report.changed], [6, 6, 0]);
    assert.deepEqual([report.changes, report.dangers], [[], []]);
    assert.deepEqual(report.missing, {
      erased: 0,
      gone: 0,
      unreviewed: 0,
      partHistory: 0,
      beside: 0,
      decisions: 0,
    });
  });

  withHistory("tells first what people rejected or changed and it would let through", async (hp) => {
    const report = await admin(hp).policies.backtest(
      policy(rule("large", "args.amount_usd > 550", "escalate")),
    );
    assert.deepEqual(
      report.dangers.map(({ person, amount: _amount, ...one }) => [
        person?.decision,
        person?.by,
        one.to.verdict,
      ]),
      [
        ["edited", ["person:bob"], "approve"],
        ["rejected", ["person:ann"], "approve"],
      ],
    );
    const rows = report.people.map(({ decision, total, approve, escalate }) => [
      decision,
      total,
      approve,
      escalate,
    ]);
    assert.deepEqual(rows, [
      ["rejected", 1, 1, 0],
      ["edited", 1, 1, 0],
      ["approved", 1, 1, 0],
    ]);
  });

  withHistory("says what it would do to what people had made of an action", async (hp) => {
    const report = await admin(hp).policies.backtest(policy(rule("cap", "args.amount_usd >= 350", "block")));
    const [edited] = report.people.filter(({ decision }) => decision === "edited");
    assert.deepEqual([edited?.block, edited?.editBlocked], [1, 1]);
    const change = report.changes.find(({ person }) => person?.decision === "edited");
    assert.deepEqual([change?.edit?.verdict, change?.edit?.rule], ["block", "cap"]);
  });

  withHistory(
    "does not call dangerous what it would itself revise to what a person made of it",
    async (hp) => {
      const report = await admin(hp).policies.backtest({
        policy: "refunds",
        default: "approve",
        rules: [
          rule(
            "large",
            "args.amount_usd > 100 && args.amount_usd != 400 && args.amount_usd != 350",
            "escalate",
          ),
          { id: "cap", when: "args.amount_usd == 400", verdict: "revise", set: { amount_usd: 350 } },
        ],
      });
      const [edited] = report.people.filter(({ decision }) => decision === "edited");
      assert.deepEqual([edited?.approve, edited?.alike, report.dangers.length], [1, 1, 0]);
      assert.ok(report.transitions.some(({ from, to }) => from === "escalate" && to === "approve, revised"));
    },
  );

  withHistory(
    "counts money once, whatever number of budgets it is on, and says what has no cost",
    async (hp) => {
      const all = await admin(hp).policies.backtest(policy(rule("none", "true", "block")), {
        amount: "amount_usd",
      });
      const row = (from: string) => all.transitions.find((one) => one.from === from);
      assert.deepEqual(row("approve"), {
        from: "approve",
        to: "block",
        count: 1,
        money: [{ currency: "USD", micros: "50000000" }],
        withoutCost: 0,
        amount: { micros: "50000000", count: 1 },
        sums: ["50 USD", "amount_usd 50 in 1 action"],
      });
      const asked = row("escalate");
      assert.deepEqual(asked?.money, [{ currency: "USD", micros: "650000000" }]);
      assert.deepEqual([asked?.count, asked?.withoutCost, asked?.amount.micros], [4, 2, "1800000000"]);
    },
  );

  withHistory("lists no more than it was asked to, and counts the rest", async (hp) => {
    const report = await admin(hp).policies.backtest(policy(), { limit: 1 });
    assert.deepEqual([report.changed, report.changes.length, report.dangers.length], [5, 1, 1]);
    assert.deepEqual(report.leftOff, { changes: 4, dangers: 1 });
  });

  withHistory("leaves out what was proposed before the given time", async (hp) => {
    const report = await admin(hp).policies.backtest(policy(), { since: Date.now() + 60_000 });
    assert.deepEqual([report.actions, report.compared, report.people.length], [0, 0, 0]);
  });

  withHistory("refuses a policy that cannot be used, and options that are none", async (hp) => {
    const bad = policy(rule("large", "args.amount_usd >", "escalate"));
    await assert.rejects(admin(hp).policies.backtest(bad), { code: "policy_invalid" });
    await assert.rejects(admin(hp).policies.backtest(SAME, { since: Number.NaN }), { code: "invalid_input" });
    await assert.rejects(admin(hp).policies.backtest(SAME, { most: 3 } as never), { code: "invalid_input" });
    await assert.rejects(admin(hp).policies.suggest({ min: 0 }), { code: "invalid_input" });
  });
});

/** As an eraser would leave it: neither body nor salt. */
function erase(folder: Folder, erased: string, part = ""): void {
  eraseEntries(join(folder.path, "journal.db"), (type, body) => type === erased && body.includes(part));
}

describe("a back-test over a journal with gaps", () => {
  test("counts actions whose proposal or review was erased, and compares the others", async (context) => {
    const folder = temporaryFolder(context);
    await (await history(folder)).close();
    erase(folder, "action.proposed", '"amount_usd":50}');
    erase(folder, "action.reviewed", "too_much");
    const report = await admin(folder.open({ mode: "existing" })).policies.backtest(SAME);
    assert.deepEqual([report.actions, report.compared, report.changed], [6, 4, 0]);
    assert.equal(report.missing.erased, 2);
  });

  test("takes no answer for the same as an erased revision, not even one that revises nothing", async (context) => {
    const folder = temporaryFolder(context);
    const hp = folder.open({
      policy: policy({
        id: "cap",
        when: "args.amount > 5",
        verdict: "revise",
        set: { amount: 5 },
        reason: "a cap",
      }),
    });
    const pay = hp.gate<{ amount: number }, unknown>({ name: "pay", run: () => null });
    for (const amount of [9, 3]) await pay({ amount }, { requestId: `pay ${amount}` });
    await hp.close();
    erase(folder, "action.revised");
    const { policies } = admin(folder.open({ mode: "existing" }));
    const { compared, changed, transitions } = await policies.backtest(policy());
    assert.deepEqual([compared, changed], [2, 1]);
    assert.deepEqual(
      transitions.map(({ from, to, count }) => [from, to, count]),
      [["approve, revised", "approve", 1]],
    );
  });

  test("counts actions whose large arguments are gone", async (context) => {
    const folder = temporaryFolder(context);
    const hp = folder.open();
    for (const budget of ["refunds", "all"])
      await hp.budgets.limit(budget, { currency: "USD", micros: 10n ** 12n });
    const refund = tool(hp);
    const note = "long ".repeat(20_000);
    await refund({ amount_usd: 5, note }, { requestId: "long" });
    const whole = await admin(hp).policies.backtest(policy(rule("none", "args.amount_usd == 5", "block")));
    assert.deepEqual([whole.compared, whole.changed], [1, 1]);
    await hp.close();
    const db = new DatabaseSync(join(folder.path, "journal.db"));
    db.exec("DELETE FROM hp_artifacts");
    db.close();
    const { missing, compared, actions } = await admin(folder.open({ mode: "existing" })).policies.backtest(
      SAME,
    );
    assert.deepEqual([actions, compared, missing.gone], [1, 0, 1]);
  });

  test("tells actions apart that no policy was asked about", async (context) => {
    const folder = temporaryFolder(context);
    const hp = folder.open();
    await hp.pause({ by: "person:ann", reason: "drill" });
    await tool(hp)({ amount_usd: 5 }, { requestId: "held", waitMs: 0 });
    const { missing, actions } = await admin(hp).policies.backtest(SAME);
    assert.deepEqual([actions, missing.unreviewed], [1, 1]);
  });
});
