// holdpoint policy backtest and suggest, on a store with a history.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { parse } from "yaml";
import { momentSince } from "../../src/cli/policy/commands.ts";
import { compilePolicy } from "../../src/policy/rules/compile.ts";
import { fillHistory } from "../backtest/fill.ts";
import { type Folder, temporaryFolder } from "../fixtures/folder.ts";
import { errorOf, runCli } from "./bench.ts";

const cleanups: (() => Promise<void>)[] = [];
const folder: Folder = temporaryFolder({ after: (work) => void cleanups.push(work as () => Promise<void>) });

before(async () => {
  process.env["HOLDPOINT_KEY_FILE"] = folder.keyFile;
  await fillHistory(folder.path, 400);
  const hp = folder.open({ agent: "support", mode: "existing" });
  const ask = hp.gate({ name: "wire", policy: { verdict: "escalate", rule: "r\u001b[2J" }, run: () => null });
  const answer = await ask({ euro: 5 }, { requestId: "hostile", waitMs: 0 });
  const approval = answer.status === "pending" ? (answer.approval ?? "") : "";
  await hp.approvals.reject(approval, { by: "person:ann", reason: "no\u202e\u001b[31m never" });
  await hp.close();
});
after(async () => {
  for (const work of cleanups) await work();
});

function policy(name: string, text: string): string {
  const file = join(dirname(folder.path), name);
  writeFileSync(file, text);
  return file;
}

const cli = (...args: readonly string[]) => runCli(folder, ["policy", ...args]);
const LAX = "policy: lax\ndefault: approve\n";
const SAME = `policy: same
default: approve
rules:
  - { id: too_much, tool: issue_refund, when: args.amount_usd > 1000, verdict: block }
  - { id: large, tool: issue_refund, when: args.amount_usd > 400, verdict: escalate }
  - { id: wire, tool: wire, verdict: escalate }
`;

