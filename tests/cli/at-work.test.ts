// Several approvals at once, and decisions in somebody's place, on the command line.
import assert from "node:assert/strict";
import { userInfo } from "node:os";
import { describe, test } from "node:test";
import type { Holdpoint } from "../../src/index.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { errorOf, linesOf, runCli } from "./bench.ts";

const ME = `person:${userInfo().username}`;

async function waits(hp: Holdpoint, name: string, count: number): Promise<readonly string[]> {
  const tool = hp.gate({ name, run: (_: { readonly n: number }) => 1 });
  const answers = await Promise.all(
    Array.from({ length: count }, (_, n) => tool({ n }, { requestId: `${name}-${n}`, waitMs: 0 })),
  );
  return answers.map((one) => (one.status === "pending" ? String(one.approval) : ""));
}

describe("approve, of several", () => {
  test("shows every card, and decides nothing unless the count is typed", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    const ids = await waits(hp, "pay", 2);
    const bare = await runCli(folder, ["approve", ...ids]);
    assert.equal(bare.code, 2);
    for (const id of ids) assert.ok(bare.out.includes(`Approval ${id}`), bare.out);
    assert.match(bare.err, /These are 2 approvals.*--confirm 2/s);
    const other = await runCli(folder, ["approve", ...ids, "--confirm", "3"]);
    assert.equal(other.code, 2);
    assert.match(other.err, /There are 2, not 3/);
    assert.equal(await hp.approvals.count(), 2);
    const done = await runCli(folder, ["approve", ...ids, "--confirm", "2", "--note", "both"]);
    assert.equal(done.code, 0, done.err);
    for (const id of ids) assert.match(done.out, new RegExp(`${id} {2}approved`));
    assert.equal((await hp.approvals.get(String(ids[0]))).votes[0]?.note, "both");
  });

  test("takes everything that waits for a tool, and nothing of another", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    const [pays, mails] = [await waits(hp, "pay", 3), await waits(hp, "mail", 1)];
    const done = await runCli(folder, ["approve", "--all-of", "pay", "--confirm", "3", "--json"]);
    assert.equal(done.code, 0, done.err);
    const { answers } = JSON.parse(done.out);
    assert.deepEqual(answers.map(({ id }: { id: string }) => id).toSorted(), [...pays].toSorted());
    assert.equal((await hp.approvals.get(String(mails[0]))).status, "pending");
    const none = await runCli(folder, ["approve", "--all-of", "pay", "--confirm", "1", "--json"]);
    assert.equal(none.code, 3);
    assert.equal(errorOf(none)["code"], "unknown_id");
  });

  test("says of each what became of it; one that is refused stops no other, and the exit code says so", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    const ids = await waits(hp, "pay", 2);
    await hp.approvals.reject(String(ids[0]), { by: "person:other", reason: "no" });
    const done = await runCli(folder, ["approve", ...ids, "--confirm", "2"]);
    assert.equal(done.code, 1);
    const last = linesOf(done.out).slice(-2).join("\n");
    assert.match(last, new RegExp(`${ids[0]} {2}refused: .*rejected already`));
    assert.match(last, new RegExp(`${ids[1]} {2}approved`));
  });

  test("is not for edits, bindings, ids beside --all-of, or nothing at all", async (t) => {
    const folder = temporaryFolder(t);
    const ids = await waits(folder.open(), "pay", 2);
    for (const args of [
      [...ids, "--edit", "{}"],
      [...ids, "--binding", "0123456789"],
      [String(ids[0]), "--all-of", "pay"],
      [],
    ])
      assert.equal((await runCli(folder, ["approve", ...args])).code, 2, args.join(" "));
  });
});

describe("comment", () => {
  test("asks for more, and the card shows what was asked and answered", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    const [id = ""] = await waits(hp, "pay", 1);
    const asked = await runCli(folder, ["comment", id, "why \u001b[31mtoday?"]);
    assert.equal(asked.code, 0, asked.err);
    assert.match(asked.out, new RegExp(`It is kept with ${id}, and agent:tester can read it`));
    await hp.approvals.comment(id, { by: "agent:tester", text: "the shop closes at six" });
    const card = await runCli(folder, ["show", id]);
    assert.match(card.out, /What was asked and answered/);
    assert.match(card.out, new RegExp(`wrote {7}${ME}, .*\\n {2}│ why \\\\u001b\\[31mtoday`));
    assert.match(card.out, /agent wrote agent:tester, /);
    assert.match(card.out, /│ the shop closes at six/);
    assert.equal((await hp.approvals.get(id)).comments[0]?.via, "cli");
    await hp.approvals.reject(id, { by: "person:other", reason: "no" });
    const late = await runCli(folder, ["comment", id, "why?", "--json"]);
    assert.equal(late.code, 1);
    assert.equal(errorOf(late)["code"], "wrong_state");
  });
});

