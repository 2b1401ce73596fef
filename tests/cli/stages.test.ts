// Stages, deadlines and more time, as the command line shows and takes them.
import assert from "node:assert/strict";
import { userInfo } from "node:os";
import { describe, test } from "node:test";
import type { Holdpoint, Verdict } from "../../src/index.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { errorOf, linesOf, runCli } from "./bench.ts";

const ME = `person:${userInfo().username}`;
const HOUR = 3_600_000;

async function asks(hp: Holdpoint, verdict: Omit<Extract<Verdict, { verdict: "escalate" }>, "verdict">) {
  const pay = hp.gate({ name: "pay", policy: { verdict: "escalate", ...verdict }, run: () => "paid" });
  const answer = await pay({ amount: 5 }, { requestId: "r-1", waitMs: 0 });
  assert.ok(answer.status === "pending" && answer.approval !== null);
  return answer.approval;
}

const STAGES = {
  stages: [{ from: [ME] }, { from: ["person:cfo", "person:ceo"], quorum: 2, veto: false }],
  decideWithinMs: 2 * HOUR,
  onTimeout: "escalate",
} as const;

describe("an approval with stages", () => {
  test("shows which one is asked, who is, and what happens at the deadline", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    const id = await asks(hp, STAGES);
    const first = await runCli(folder, ["show", id]);
    assert.match(first.out, /stage {7}1 of 2\n {2}needs {7}1 of: person:/);
    assert.match(first.out, /→ 1\. asked now: 1 of: person:/);
    assert.match(
      first.out,
      /2\. asked later: 2 of: person:cfo, person:ceo; one rejection\s+alone does not end it/,
    );
    assert.match(first.out, /then {8}stage 2 is asked instead: 2 of: person:cfo, person:ceo/);
    const voted = await runCli(folder, ["approve", id]);
    assert.equal(voted.code, 0, voted.err);
    assert.match(voted.out, /has 0 of 2 votes in stage 2 of 2 and still waits/);
    const second = await runCli(folder, ["show", id]);
    assert.ok(second.out.includes(`1. met by ${ME}`), second.out);
    assert.match(second.out, /→ 2\. asked now/);
    assert.match(second.out, /vote {8}person:\S+ approve in stage 1,/);
    assert.match(second.out, /then {8}it expires/);
    const [row = ""] = linesOf((await runCli(folder, ["approvals"])).out);
    assert.deepEqual(row.split("\t").slice(-2), ["2/2", "pay: amount 5"]);
    const [item] = linesOf((await runCli(folder, ["approvals", "--json"])).out).map((line) =>
      JSON.parse(line),
    );
    const { stage, stages, from, atDeadline, votes } = item;
    assert.deepEqual(
      { stage, stages, from, atDeadline, votes },
      { stage: 2, stages: 2, from: ["person:cfo", "person:ceo"], atDeadline: "expire", votes: 0 },
    );
  });

  test("refuses whoever is not asked now, and says in which stage they are", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    const id = await asks(hp, { stages: [{ from: ["person:cfo"] }, { from: [ME] }] });
    const early = await runCli(folder, ["approve", id, "--json"]);
    assert.equal(early.code, 1);
    assert.equal(errorOf(early)["code"], "not_eligible");
    assert.match(errorOf(early)["what"] ?? "", /is asked in stage 2; now it is stage 1/);
  });
});

describe("extend", () => {
  test("moves the deadline, by a length or to a time, and the card says who did", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    const id = await asks(hp, { decideWithinMs: HOUR });
    const before = (await hp.approvals.get(id)).decideBy ?? 0;
    const longer = await runCli(folder, ["extend", id, "1h30min"]);
    assert.equal(longer.code, 0, longer.err);
    assert.ok(
      longer.out.includes(`Extended: ${id}, pay. Decide by ${new Date(before + 1.5 * HOUR).toISOString()}`),
    );
    const day = new Date(before + 24 * HOUR).toISOString();
    const until = await runCli(folder, ["extend", id, day, "--json"]);
    assert.equal(until.code, 0, until.err);
    const { approval } = JSON.parse(until.out);
    assert.equal(approval.decideBy, before + 24 * HOUR);
    assert.equal(approval.asked.decideBy, before);
    const card = await runCli(folder, ["show", id]);
    assert.ok(card.out.includes(`by ${ME}, `), card.out);
    assert.ok(card.out.includes(`to ${day}`), card.out);
    assert.equal(
      (await hp.approvals.approve(id, { by: "person:ann", binding: approval.binding })).status,
      "approved",
    );
  });

  for (const [what, duration, code, exit] of [
    ["what is no time", "tomorrow", "usage", 2],
    ["no time at all", "0s", "usage", 2],
    ["a time that it has", "2020-01-01T00:00:00Z", "wrong_state", 1],
  ] as const)
    test(`refuses ${what}`, async (t) => {
      const folder = temporaryFolder(t);
      const hp = folder.open();
      const id = await asks(hp, { decideWithinMs: HOUR });
      const refused = await runCli(folder, ["extend", id, duration, "--json"]);
      assert.equal(refused.code, exit);
      assert.equal(errorOf(refused)["code"], code);
    });

  test("refuses somebody who may not decide it, and records that", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    const id = await asks(hp, { approvers: { from: ["person:cfo"] }, decideWithinMs: HOUR });
    const refused = await runCli(folder, ["extend", id, "1h", "--json"]);
    assert.equal(refused.code, 1);
    assert.equal(errorOf(refused)["code"], "not_eligible");
    assert.ok((await hp.journal.read(id)).some(({ type }) => type === "approval.extend_refused"));
  });
});
