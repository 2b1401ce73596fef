/** A suggested rule does what it says when it is pasted: what a risk or code asked about is still asked about. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { parse } from "yaml";
import { z } from "zod";
import { admin } from "../../src/admin.ts";
import type { PolicyText } from "../../src/policy/rules/document.ts";
import { runCli } from "../cli/bench.ts";
import { type Folder, temporaryFolder } from "../fixtures/folder.ts";

const TIMES = [0, 1, 2, 3, 4, 5];

/** Six payments, approved by two people in turn. */
async function habit(context: TestContext, policy: PolicyText | undefined, own: object = {}) {
  const folder = temporaryFolder(context);
  const hp = folder.open(policy === undefined ? {} : { policy });
  const pay = hp.gate<{ amount: number }, unknown>({ name: "pay", ...own, run: () => null });
  const other = hp.gate<{ to: string }, unknown>({ name: "mail", ...own, run: () => null });
  for (const n of TIMES) {
    const answer = await pay({ amount: 10 + n }, { requestId: `pay ${n}`, waitMs: 0 });
    const id = answer.status === "pending" ? (answer.approval ?? "") : "";
    await hp.approvals.approve(id, { by: n % 2 === 0 ? "person:ann" : "person:bob" });
  }
  if (policy !== undefined) await other({ to: "ann" }, { requestId: "mail", waitMs: 0 });
  const { suggestions } = await admin(hp).policies.suggest({ min: 3 });
  assert.equal(suggestions.length, 1);
  return { hp, folder, suggestion: suggestions[0] };
}

const out = async (folder: Folder) =>
  (await runCli(folder, ["policy", "suggest", "--min", "3", "--full"])).out.replaceAll(/[ \t]+/g, " ");

type Rule = NonNullable<PolicyText["rules"]>[number];

const and = (when: Rule["when"], more: string): string =>
  typeof when === "string" ? `(${when}) && ${more}` : more;

/** As the comments say, to the letter. */
function narrowedBy(printed: string, rule: Rule): readonly Rule[] {
  const own = new RegExp(`# in the rule ${rule.id}: .* into brackets, and add && (.*)$`, "m").exec(
    printed,
  )?.[1];
  if (own === undefined) return [rule];
  const one = { ...rule, when: and(rule.when, own) };
  const copied = new RegExp(
    `# after it, once more the rule ${rule.id} as it was, with id: (\\w+) tool: '(\\w+)' and the same with && (.*)$`,
    "m",
  ).exec(printed);
  if (copied === null) return [one];
  const [, id = "", tool = "", more = ""] = copied;
  return [one, { ...rule, id, tool, when: and(rule.when, more) }];
}

/** What is printed, pasted: the rule at the end, the rules that asked narrowed. */
function pasted(policy: PolicyText, printed: string): PolicyText {
  const lines = printed.split("\n");
  const from = lines.findIndex((line) => line.includes("- id: suggested"));
  const rule = lines.slice(from, from + 5).map((line) => line.replace(/^ /, ""));
  const text = rule.map((line, index) => (index === 0 ? line : `  ${line.trim()}`)).join("\n");
  const rules = (policy.rules ?? []).flatMap((one) => narrowedBy(printed, one));
  return { ...policy, rules: [...rules, ...(parse(text) as typeof rules)] };
}

