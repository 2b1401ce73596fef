// Deciding from a terminal: the program that asks runs in this process, the command line beside it.
import assert from "node:assert/strict";
import { userInfo } from "node:os";
import { describe, test } from "node:test";
import { z } from "zod";
import type { Holdpoint } from "../../src/index.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";
import { errorOf, linesOf, runCli } from "./bench.ts";

const ME = `person:${userInfo().username}`;

type Refund = { user: string; amount: number };

function refundTool(hp: Holdpoint, policy: "plain" | "capped" = "plain") {
  return hp.gate({
    name: "payments.refund",
    input: z.object({ user: z.string(), amount: z.number().max(1_000) }),
    policy: ({ args }) =>
      policy === "capped" && args.amount > 500
        ? { verdict: "block", rule: "cap", reason: "over 500 nobody may" }
        : { verdict: "escalate", rule: "refund-review", reason: "refunds need a person" },
    run: (args: Refund) => ({ paid: args.amount }),
  });
}

/** A question that nobody is running for any more. */
async function leftAlone(hp: Holdpoint, requestId = "r-1", args: Refund = { user: "ann", amount: 120 }) {
  const tool = refundTool(hp);
  const answer = await tool(args, { requestId, waitMs: 0 });
  assert.ok(answer.status === "pending" && answer.approval !== null);
  await hp.close();
  return answer.approval;
}

describe("approve", () => {
  test("lets the waiting program go on, shows what was approved, and says so again when repeated", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    const call = refundTool(hp)({ user: "ann", amount: 120 }, { requestId: "r-1" });
    const id = await pendingApproval(hp);
    const first = await runCli(folder, ["approve", id, "--note", "checked by phone"]);
    assert.equal(first.code, 0, first.err);
    assert.match(first.out, new RegExp(`Approved: ${id} is (approved|consumed) \\(1 of 1 votes\\)`));
    assert.match(first.out, /│ amount: 120\n {2}│ user: "ann"/);
    const answer = await call;
    assert.ok(answer.status === "done");
    assert.deepEqual(answer.receipt.approvedBy, [ME]);
    const second = await runCli(folder, ["approve", id]);
    assert.equal(second.code, 0, second.err);
    assert.match(second.out, /You had approved it before; nothing changed/);
    const { votes } = await hp.approvals.get(id);
    assert.deepEqual(
      votes.map(({ by, note, via }) => ({ by, note, via })),
      [{ by: ME, note: "checked by phone", via: "cli" }],
    );
  });

  test("takes the beginning of an id, also in small letters, and refuses one that several have", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    const tool = refundTool(hp);
    for (const n of [1, 2]) await tool({ user: "ann", amount: n }, { requestId: `r-${n}`, waitMs: 0 });
    const { items } = await hp.approvals.list();
    const [first = "", second = ""] = items.map((item) => item.id);
    const [alike, short, unknown, whole] = await Promise.all([
      runCli(folder, ["approve", first.slice(0, 10)]),
      runCli(folder, ["approve", first.slice(0, 8), "--json"]),
      runCli(folder, ["approve", "apr_ZZZZZZ", "--json"]),
      runCli(folder, ["approve", second.slice(0, -1).toLowerCase(), "--json"]),
    ]);
    assert.equal(alike.code, 3);
    assert.ok(alike.err.includes("ambiguous_id") && alike.err.includes(first) && alike.err.includes(second));
    assert.deepEqual([short.code, errorOf(short)["code"]], [3, "unknown_id"]);
    assert.deepEqual([unknown.code, errorOf(unknown)["code"]], [3, "unknown_id"]);
    assert.equal(whole.code, 0, whole.err);
    const { approval } = JSON.parse(whole.out) as { approval: Record<string, unknown> };
    assert.deepEqual([approval["id"], approval["status"]], [second, "approved"]);
  });

  test("counts votes where several people have to agree", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    const policy = { verdict: "escalate", approvers: { quorum: 2 } } as const;
    const tool = hp.gate({ name: "mail", policy, run: () => "sent" });
    const call = tool({ to: "ann" }, { requestId: "m-1" });
    const id = await pendingApproval(hp);
    const voted = await runCli(folder, ["approve", id]);
    assert.equal(voted.code, 0, voted.err);
    assert.match(voted.out, /has 1 of 2 votes and still waits/);
    const against = await runCli(folder, ["reject", id, "--reason", "no", "--json"]);
    assert.deepEqual([against.code, errorOf(against)["code"]], [1, "decision_conflict"]);
    await hp.approvals.approve(id, { by: "person:second" });
    assert.equal((await call).status, "done");
  });

  test("is refused where what is asked is not what was shown", async (t) => {
    const folder = temporaryFolder(t);
    const id = await leftAlone(folder.open());
    const binding = /binding +([0-9a-f]{64})/.exec((await runCli(folder, ["show", id])).out)?.[1] ?? "";
    const [other, bad, right] = [
      await runCli(folder, ["approve", id, "--binding", "0".repeat(12), "--json"]),
      await runCli(folder, ["approve", id, "--binding", "xyz"]),
      await runCli(folder, ["approve", id, "--binding", binding.slice(0, 12)]),
    ];
    assert.deepEqual([other.code, errorOf(other)["code"]], [1, "decision_conflict"]);
    assert.equal(bad.code, 2);
    assert.equal(right.code, 0, right.err);
  });

  test("of somebody the approval does not name is refused", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    const policy = { verdict: "escalate", approvers: { from: ["person:the-boss"] } } as const;
    await hp.gate({ name: "fire", policy, run: () => 1 })({}, { requestId: "f-1", waitMs: 0 });
    const ran = await runCli(folder, ["approve", await pendingApproval(hp), "--json"]);
    assert.deepEqual([ran.code, errorOf(ran)["code"]], [1, "not_eligible"]);
  });
});

