/** Suggestions and back-tests out of a real journal: what people took back or changed is never what they approved. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { admin } from "../../src/admin.ts";
import { conditionHolds } from "../../src/grants/rules.ts";
import type { Holdpoint } from "../../src/index.ts";
import type { Verdict } from "../../src/policy/rules/verdict.ts";
import { runCli } from "../cli/bench.ts";
import { temporaryFolder } from "../fixtures/folder.ts";

type Pay = { readonly amount: number };

/** Two people for large amounts, one for the others. */
const rule = ({ args }: { args: Pay }): Verdict => ({
  verdict: "escalate",
  rule: args.amount > 500 ? "large" : "small",
  approvers: { quorum: args.amount > 500 ? 2 : 1 },
});

function till(context: TestContext, policy: (call: { args: Pay }) => Verdict = rule) {
  const folder = temporaryFolder(context);
  const hp = folder.open();
  const pay = hp.gate<Pay, unknown>({ name: "pay", policy: policy as never, run: () => null });
  const ask = async (amount: number): Promise<string> => {
    const answer = await pay({ amount }, { requestId: `pay ${amount}`, waitMs: 0 });
    return answer.status === "pending" ? (answer.approval ?? "") : "";
  };
  const by = (amount: number) => ({ by: amount % 2 === 0 ? "person:ann" : "person:bob" });
  return { hp, ask, by, folder };
}

const TIMES = [0, 1, 2, 3, 4, 5];

async function covers(hp: Holdpoint, amount: number): Promise<boolean> {
  const { suggestions } = await admin(hp).policies.suggest({ min: 3 });
  return suggestions.some(({ when }) => conditionHolds(when, { amount }));
}

test("a grant is not offered for what several people are asked about", async (context) => {
  const { hp, ask } = till(context);
  for (const n of TIMES)
    for (const by of ["person:ann", "person:bob"]) await hp.approvals.approve(await ask(600 + n), { by });
  const staged = till(context, () => ({ verdict: "escalate", stages: [{}, {}], rule: "staged" }));
  for (const n of TIMES)
    for (const by of ["person:ann", "person:bob"])
      await staged.hp.approvals.approve(await staged.ask(600 + n), { by });
  for (const { policies } of [hp, staged.hp].map(admin)) {
    const { suggestions } = await policies.suggest({ min: 3 });
    assert.partialDeepStrictEqual(suggestions[0]?.letThrough, { total: 6, ofSeveral: 6, weekly: 0 });
  }
  const { out } = await runCli(staged.folder, ["policy", "suggest", "--min", "3", "--full"]);
  assert.match(out, /No grant answers these: they ask several people/);
  assert.ok(!out.includes("grants give"));
});

test("a number that is no amount is kept as people approved it, and the sentence says so", async (context) => {
  const folder = temporaryFolder(context);
  const hp = folder.open();
  type Purge = { readonly keep_days: number; readonly port: number; readonly price: number };
  const purge = hp.gate<Purge, unknown>({ name: "purge", policy: "escalate", run: () => null });
  for (const n of TIMES) {
    const args = { keep_days: 30 + n, port: 443, price: 2 + n };
    const answer = await purge(args, { requestId: `${n}`, waitMs: 0 });
    const id = answer.status === "pending" ? (answer.approval ?? "") : "";
    await hp.approvals.approve(id, { by: n % 2 === 0 ? "person:ann" : "person:bob" });
  }
  const { suggestions } = await admin(hp).policies.suggest({ min: 3 });
  const [{ headline = "", when = "" } = {}] = suggestions;
  assert.match(headline, / with keep_days from 30 to 35, port 443 and price up to 7: approved 6 of 6/);
  const holds = (change: Partial<Purge>) =>
    conditionHolds(when, { keep_days: 30, port: 443, price: 2, ...change });
  assert.deepEqual([holds({}), holds({ price: 1 })], [true, true]);
  assert.deepEqual([holds({ keep_days: 0 }), holds({ port: 22 })], [false, false]);
});

test("an approval that was taken back is not one to build on", async (context) => {
  const { hp, ask, by } = till(context);
  for (const n of TIMES) {
    const id = await ask(100 + n);
    await hp.approvals.approve(id, by(n));
    await hp.approvals.revoke(id, { ...by(n), reason: "that was a mistake" });
  }
  assert.equal(await covers(hp, 103), false);
});

test("what a person lowered, so that another rule asked again, was changed", async (context) => {
  const { hp, ask, by } = till(context);
  for (const n of TIMES) {
    await hp.approvals.approve(await ask(900 + n), { ...by(n), edit: { amount: 100 + n } });
    await ask(900 + n);
    const { items } = await hp.approvals.list();
    assert.equal(items.length, 1, "one question is left");
    await hp.approvals.approve(items[0]?.id ?? "", by(n));
  }
  assert.equal(await covers(hp, 103), true);
  assert.equal(await covers(hp, 903), false);
});

test("a question counts for what it was about when it was decided", async (context) => {
  let most = 1_000;
  const capped = (call: { args: Pay }): Verdict =>
    call.args.amount > most ? { verdict: "revise", set: { amount: most }, reason: "a cap" } : rule(call);
  const { hp, ask, by } = till(context, capped);
  for (const n of TIMES) await hp.approvals.approve(await ask(40 + 4 * n), by(n));
  assert.equal(await covers(hp, 50), true);
  for (const n of TIMES) {
    most = 1_000;
    const id = await ask(400 + n);
    await hp.approvals.approve(id, by(n));
    // It is not what was approved any more: it is asked about again, and then it is 50.
    most = 50;
    const again = await ask(400 + n);
    assert.notEqual(again, id);
    await hp.approvals.reject(again, { ...by(n), reason: "nothing at all" });
  }
  assert.equal(await covers(hp, 50), false);
});

test("a back-test lists what was taken back, or lowered, and would be let through now", async (context) => {
  const { hp, ask, by } = till(context);
  const taken = await ask(100);
  await hp.approvals.approve(taken, by(0));
  await hp.approvals.revoke(taken, { ...by(0), reason: "that was a mistake" });
  await hp.approvals.approve(await ask(900), { ...by(0), edit: { amount: 50 } });
  await ask(900);
  const [again] = (await hp.approvals.list()).items;
  await hp.approvals.approve(again?.id ?? "", by(1));
  await hp.approvals.approve(await ask(60), by(0));
  const { dangers, people } = await admin(hp).policies.backtest({ policy: "lax", default: "approve" });
  assert.deepEqual(
    dangers.map(({ person }) => [person?.decision, person?.by[0]]),
    [
      ["rejected", "person:ann"],
      ["edited", "person:bob"],
    ],
  );
  assert.deepEqual(
    people.map(({ decision, total, approve }) => [decision, total, approve]),
    [
      ["rejected", 1, 1],
      ["edited", 1, 1],
      ["approved", 1, 1],
    ],
  );
});