describe("a suggested rule", () => {
  const BY_RULE: PolicyText = {
    policy: "house",
    default: "block",
    rules: [
      { id: "ask", verdict: "escalate" },
      { id: "mails", tool: "mail", verdict: "approve" },
    ],
  };

  test("lets through what a rule asked about, once that is narrowed as it says, and nothing else", async (context) => {
    const { hp, folder, suggestion } = await habit(context, BY_RULE);
    assert.deepEqual(suggestion?.asRule.stillAskedBy, []);
    const printed = await out(folder);
    assert.match(printed, /As a rule, with the rules that asked narrowed\.\n/);
    const report = await admin(hp).policies.backtest(pasted(BY_RULE, printed));
    assert.deepEqual(
      report.transitions.map(({ from, to, count }) => [from, to, count]),
      [["escalate", "approve", 6]],
      "another tool, without such arguments, is asked about as before",
    );
    await hp.close();
  });

  test("lets through what the default asked about, with nothing to narrow", async (context) => {
    const policy: PolicyText = { policy: "house", default: "escalate" };
    const { hp, folder, suggestion } = await habit(context, policy);
    assert.deepEqual(suggestion?.asRule.stillAskedBy, []);
    const printed = await out(folder);
    assert.doesNotMatch(printed, /# in the rule/);
    assert.equal((await admin(hp).policies.backtest(pasted(policy, printed))).changed, 6);
    await hp.close();
  });

  test("says that a route of the risk still asks", async (context) => {
    const policy: PolicyText = {
      policy: "house",
      default: "escalate",
      risk: {
        conditions: [{ id: "much", tool: "pay", when: "args.amount > 12", weight: 60 }],
        routes: { high: "escalate" },
      },
    };
    const { hp, folder, suggestion } = await habit(context, policy);
    assert.deepEqual(suggestion?.asRule.stillAskedBy, ["risk:high"]);
    const printed = await out(folder);
    assert.match(printed, /People are still asked by risk:high: no approve rule outranks/);
    assert.equal((await admin(hp).policies.backtest(pasted(policy, printed))).changed, 3);
    await hp.close();
  });

  test("says that code still asks, alone or beside a document", async (context) => {
    const alone = await habit(context, undefined, { policy: { verdict: "escalate", rule: "mine" } });
    assert.partialDeepStrictEqual(alone.suggestion?.asRule, { narrowings: [], stillAskedBy: ["mine"] });
    assert.match(await out(alone.folder), /still asked by mine: .* code of the program/);
    await alone.hp.close();
    const beside = await habit(context, BY_RULE, { policy: { verdict: "escalate", rule: "mine" } });
    assert.deepEqual(beside.suggestion?.asRule.stillAskedBy, ["mine"]);
    await beside.hp.close();
  });
});

test("a suggested rule has an id that no rule of the document has", async (context) => {
  const { hp, suggestion } = await habit(context, {
    policy: "house",
    default: "block",
    rules: [
      { id: "suggested_pay_tester", tool: "pay", when: "args.amount < 5", verdict: "approve" },
      { id: "ask", verdict: "escalate" },
    ],
  });
  assert.equal(suggestion?.asRule.rule.id, "suggested_pay_tester_2");
  await hp.close();
});

test("two suggestions have two ids, and both can be pasted", async (context) => {
  const folder = temporaryFolder(context);
  const hp = folder.open({ policy: { policy: "house", default: "escalate" } });
  for (const name of ["pay.out", "pay_out"]) {
    const pay = hp.gate<{ amount: number }, unknown>({ name, run: () => null });
    for (const n of TIMES) {
      const answer = await pay({ amount: n }, { requestId: `${name} ${n}`, waitMs: 0 });
      const id = answer.status === "pending" ? (answer.approval ?? "") : "";
      await hp.approvals.approve(id, { by: n % 2 === 0 ? "person:ann" : "person:bob" });
    }
  }
  const { suggestions } = await admin(hp).policies.suggest({ min: 3 });
  const ids = suggestions.map(({ asRule }) => asRule.rule.id);
  assert.equal(ids.length, 2);
  assert.equal(new Set(ids).size, ids.length);
  await hp.close();
  const file = join(folder.path, "house.yaml");
  const rules = suggestions.map(
    ({ asRule: { rule } }) =>
      `  - { id: ${rule.id}, tool: ${rule.tool}, when: '${rule.when}', verdict: approve }`,
  );
  writeFileSync(file, ["policy: house", "default: escalate", "rules:", ...rules, ""].join("\n"));
  const checked = await runCli(folder, ["policy", "check", file]);
  assert.equal(checked.code, 0, checked.out);
});

describe("a suggested rule, pasted where tools have schemas", () => {
  const SEVERAL: PolicyText = {
    policy: "house",
    default: "block",
    rules: [
      {
        id: "ask",
        tool: ["pay", "mail"],
        when: 'agent != "agent:boss"',
        verdict: "escalate",
        reason: "ours",
      },
    ],
  };

  /** Six payments with a memo, which they need not have, and a mail. */
  async function suggested(context: TestContext) {
    const folder = temporaryFolder(context);
    const hp = folder.open({ policy: SEVERAL });
    const input = z.object({ amount: z.number(), memo: z.string().optional() });
    const pay = hp.gate({ name: "pay", input, run: () => null });
    const mail = hp.gate({ name: "mail", input: z.object({ to: z.string() }), run: () => null });
    await mail({ to: "ann" }, { requestId: "mail", waitMs: 0 });
    for (const n of TIMES) {
      const answer = await pay({ amount: 10 + n, memo: "rent" }, { requestId: `pay ${n}`, waitMs: 0 });
      const id = answer.status === "pending" ? (answer.approval ?? "") : "";
      await hp.approvals.approve(id, { by: n % 2 === 0 ? "person:ann" : "person:bob" });
    }
    const { suggestions } = await admin(hp).policies.suggest({ min: 3 });
    await pay({ amount: 12 }, { requestId: "no memo", waitMs: 0 });
    return { hp, folder, suggestion: suggestions[0], printed: await out(folder) };
  }

  test("is usable where the rule that asked speaks of several tools, and lets through what it said", async (context) => {
    const { hp, folder, suggestion, printed } = await suggested(context);
    assert.partialDeepStrictEqual(suggestion?.asRule, {
      narrowings: [{ rule: "ask", copy: "ask_pay" }],
      stillAskedBy: [],
    });
    const policy = pasted(SEVERAL, printed);
    assert.equal(policy.rules?.length, 3);
    const file = join(folder.path, "..", "house.json");
    writeFileSync(file, JSON.stringify(policy));
    const checked = await runCli(folder, ["policy", "check", file]);
    assert.equal(checked.code, 0, checked.out);
    assert.match(checked.out, /Fine: house [0-9a-f]{12}, 0 warnings/);
    await hp.close();
  });

  test("asks for an argument that a call need not have before it looks at it", async (context) => {
    const { hp, suggestion, printed } = await suggested(context);
    assert.match(suggestion?.when ?? "", /has\(args\.memo\) && args\.memo == "rent"/);
    assert.doesNotMatch(suggestion?.when ?? "", /has\(args\.amount\)/);
    const report = await admin(hp).policies.backtest(pasted(SEVERAL, printed));
    assert.deepEqual(
      report.transitions.map(({ from, to, count }) => [from, to, count]),
      [["escalate", "approve", 6]],
      "the mail, and a payment without a memo, are asked about as before",
    );
    await hp.close();
  });
});