describe("approve --edit", () => {
  test("is reviewed by the running program, which performs the edited arguments", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    const call = refundTool(hp, "capped")({ user: "ann", amount: 120 }, { requestId: "r-1" });
    const id = await pendingApproval(hp);
    const blocked = await runCli(folder, ["approve", id, "--edit", '{"amount": 600}']);
    assert.equal(blocked.code, 1);
    assert.match(blocked.err, /refused by the rule "cap": over 500 nobody may/);
    assert.match(blocked.err, /\[edit_refused\]/);
    const accepted = await runCli(folder, ["approve", id, "--edit", '{"amount": 50}']);
    assert.equal(accepted.code, 0, accepted.err);
    assert.match(accepted.out, /is (modified|consumed) \(1 of 1 votes\)/);
    assert.match(accepted.out, /│ amount: 50\n/);
    const answer = await call;
    assert.ok(answer.status === "done");
    assert.deepEqual(answer.result, { paid: 50 });
    assert.equal(answer.receipt.executedFrom, "human_revised");
    const { out } = await runCli(folder, ["show", id]);
    const [first = "", then = ""] = out.split("What policy says of it as people changed it\n");
    assert.match(first, /Why it was asked at first\n +rule +refund-review\n/);
    assert.match(then, /verdict +escalate\n +rule +refund-review\n/);
  });

  test("that does not fit the schema is refused at once, and bad JSON too, with its place", async (t) => {
    const folder = temporaryFolder(t);
    const id = await leftAlone(folder.open());
    const [misfit, broken, twice, list, reserved] = await Promise.all([
      runCli(folder, ["approve", id, "--edit", '{"amount": "lots"}', "--json"]),
      runCli(folder, ["approve", id, "--edit", '{"amount": 1,}']),
      runCli(folder, ["approve", id, "--edit", '{"amount": 1, "amount": 2}']),
      runCli(folder, ["approve", id, "--edit", "[1]"]),
      runCli(folder, ["approve", id, "--edit", '{"__proto__": 1}']),
    ]);
    assert.deepEqual([misfit.code, errorOf(misfit)["code"]], [1, "invalid_args"]);
    assert.equal(broken.code, 2);
    assert.match(broken.err, /line 1, column 14.*\n.*\n.*\[invalid_json\]/);
    assert.match(twice.err, /second time/);
    assert.deepEqual([twice.code, list.code, reserved.code], [2, 2, 2]);
    const hp = folder.open();
    assert.equal((await hp.approvals.get(id)).edit, null);
  });

  test("without a running program is recorded, and performed when the program runs again", async (t) => {
    const folder = temporaryFolder(t);
    const id = await leftAlone(folder.open());
    const edit = ["approve", id, "--edit", '{"amount": 7}'];
    const recorded = await runCli(folder, edit);
    assert.equal(recorded.code, 0, recorded.err);
    assert.match(recorded.out, /will be reviewed when the program that has the tool runs again/);
    const shown = await runCli(folder, ["show", id]);
    assert.match(shown.out, /An edit waits for review\n {2}by +person:.*\n {2}│ amount: 7/);
    const plain = await runCli(folder, ["approve", id, "--json"]);
    assert.deepEqual([plain.code, errorOf(plain)["code"]], [1, "decision_conflict"]);
    const again = folder.open();
    const answer = await refundTool(again)({ user: "ann", amount: 120 }, { requestId: "r-1" });
    assert.ok(answer.status === "done");
    assert.deepEqual(answer.result, { paid: 7 });
  });
});