test("a comment's category is shown on the card, and one that does not exist is refused before anything is written", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  const [id = ""] = await waits(hp, "pay", 1);
  const comment = (category: string) => runCli(folder, ["comment", id, "why today?", "--category", category]);
  const asked = await comment("concern");
  assert.equal(asked.code, 0, asked.err);
  assert.match((await runCli(folder, ["show", id])).out, new RegExp(`wrote {7}${ME} \\(concern\\), `));
  const wrong = await comment("urgent");
  assert.notEqual(wrong.code, 0);
  assert.match(wrong.err, /A category is one of question, answer, concern, note/);
  assert.deepEqual(
    (await hp.approvals.get(id)).comments.map(({ category }) => category),
    ["concern"],
  );
  await hp.approvals.reject(id, { by: "person:other", reason: "no" });
});

describe("approvals --mine", () => {
  test("lists what one may decide, and has not", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    const [mine = ""] = await waits(hp, "pay", 1);
    const policy = { verdict: "escalate", approvers: { from: ["person:cfo"] } } as const;
    await hp.gate({ name: "wire", policy, run: () => 1 })({}, { requestId: "w", waitMs: 0 });
    const all = await runCli(folder, ["approvals"]);
    assert.equal(linesOf(all.out).length, 2);
    const own = await runCli(folder, ["approvals", "--mine"]);
    assert.deepEqual(
      linesOf(own.out).map((line) => line.split("\t")[0]),
      [mine],
    );
    assert.equal((await runCli(folder, ["approve", mine])).code, 0);
    const none = await runCli(folder, ["approvals", "--mine"]);
    assert.deepEqual([none.code, none.out], [0, ""]);
    assert.match(none.err, /Nothing waits for your decision/);
    for (const flags of [["--all"], ["--status", "rejected"], ["--watch"]])
      assert.equal((await runCli(folder, ["approvals", "--mine", ...flags])).code, 2, flags.join(" "));
  });
});

test("approvals --order deadline lists what runs out soonest first, and last what never does", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  const minute = 60_000;
  for (const [name, within] of [
    ["later", 60 * minute],
    ["never", null],
    ["soon", 5 * minute],
  ] as const) {
    const policy = { verdict: "escalate", ...(within === null ? {} : { decideWithinMs: within }) } as const;
    await hp.gate({ name, policy, run: () => 1 })({}, { requestId: name, waitMs: 0 });
  }
  const list = async (...flags: readonly string[]) => {
    const { code, out } = await runCli(folder, ["approvals", ...flags]);
    return [code, ...linesOf(out).map((line) => line.split("\t")[5])];
  };
  assert.deepEqual(await list(), [0, "later", "never", "soon"]);
  assert.deepEqual(await list("--order", "newest"), [0, "soon", "never", "later"]);
  assert.deepEqual(await list("--order", "deadline"), [0, "soon", "later", "never"]);
  assert.deepEqual(await list("--order", "deadline", "--mine", "--limit", "2"), [0, "soon", "later"]);
  assert.deepEqual(await list("--order", "decided", "--status", "decided"), [0]);
  for (const flags of [
    ["--order", "odd"],
    ["--order", "deadline", "--all"],
    ["--order", "decided"],
    ["--order", "newest", "--watch"],
  ])
    assert.deepEqual(await list(...flags), [2], flags.join(" "));
});

describe("delegate and take-back", () => {
  test("have somebody else decide, show it on the card, and can be undone", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    const policy = { verdict: "escalate", approvers: { from: [ME, "person:cfo"] } } as const;
    const answer = await hp.gate({ name: "pay", policy, run: () => 1 })({}, { requestId: "r", waitMs: 0 });
    assert.ok(answer.status === "pending" && answer.approval !== null);
    const id = answer.approval;
    const handed = await runCli(folder, ["delegate", id, "bob", "--reason", "on leave"]);
    assert.equal(handed.code, 0, handed.err);
    assert.match(handed.out, /person:bob decides apr_\w+ in your place: pay/);
    const card = await runCli(folder, ["show", id]);
    assert.match(card.out, /decides {5}person:bob in the place of person:.*on leave/s);
    const refused = await runCli(folder, ["approve", id, "--json"]);
    assert.equal(errorOf(refused)["code"], "not_eligible");
    const back = await runCli(folder, ["take-back", id, "--reason", "back"]);
    assert.equal(back.code, 0, back.err);
    assert.equal((await runCli(folder, ["approve", id])).code, 0);
    const late = await runCli(folder, ["take-back", id, "--reason", "back", "--json"]);
    assert.equal(errorOf(late)["code"], "wrong_state");
  });
});