describe("policy backtest", () => {
  test("begins with what people rejected and the policy would let through", async () => {
    const { code, out, err } = await cli("backtest", policy("lax.yaml", LAX), "--amount", "args.amount_usd");
    assert.deepEqual([code, err], [0, ""]);
    const [first = "", second = ""] = out.split("! ").slice(1);
    assert.match(
      first,
      /^People rejected (\d+); this policy would let \1 of them through without\s+asking\./,
    );
    assert.match(second, /^People changed \d+;/);
    assert.match(out, /\d+ {2}block → approve {2}\(amount_usd \d+ in \d+\s+actions; none\s+started/);
    assert.match(out, /approved \d+: it would let \d+ through, ask about 0, block 0/);
  });

  test("shows nobody's text as it came", async () => {
    const { out } = await cli("backtest", policy("lax.yaml", LAX), "--limit", "1000");
    assert.ok(!out.includes("\u001b") && !out.includes("\u202e"));
    assert.match(out, /no\\u202e\\u001b\[31m never/);
    assert.match(out, /\[r\\u001b\[2J\]/);
  });

  test("fails where more than the chosen number would change, and only then", async () => {
    const [same, lax] = [policy("same.yaml", SAME), policy("lax.yaml", LAX)];
    const report = JSON.parse((await cli("backtest", same, "--json", "--fail-over", "0")).out);
    assert.deepEqual([report.changed, report.actions, report.compared], [0, 401, 401]);
    const most = (file: string, count: string) => cli("backtest", file, "--fail-over", count);
    const ran = await Promise.all([most(same, "0"), most(lax, "0"), most(lax, "400")]);
    assert.deepEqual(
      ran.map(({ code }) => code),
      [0, 1, 0],
    );
  });

  test("sees the history of workflows as it stood: a total over it changes verdicts", async () => {
    const text = `${SAME}  - { id: in_all, tool: issue_refund, when: totals.refunded + args.amount_usd > 150, verdict: block }
totals:
  refunded: { tool: issue_refund, sum: args.amount_usd }
`;
    const report = JSON.parse(
      (await cli("backtest", policy("t.yaml", text), "--json", "--limit", "500")).out,
    );
    const blocked = report.changes.filter(
      (one: { workflow: string | null; to: { rule: string } }) =>
        one.workflow !== null && one.to.rule === "in_all",
    );
    assert.ok(blocked.length > 0);
    assert.ok(blocked.length < 40, "the first calls of each still fit");
  });

  test("takes a time, and refuses what is none", async () => {
    const lax = policy("lax.yaml", LAX);
    const report = JSON.parse((await cli("backtest", lax, "--since", "2020-01-01", "--json")).out);
    assert.equal(report.actions, 401);
    const none = JSON.parse((await cli("backtest", lax, "--since", "2999-01-01", "--json")).out);
    assert.deepEqual([none.actions, none.changed], [0, 0]);
    const bad = await cli("backtest", lax, "--since", "yesterday", "--json");
    assert.deepEqual([bad.code, errorOf(bad)["code"]], [2, "usage"]);
    assert.equal((await cli("backtest", lax, "--limit", "many")).code, 2);
  });

  test("refuses to sum up what no recorded action has, and says what there is", async () => {
    const lax = policy("lax.yaml", LAX);
    const bad = await cli("backtest", lax, "--amount", "args.amont_usd");
    assert.deepEqual([bad.code, bad.out], [2, ""]);
    assert.match(bad.err, /a number "amont_usd" among its arguments\. Did you mean amount_usd\?/);
    assert.match(bad.err, /There are: amount_usd, euro, user_id\. \[invalid_input\]/);
    const empty = await cli("backtest", lax, "--amount", "nope", "--since", "2999-01-01");
    assert.equal(empty.code, 0, "where nothing is compared nothing can be said of it");
  });

  test("of a policy that cannot be used says why, by line", async () => {
    const bad = await cli(
      "backtest",
      policy("bad.yaml", `${LAX}rules:\n  - { id: a, when: "args.x >", verdict: block }\n`),
    );
    assert.equal(bad.code, 1);
    assert.match(bad.err, /bad\.yaml:4:\d+ /);
  });
});

describe("policy suggest", () => {
  test("prints a rule and a grant that people's decisions support, with what they would have let through", async () => {
    const folded = await cli("suggest");
    assert.match(
      folded.out,
      /^issue_refund by agent:support with amount_usd up to \d+, any reason and any user_id: approved (\d+) of \1, never changed$/m,
    );
    assert.doesNotMatch(folded.out, /args\./, "the expression is folded away");
    assert.match(folded.out, /^--full prints each as a standing grant and as a rule/m);
    const { code, out, err } = await cli("suggest", "--full");
    assert.deepEqual([code, err], [0, ""]);
    assert.match(
      out,
      /holdpoint grants give --tool issue_refund --agent agent:support --when 'args\.amount_usd >= \d+ && args\.amount_usd <= \d+ && args\.all\(name, name in \["amount_usd", "reason", "user_id"\]\)' --uses \d+ --total '\d+ USD' --amount args\.amount_usd --for 7d --reason '/,
    );
    const rule = out.split("\n").slice(out.split("\n").findIndex((line) => line.includes("- id: suggested")));
    const pasted = parse(rule.slice(0, 5).join("\n"));
    const made = compilePolicy({ policy: "p", default: "block", rules: pasted }, null);
    assert.equal(made.ok, true);
  });

  test("suggests nothing that would let through what people rejected or changed", async () => {
    const { suggestions } = JSON.parse((await cli("suggest", "--json")).out);
    assert.equal(suggestions.length, 1);
    const [{ conditions, letThrough, approved, open }] = suggestions;
    const [least, most] = conditions;
    assert.ok(least.kind === "least" && least.value === 0);
    assert.ok(most.kind === "most" && most.value > 400 && most.value <= 800);
    assert.deepEqual(open, ["reason", "user_id"]);
    assert.deepEqual([letThrough.total, letThrough.undecided], [approved, 0]);
    const few = JSON.parse((await cli("suggest", "--min", "100000", "--json")).out);
    assert.deepEqual(few.suggestions, []);
  });
});

test("--since takes spans, days and times", () => {
  const now = Date.UTC(2026, 4, 8);
  assert.equal(momentSince("7d", now), now - 7 * 86_400_000);
  assert.equal(momentSince("2w", now), now - 14 * 86_400_000);
  assert.equal(momentSince("30m", now), now - 1_800_000);
  assert.equal(momentSince("2026-05-04", now), Date.UTC(2026, 4, 4));
  assert.equal(momentSince("2026-05-04T10:00:00Z", now), Date.UTC(2026, 4, 4, 10));
  for (const bad of ["", "7", "d7", "2026-02-30", "7d ago"]) assert.equal(momentSince(bad, now), undefined);
});