describe("saying no", () => {
  test("a rejection reaches the program with its reason; a second decision is a conflict", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    const call = refundTool(hp)({ user: "ann", amount: 120 }, { requestId: "r-1" });
    const id = await pendingApproval(hp);
    const rejected = await runCli(folder, ["reject", id, "--reason", "not her account"]);
    assert.equal(rejected.code, 0, rejected.err);
    assert.match(rejected.out, /It is rejected: apr_\w+, payments\.refund, asked by agent:tester/);
    const answer = await call;
    assert.ok("code" in answer);
    assert.deepEqual([answer.code, answer.by, answer.reason], ["rejected", ME, "not her account"]);
    const [approved, same, revoked, cancelled] = await Promise.all([
      runCli(folder, ["approve", id, "--json"]),
      runCli(folder, ["reject", id, "--reason", "again"]),
      runCli(folder, ["revoke", id, "--reason", "x", "--json"]),
      runCli(folder, ["cancel", id, "--reason", "x", "--json"]),
    ]);
    assert.deepEqual([approved.code, errorOf(approved)["code"]], [1, "decision_conflict"]);
    assert.match(same.out, /You had rejected it before/);
    assert.deepEqual([revoked.code, errorOf(revoked)["code"]], [1, "wrong_state"]);
    assert.deepEqual([cancelled.code, errorOf(cancelled)["code"]], [1, "wrong_state"]);
  });

  test("an approval is revoked before it is used, a question cancelled before it is decided", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    const tool = refundTool(hp);
    for (const n of [1, 2]) await tool({ user: "ann", amount: n }, { requestId: `r-${n}`, waitMs: 0 });
    const { items } = await hp.approvals.list();
    const [used = "", dropped = ""] = items.map((item) => item.id);
    await hp.approvals.approve(used, { by: ME });
    const [revoked, cancelled] = await Promise.all([
      runCli(folder, ["revoke", used, "--reason", "changed my mind"]),
      runCli(folder, ["cancel", dropped, "--reason", "no longer wanted", "--json"]),
    ]);
    assert.equal(revoked.code, 0, revoked.err);
    assert.match(revoked.out, /^Revoked: apr_/);
    assert.equal(cancelled.code, 0, cancelled.err);
    assert.equal(JSON.parse(cancelled.out).approval.status, "cancelled");
    const answers = await Promise.all(
      [1, 2].map((n) => tool({ user: "ann", amount: n }, { requestId: `r-${n}` })),
    );
    assert.deepEqual(
      answers.map((answer) => "code" in answer && answer.code),
      ["revoked", "cancelled"],
    );
  });
});

describe("the kill switch", () => {
  test("stops one agent or everybody, says who stopped, and warns of a name nobody has", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    const tool = hp.gate({ name: "note", policy: "approve", run: () => "done" });
    await tool({ n: 0 }, { requestId: "n-0" });
    const typo = await runCli(folder, ["pause", "--agent", "testre", "--reason", "drill"]);
    assert.match(typo.err, /no recent action is by agent:testre\. Seen lately: agent:tester/);
    const stopped = await runCli(folder, ["pause", "--agent", "agent:tester", "--reason", "drill"]);
    assert.equal(stopped.code, 0, stopped.err);
    assert.match(stopped.out, /^Paused: agent:tester starts nothing new/);
    const held = await tool({ n: 1 }, { requestId: "n-1" });
    assert.ok("code" in held);
    assert.equal(held.code, "stopped");
    const again = await runCli(folder, ["pause", "--agent", "tester", "--reason", "twice"]);
    assert.match(again.out, new RegExp(`Nothing changed: it is paused by ${ME}, .*: drill`));
    const shown = await runCli(folder, ["show", "n-1"]);
    assert.match(shown.out, /Held back\n {2}stopped +kill switch \(agent:tester\)/);
    const released = await runCli(folder, ["resume", "--agent", "tester", "--reason", "over", "--json"]);
    assert.deepEqual(JSON.parse(released.out), {
      paused: false,
      changed: true,
      agent: "tester",
      workflow: null,
    });
    assert.equal((await tool({ n: 1 }, { requestId: "n-1" })).status, "done");
    await runCli(folder, ["pause", "--reason", "everybody"]);
    const welcome = await runCli(folder, ["welcome"]);
    assert.ok(linesOf(welcome.out).some((line) => line.includes("The kill switch is on: paused by")));
    assert.match((await runCli(folder, ["resume", "--reason", "on we go"])).out, /^Resumed: every agent/);
  });
});
