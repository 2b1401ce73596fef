// holdpoint policy check, explain, test and backtest of a policy that is a module in TypeScript.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { admin } from "../../src/admin.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { errorOf, runCli } from "./bench.ts";

const LIBRARY = pathToFileURL(resolve(import.meta.dirname, "../../src/index.ts")).href;
const POLICY = `import { definePolicy, type Facts } from ${JSON.stringify(LIBRARY)};

const isLarge = ({ args }: Facts): boolean => (args as { amount: number }).amount > 100;

export default definePolicy({
  policy: "refunds",
  default: "approve",
  rules: [
    { id: "large", tool: "refund", when: isLarge, verdict: "escalate" },
    { id: "huge", tool: "refund", when: "args.amount > 1000", verdict: "block", reason: "too much" },
  ],
});
`;
const CASES = `cases:
  - name: a large one is asked about
    when: { tool: refund, args: { amount: 200 } }
    then: { verdict: escalate, rule: large }
  - name: a huge one is blocked
    when: { tool: refund, args: { amount: 2000 } }
    then: { verdict: block, rule: huge }
`;

function desk(context: TestContext) {
  const folder = temporaryFolder(context);
  const write = (name: string, text: string): string => {
    const file = join(dirname(folder.path), name);
    writeFileSync(file, text);
    return file;
  };
  return { folder, write };
}

describe("a policy in TypeScript", () => {
  test("is checked, and what is wrong with it is named by its place", async (context) => {
    const { folder, write } = desk(context);
    const fine = await runCli(folder, ["policy", "check", write("refunds.ts", POLICY)]);
    assert.equal(fine.code, 0, fine.out + fine.err);
    assert.match(fine.out, /Fine: refunds [0-9a-f]{12}/);
    const broken = write("broken.ts", POLICY.replace("args.amount > 1000", "args.amount >"));
    const wrong = await runCli(folder, ["policy", "check", broken]);
    assert.equal(wrong.code, 1);
    assert.match(wrong.out, /broken\.ts:1:1 {2}rules\.1\.when: the expression ends/);
    const misspelt = write("misspelt.ts", POLICY.replace('default: "approve"', 'defualt: "approve"'));
    assert.match((await runCli(folder, ["policy", "check", misspelt])).out, /did you mean default/);
  });

  test("is tested by the cases beside it, functions too, and not by a file of the same name", async (context) => {
    const { folder, write } = desk(context);
    const file = write("refunds.ts", POLICY);
    write("refunds.test.yaml", CASES);
    const alone = await runCli(folder, ["policy", "test", join(dirname(file), "refunds.test.yaml")]);
    assert.equal(alone.code, 0, alone.out + alone.err);
    assert.match(alone.out, /2 cases, 0 failed/);
    const yaml = write("refunds.yaml", "policy: refunds\ndefault: approve\n");
    const named = await runCli(folder, ["policy", "test", file]);
    assert.match(named.out, /2 cases, 0 failed/);
    const other = await runCli(folder, ["policy", "test", yaml]);
    assert.match(other.out, /2 cases, 2 failed/);
  });

  test("explains an action, a function's rule among its rules", async (context) => {
    const { folder, write } = desk(context);
    const action = write("action.json", '{ "tool": "refund", "args": { "amount": 200 } }');
    const file = write("refunds.ts", POLICY);
    const { code, out, err } = await runCli(folder, [
      "policy",
      "explain",
      action,
      "--policy",
      file,
      "--json",
    ]);
    assert.equal(code, 0, err);
    const { review, rounds } = JSON.parse(out);
    assert.deepEqual([review.verdict, review.rule], ["escalate", "large"]);
    assert.deepEqual(
      rounds[0].rules.map(({ id, outcome }: { id: string; outcome: string }) => [id, outcome]),
      [
        ["large", "matches"],
        ["huge", "does not match"],
      ],
    );
  });

  test("is back-tested with its functions", async (context) => {
    const { folder, write } = desk(context);
    const hp = folder.open({ policy: { policy: "refunds", default: "approve" } });
    const refund = hp.gate({ name: "refund", run: (_: { amount: number }) => "done" });
    for (const amount of [50, 200, 2000]) await refund({ amount }, { requestId: `r-${amount}` });
    await hp.close();
    const file = write("refunds.ts", POLICY);
    const { code, out, err } = await runCli(folder, ["policy", "backtest", file, "--json"]);
    assert.equal(code, 0, err);
    const { changed, transitions } = JSON.parse(out);
    assert.equal(changed, 2);
    assert.deepEqual(transitions.map(({ to }: { to: string }) => to).toSorted(), ["block", "escalate"]);
  });

  test("that is none is refused in words: no default export, no policy, a program that fails", async (context) => {
    const { folder, write } = desk(context);
    const wrong = [
      ["export const policy = {};", /has no default export/],
      ["export default [];", /is no policy, but a list/],
      ["export default () => ({});", /is no policy, but a function/],
      ["export default { rules: [] };", /an object without the name of a policy/],
      ["throw new Error('no luck');", /cannot be loaded: no luck/],
    ] as const;
    for (const [index, [text, words]] of wrong.entries()) {
      const file = write(`wrong${index}.ts`, text);
      const ran = await runCli(folder, ["policy", "check", file, "--json"]);
      assert.notEqual(ran.code, 0);
      assert.match(errorOf(ran)["what"] ?? "", words);
      assert.notEqual(errorOf(ran)["next"] ?? "", "");
    }
    const none = await runCli(folder, ["policy", "check", "nowhere.ts", "--json"]);
    assert.match(errorOf(none)["what"] ?? "", /There is no file nowhere\.ts/);
  });
});

describe("a quorum that the people of the store cannot meet", () => {
  const asking = (terms: string) =>
    `policy: p\ndefault: block\nrules:\n  - { id: ask, tool: pay, verdict: escalate, ${terms} }\n`;
  const TWO = "approvers: { from: group:finance, quorum: 2 }";

  test("is a fault of the check, and is none where there is no store to know them", async (context) => {
    const { folder, write } = desk(context);
    const file = write("p.yaml", asking(TWO));
    const storeless = await runCli(folder, ["policy", "check", file]);
    assert.equal(storeless.code, 0, storeless.out);
    const hp = folder.open();
    const member = { groups: ["finance"], by: "person:root" } as const;
    await admin(hp).people.add({ person: "person:ann", name: "Ann", ...member });
    const check = async (text: string) =>
      (await runCli(folder, ["policy", "check", write("q.yaml", text)])).out;
    assert.match(
      await check(asking(TWO)),
      /the quorum can never be met: 2 people are asked for and 1 of those named may vote/,
    );
    assert.match(await check(asking("approvers: { from: role:admin }")), /role:admin has no members/);
    assert.match(
      await check(asking("stages: [{ from: group:finance }, { from: [group:finance, person:ann] }]")),
      /the stages together need more people than they name/,
    );
    assert.match(await check(asking("stages: [{ from: group:finance }, { from: person:bob }]")), /Fine/);
    await admin(hp).people.add({ person: "person:bob", name: "Bob", ...member });
    assert.match(await check(asking(TWO)), /Fine/);
    await admin(hp).people.suspend("person:bob", { by: "person:root", reason: "left" });
    assert.match(await check(asking(TWO)), /person:bob may not decide this/);
    await hp.close();
  });
});
