// holdpoint policy: check, explain, test, list and show.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { digestOf } from "../../src/kernel/canonical-json.ts";
import { wallClock } from "../../src/kernel/clock.ts";
import type { Json } from "../../src/kernel/json.ts";
import { decideWith } from "../../src/kernel/transaction.ts";
import { adoptPolicy } from "../../src/policy/rules/adopt.ts";
import { pooledRandom } from "../../src/runtime/runtime.ts";
import { openSqliteStore } from "../../src/stores/sqlite/open.ts";
import { FOLDS, PROJECTIONS } from "../../src/streams.ts";

import { type Folder, temporaryFolder } from "../fixtures/folder.ts";
import { errorOf, linesOf, runCli } from "./bench.ts";

const POLICY = `policy: refunds
default: block
totals:
  refunded: { tool: issue_refund, sum: args.amount_usd }
risk:
  conditions:
    - { id: big, tool: issue_refund, when: args.amount_usd > 500, weight: 40 }
rules:
  - id: has_reason
    tool: issue_refund
    when: "!has(args.reason)"
    verdict: revise
    set: { reason: not said }
  - { id: small, tool: issue_refund, when: args.amount_usd <= 100, verdict: approve }
  - { id: large, tool: issue_refund, when: args.amount_usd > 100, verdict: escalate, reason: people look }
  - { id: in_all, tool: issue_refund, when: totals.refunded + args.amount_usd > 1000, verdict: block }
  - { id: mails, tool: "mail.*", verdict: approve }
`;
const SCHEMA = {
  type: "object",
  properties: { amount_usd: { type: "number" }, reason: { type: "string" } },
  required: ["amount_usd"],
};
const TOOLS = JSON.stringify([
  { name: "issue_refund", effect: "once", schema: SCHEMA },
  { name: "mail.send", schema: null },
]);

type Desk = Folder & { write(name: string, text: string): string };

function desk(context: TestContext): Desk {
  const folder = temporaryFolder(context);
  const root = dirname(folder.path);
  return {
    ...folder,
    write(name, text) {
      const file = join(root, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    },
  };
}

async function adopt(folder: Folder, name: string, document: Json): Promise<void> {
  const store = await openSqliteStore({
    folder: folder.path,
    folds: FOLDS,
    projections: PROJECTIONS as never,
    clock: wallClock,
    random: pooledRandom(),
    mode: "read-write",
  });
  const command = { name, digest: digestOf(document), document, by: "person:ann", source: "refunds.yaml" };
  await store.transact(
    "default",
    {},
    decideWith((draft) => adoptPolicy(draft, command)),
  );
  await store.close();
}

describe("policy check", () => {
  test("says what is wrong, by line and column, and exits with 1", async (context) => {
    const place = desk(context);
    const file = place.write("p.yaml", POLICY.replace("args.amount_usd <= 100", "args.amont_usd <= 100"));
    const { code, out } = await runCli(place, [
      "policy",
      "check",
      file,
      "--tools",
      place.write("t.json", TOOLS),
    ]);
    assert.equal(code, 1);
    const [first = ""] = linesOf(out);
    assert.ok(first.startsWith(`${file}:14:`), first);
    assert.match(first, /args has no field amont_usd \(did you mean amount_usd\?\)/);
    assert.match(out, /Not usable: 1 fault, /);
  });

  test("is content with a policy that fits its tools, and says what it could not check", async (context) => {
    const place = desk(context);
    const [file, tools] = [place.write("p.yaml", POLICY), place.write("t.json", TOOLS)];
    const ran = await runCli(place, ["policy", "check", file, "--tools", tools]);
    assert.deepEqual([ran.code, ran.err], [0, ""]);
    assert.match(ran.out, /^Fine: refunds [0-9a-f]{12}, /m);
    const json = JSON.parse((await runCli(place, ["policy", "check", file, "--json"])).out);
    assert.deepEqual([json.ok, json.from, json.unchecked], [true, "nowhere", ["issue_refund"]]);
  });

  test("knows the tools that a program declares", async (context) => {
    const place = desk(context);
    const file = place.write(
      "p.yaml",
      POLICY.replace("issue_refund, when: args.amount_usd <=", "issue_refnd, when: args.amount_usd <="),
    );
    const program = place.write(
      "tools.mjs",
      `export default (hp) => { for (const name of ["issue_refund", "mail.send"]) hp.gate({ name, run: () => null }); };\n`,
    );
    const { code, out } = await runCli(place, ["policy", "check", file, "--tools", program]);
    assert.equal(code, 1);
    assert.match(out, /:14:\d+ {2}there is no tool issue_refnd \(did you mean issue_refund\?\)/);
    assert.match(out, /Arguments not checked, for want of a schema: issue_refund\./);
  });

  test("uses the schemas that the journal kept, and does not mind tools that it has not met", async (context) => {
    const place = desk(context);
    const { z } = await import("zod");
    const hp = place.open();
    const refund = hp.gate({
      name: "issue_refund",
      input: z.object({ amount_usd: z.number(), reason: z.string().optional() }),
      run: () => null,
    });
    await refund({ amount_usd: 5 }, { requestId: "r", waitMs: 0 });
    await hp.close();
    const good = await runCli(place, ["policy", "check", place.write("p.yaml", POLICY)]);
    assert.deepEqual([good.code, good.err], [0, ""]);
    const bad = place.write("bad.yaml", POLICY.replace("args.amount_usd > 500", "args.amount_eur > 500"));
    const { code, out } = await runCli(place, ["policy", "check", bad]);
    assert.equal(code, 1);
    assert.match(out, /bad\.yaml:7:\d+ {2}args has no field amount_eur/);
    assert.match(out, /Checked against the tools that the journal knows/);
  });

  test("makes hostile text in a file visible", async (context) => {
    const place = desk(context);
    const file = place.write("p.yaml", 'policy: p\n"a\\e[2Jb\\u202e": 1\n');
    const { code, out } = await runCli(place, ["policy", "check", file]);
    assert.equal(code, 1);
    assert.ok(!out.includes("\u001b") && !out.includes("\u202e"));
    assert.match(out, /\\u001b\[2Jb\\u202e/);
  });

  test("of a file that is not there is a failure with a next step", async (context) => {
    const ran = await runCli(desk(context), ["policy", "check", "nowhere.yaml", "--json"]);
    assert.deepEqual([ran.code, errorOf(ran)["code"]], [1, "file_error"]);
  });
});

describe("policy explain", () => {
  const action = (args: object, more: object = {}) => JSON.stringify({ tool: "issue_refund", args, ...more });

  test("shows every rule, what it looked at, the totals, the risk and the verdict after revisions", async (context) => {
    const place = desk(context);
    const policy = place.write("p.yaml", POLICY);
    const history = [{ tool: "issue_refund", args: { amount_usd: 300 } }];
    const file = place.write("a.json", action({ amount_usd: 600 }, { history }));
    const { code, out, err } = await runCli(place, ["policy", "explain", file, "--policy", policy]);
    assert.deepEqual([code, err], [0, ""]);
    assert.match(out, /✓ has_reason: revise: matches/);
    assert.match(
      out,
      /· small: approve: does not match\n.*when args\.amount_usd <= 100\n.*args\.amount_usd = 600/,
    );
    assert.match(out, /- mails: approve: speaks of other tools/);
    assert.match(out, /totals\.refunded = 300/);
    assert.match(out, /risk +40, medium/);
    assert.match(out, /Rules, round 2, on what was revised/);
    assert.match(out, /escalate +\[large\] people look/);
  });

  test("is told as JSON too, with the review", async (context) => {
    const place = desk(context);
    const policy = place.write("p.yaml", POLICY);
    const file = place.write("a.json", action({ amount_usd: "x" }));
    const { out } = await runCli(place, ["policy", "explain", file, "--policy", policy, "--json"]);
    const { rounds, review } = JSON.parse(out);
    assert.equal(review.verdict, "block");
    const [rule] = rounds[0].rules.filter((one: { id: string }) => one.id === "small");
    assert.equal(rule.outcome, "cannot be answered");
  });

  test("of an action in the journal is asked with what its policy was told, under the policy put in force since", async (context) => {
    const place = desk(context);
    const hp = place.open();
    const refund = hp.gate({ name: "issue_refund", policy: "approve", run: () => null });
    const flow = hp.workflow("orders", async (ctx, _: object) => {
      for (const amount_usd of [900, 90, 20]) await ctx.call(refund, { amount_usd, reason: "x" });
    });
    await flow.run({});
    const { items } = await hp.actions.list({ phase: "applied", order: "oldest" });
    await hp.close();
    const { parse } = await import("yaml");
    await adopt(place, "refunds", parse(POLICY));
    const { code, out, err } = await runCli(place, [
      "policy",
      "explain",
      items[2]?.id ?? "",
      "--now",
      "--json",
    ]);
    assert.deepEqual([code, err], [0, ""]);
    const told = JSON.parse(out);
    assert.deepEqual(
      [told.review.verdict, told.review.rule, told.recorded.verdict],
      ["block", "in_all", "approve"],
    );
    assert.deepEqual(told.input.history.length, 2);
    assert.deepEqual(told.rounds[0].totals, [{ name: "totals.refunded", value: 990, error: null }]);
  });

  test("without a policy in force asks for a file", async (context) => {
    const place = desk(context);
    await place.open().approvals.list();
    const file = place.write("a.json", action({}));
    const ran = await runCli(place, ["policy", "explain", file]);
    assert.equal(ran.code, 2);
    assert.match(ran.err, /No policy document is in force.*\n.*\n.*--policy <file>/);
    const odd = place.write("odd.json", '{"tool":"x","arg":{}}');
    assert.match(
      (await runCli(place, ["policy", "explain", odd])).err,
      /arg is not a key here \(did you mean args\?\)/,
    );
  });
});

const CASES = `cases:
  - name: a small one runs
    when: { tool: issue_refund, args: { amount_usd: 5, reason: x } }
    then: { verdict: approve, rule: small }
  - name: too much in all is blocked
    given: { history: [{ tool: issue_refund, args: { amount_usd: 950 } }] }
    when: { tool: issue_refund, args: { amount_usd: 80, reason: x } }
    then: { verdict: block, rule: in_all }
`;

describe("policy test", () => {
  test("runs the cases beside policies, in this folder and below", async (context) => {
    const place = desk(context);
    place.write("policies/refunds.yaml", POLICY);
    place.write("policies/refunds.test.yaml", CASES);
    place.write("other.test.yaml", "nothing: of ours\n");
    const { code, out, err } = await runCli(place, ["policy", "test"], { cwd: dirname(place.path) });
    assert.deepEqual([code, err], [0, ""]);
    assert.match(out, /^ok {6}policies\/refunds\.test\.yaml:2 {2}a small one runs$/m);
    assert.match(out, /^2 cases, 0 failed$/m);
  });

  test("says what differs, and exits with 1", async (context) => {
    const place = desk(context);
    const policy = place.write("refunds.yaml", POLICY.replace("> 1000", "> 5000"));
    place.write("refunds.test.yaml", CASES);
    const { code, out } = await runCli(place, ["policy", "test", policy]);
    assert.equal(code, 1);
    assert.match(
      out,
      /failed .*:5 {2}too much in all is blocked\n.*the verdict is approve, and should be block/,
    );
    assert.match(out, /^2 cases, 1 failed$/m);
    const lines = linesOf((await runCli(place, ["policy", "test", policy, "--json"])).out);
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).ok),
      [true, false],
    );
  });

  test("without cases, or with some that cannot be read, says what to do", async (context) => {
    const place = desk(context);
    const policy = place.write("refunds.yaml", POLICY);
    const none = await runCli(place, ["policy", "test", policy]);
    assert.equal(none.code, 2);
    assert.match(none.err, /There are no cases beside/);
    place.write("refunds.test.yaml", CASES.replace("verdict: approve", "verdit: approve"));
    const bad = await runCli(place, ["policy", "test", policy]);
    assert.equal(bad.code, 1);
    assert.match(bad.err, /refunds\.test\.yaml:4:\d+ /);
  });
});

describe("policy list and show", () => {
  test("show what was in force, since when and by whom, and the document", async (context) => {
    const place = desk(context);
    await place.open().approvals.list();
    const first = { policy: "refunds", default: "block" };
    const second = { policy: "refunds", default: "approve", description: "a\u202eb" };
    await adopt(place, "refunds", first);
    await adopt(place, "refunds", second);
    const rows = linesOf((await runCli(place, ["policy", "list"])).out).map((line) => line.split("\t"));
    assert.deepEqual(
      rows.map(([name, digest, , until, by, , ...rest]) => [name, digest, until === "-", by, ...rest]),
      [
        ["refunds", digestOf(first), false, "person:ann", "unused", "-"],
        ["refunds", digestOf(second), true, "person:ann", "unused", "-"],
      ],
    );
    const shown = await runCli(place, ["policy", "show", "refunds"]);
    assert.match(shown.out, /default: approve/);
    assert.doesNotMatch(shown.out, /\u202e/);
    const old = await runCli(place, ["policy", "show", digestOf(first).slice(0, 8), "--json"]);
    assert.deepEqual(JSON.parse(old.out).document, first);
    const none = await runCli(place, ["policy", "show", "invoices"]);
    assert.equal(none.code, 3);
  });

  test("say that there is none", async (context) => {
    const place = desk(context);
    await place.open().approvals.list();
    const { code, out, err } = await runCli(place, ["policy", "list"]);
    assert.deepEqual([code, out], [0, ""]);
    assert.match(err, /No policy document was ever in force here/);
  });
});
