/** The library as a program uses it, on its own file. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { admin } from "../../src/admin.ts";
import { type Holdpoint, NotApplied, secret } from "../../src/index.ts";
import { verifyReceipt } from "../../src/journal/receipt-jws.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";

const ann = { by: "person:ann" };
const usd = (micros: bigint) => ({ currency: "USD", micros });
const VERIFIER = join(import.meta.dirname, "../../verifier/verify.mjs");

async function exported(hp: Holdpoint): Promise<string> {
  const lines: string[] = [];
  for await (const line of hp.journal.export()) lines.push(line.endsWith("\n") ? line : `${line}\n`);
  return lines.join("");
}

test("hello world: a tool is gated, a person approves, it runs once and leaves a receipt", async (t) => {
  const hp = temporaryFolder(t).open();
  const greet = hp.gate({ name: "greet", run: (args: { who: string }) => `Hello, ${args.who}` });
  const call = greet({ who: "Ann" }, { requestId: "greet-ann", rationale: "she asked" });
  const id = await pendingApproval(hp);
  assert.partialDeepStrictEqual(await hp.approvals.get(id), {
    tool: "greet",
    args: { who: "Ann" },
    rationale: "she asked",
    status: "pending",
  });
  await hp.approvals.approve(id, { ...ann, note: "go" });
  const answer = await call;
  assert.ok(answer.status === "done");
  assert.equal(answer.result, "Hello, Ann");
  assert.partialDeepStrictEqual(answer.receipt, {
    status: "applied",
    approvedBy: ["person:ann"],
    humanApproved: true,
    executedFrom: "original",
  });
});

test("execute(): the effect happens once, and a replay returns the original receipt, in another life too", async (t) => {
  const folder = temporaryFolder(t);
  let runs = 0;
  const run = (payload: { amount: number }) => ({ paid: payload.amount, run: ++runs });
  const execution = { requestId: "pay-1", action: "pay", payload: { amount: 5 }, run };
  const first = folder.open();
  const original = await first.execute(execution);
  assert.deepEqual(await first.execute(execution), original);
  await first.close();
  assert.deepEqual(await folder.open().execute(execution), original);
  assert.equal(runs, 1);
});

test("execute() without a function runs the registered tool of that name", async (t) => {
  const hp = temporaryFolder(t).open();
  hp.gate({ name: "double", policy: "approve", run: (args: { n: number }) => args.n * 2 });
  const answer = await hp.execute({ requestId: "d", action: "double", payload: { n: 4 } });
  assert.partialDeepStrictEqual(answer, { status: "done", result: 8 });
});

test("duplicates by several actors at once give one effect and one answer", async (t) => {
  const folder = temporaryFolder(t);
  let runs = 0;
  const actors = [folder.open(), folder.open(), folder.open()].map((hp) =>
    hp.gate({ name: "pay", policy: "approve", run: async () => ++runs }),
  );
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, index) => actors[index % 3]?.({ order: "A" }, { requestId: "once" })),
  );
  assert.equal(runs, 1);
  for (const answer of answers) assert.deepEqual(answer, answers[0]);
});

test("waiting survives closing: the call is taken up again by another life under the same request id", async (t) => {
  const folder = temporaryFolder(t);
  let runs = 0;
  const gated = (hp: Holdpoint) => hp.gate({ name: "deploy", policy: "escalate", run: () => ++runs });
  const first = folder.open();
  const waiting = gated(first)({ to: "production" }, { requestId: "deploy-7" });
  const id = await pendingApproval(first);
  const ended = assert.rejects(waiting, { code: "closed" });
  await first.close();
  await ended;
  const desk = folder.open({ agent: "desk" });
  await desk.approvals.approve(id, ann);
  const second = folder.open();
  const answer = await gated(second)({ to: "production" }, { requestId: "deploy-7" });
  assert.partialDeepStrictEqual(answer, { status: "done", result: 1, receipt: { approval: id } });
});

test("waitMs 0 answers pending at once, and the approval goes on", async (t) => {
  const hp = temporaryFolder(t).open();
  const tool = hp.gate({ name: "t", run: () => 1 });
  const answer = await tool({}, { requestId: "p", waitMs: 0 });
  assert.partialDeepStrictEqual(answer, { status: "pending", code: "pending", retry: true });
  const id = answer.status === "pending" ? (answer.approval ?? "") : "";
  await hp.approvals.approve(id, ann);
  assert.equal((await tool({}, { requestId: "p" })).status, "done");
});

test("an approver's edit runs in place of what was proposed, and the receipt says so", async (t) => {
  const hp = temporaryFolder(t).open();
  const input = z.object({ order: z.string(), amount: z.number().max(1000) });
  const refund = hp.gate({ name: "refund", input, run: (args) => args.amount });
  const call = refund({ order: "A", amount: 900 }, { requestId: "r" });
  const id = await pendingApproval(hp);
  await assert.rejects(hp.approvals.approve(id, { ...ann, edit: { amount: 5000 } }), {
    code: "edit_refused",
  });
  await hp.approvals.approve(id, { ...ann, edit: { amount: 800 } });
  assert.partialDeepStrictEqual(await call, {
    status: "done",
    result: 800,
    receipt: { executedFrom: "human_revised" },
  });
  const types = (await hp.journal.read(id)).map(({ type }) => type);
  for (const type of [
    "action.proposed",
    "approval.edit_refused",
    "action.revised",
    "approval.modified",
    "effect.applied",
  ])
    assert.ok(types.includes(type), type);
});

test("a rejection reaches the program as an answer: not executed, by whom, why, and what to do", async (t) => {
  const hp = temporaryFolder(t).open();
  const call = hp.gate({ name: "drop", run: () => assert.fail("it ran") })({}, { requestId: "d" });
  const id = await pendingApproval(hp);
  await hp.approvals.reject(id, { ...ann, reason: "not on a Friday" });
  const answer = await call;
  assert.partialDeepStrictEqual(answer, {
    status: "refused",
    code: "rejected",
    by: "person:ann",
    reason: "not on a Friday",
    retry: false,
    approval: id,
  });
  assert.deepEqual(
    await hp
      .gate({ name: "drop2", run: () => 1 })({}, { requestId: "d" })
      .catch((error) => error.code),
    "request_conflict",
  );
});

test("an effect whose outcome nobody knows is in doubt until a person says what happened", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  const run = () => {
    throw new Error("socket hang up");
  };
  const wire = hp.gate({ name: "wire", policy: "approve", run });
  const answer = await wire({}, { requestId: "w" });
  assert.ok(answer.status === "in_doubt");
  assert.match(answer.next, /holdpoint resolve eff_/);
  assert.ok(folder.notices.some(({ kind }) => kind === "in_doubt"));
  assert.equal(await hp.actions.count("in_doubt"), 1);
  const said = { ...ann, reason: "the bank has it", evidence: "transfer 17" };
  const resolved = await hp.actions.resolve(answer.effect, { ...said, status: "applied" });
  assert.partialDeepStrictEqual(resolved.outcome, { by: "person:ann", evidence: "transfer 17" });
  assert.partialDeepStrictEqual(await wire({}, { requestId: "w" }), {
    status: "done",
    result: null,
    receipt: { by: "person:ann" },
  });
});

test("a budget shows what is reserved for each effect under way", async (t) => {
  const hp = temporaryFolder(t).open();
  await hp.budgets.limit("daily", usd(100n));
  const buy = hp.gate({
    name: "buy",
    policy: "approve",
    cost: () => ({ budget: "daily", amount: usd(60n) }),
    run: async (_: object, { effect }) => {
      assert.deepEqual((await hp.budgets.get("daily")).reservations, { [effect]: 60n });
    },
  });
  assert.equal((await buy({}, { requestId: "b1" })).status, "done");
  assert.deepEqual((await hp.budgets.get("daily")).reservations, {});
});

test("budgets hold what they have no room for, and let it through when they have", async (t) => {
  const hp = temporaryFolder(t).open();
  await hp.budgets.limit("daily", usd(100n));
  const cost = () => ({ budget: "daily", amount: usd(60n) });
  const buy = hp.gate({
    name: "buy",
    policy: "approve",
    cost,
    run: (_: object, context) => context.spent("daily", usd(45n)),
  });
  assert.equal((await buy({}, { requestId: "b1" })).status, "done");
  assert.partialDeepStrictEqual(await hp.budgets.get("daily"), { spent: 45n, reserved: 0n });
  assert.partialDeepStrictEqual(await buy({}, { requestId: "b2" }), {
    status: "pending",
    code: "over_budget",
    retry: true,
  });
  await hp.budgets.limit("daily", usd(200n));
  assert.equal((await buy({}, { requestId: "b2" })).status, "done");
});

test("the kill switch holds new effects of the tenant or of one agent; released, the same request id goes on", async (t) => {
  const folder = temporaryFolder(t);
  const [mailer, other] = [folder.open({ agent: "mailer" }), folder.open({ agent: "other" })];
  const gated = (hp: Holdpoint) => hp.gate({ name: "mail", policy: "approve", run: () => "sent" });
  const [mail, post] = [gated(mailer), gated(other)];
  assert.equal(await other.pause({ ...ann, reason: "drill", agent: "mailer" }), true);
  assert.equal(await other.pause({ ...ann, reason: "drill", agent: "agent:mailer" }), false);
  assert.partialDeepStrictEqual(await mail({}, { requestId: "m1" }), {
    status: "pending",
    code: "stopped",
    retry: true,
  });
  assert.partialDeepStrictEqual(await post({}, { requestId: "m2" }), { status: "done" });
  await other.pause({ ...ann, reason: "all of it" });
  assert.partialDeepStrictEqual(await post({}, { requestId: "m3" }), { status: "pending", code: "stopped" });
  await other.resume({ ...ann, reason: "over" });
  await other.resume({ ...ann, reason: "over", agent: "mailer" });
  assert.partialDeepStrictEqual(await mail({}, { requestId: "m1" }), { status: "done" });
  assert.partialDeepStrictEqual(await post({}, { requestId: "m3" }), { status: "done" });
});

test("secrets reach the tool and nobody else, from the environment or from a row, through an edit too", async (t) => {
  const folder = temporaryFolder(t);
  process.env["HOLDPOINT_TEST_SECRET"] = "sk-live-environment";
  t.after(() => delete process.env["HOLDPOINT_TEST_SECRET"]);
  const hp = folder.open();
  const row = await hp.putSecret("sk-live-row");
  const input = z.object({ key: z.string().min(10), other: z.string().min(10), n: z.number() });
  const seen: string[] = [];
  const send = hp.gate({ name: "send", input, run: (args) => void seen.push(args.key, args.other) });
  const args = { key: secret("env:HOLDPOINT_TEST_SECRET"), other: row, n: 1 };
  const call = send(args as never, { requestId: "s" });
  await hp.approvals.approve(await pendingApproval(hp), { ...ann, edit: { n: 2 } });
  assert.partialDeepStrictEqual(await call, { status: "done", receipt: { executedFrom: "human_revised" } });
  assert.deepEqual(seen, ["sk-live-environment", "sk-live-row"]);
  await hp.close();
  for (const entry of readdirSync(folder.path, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile()) assert.doesNotMatch(readFileSync(file, "latin1"), /sk-live/, file);
  }
});

for (const [name, size] of [
  ["over 64 KiB", 100_000],
  ["a megabyte", 1_000_000],
] as const) {
  test(`arguments and results of ${name} go through an approval and come back whole`, async (t) => {
    const folder = temporaryFolder(t);
    const text = "ä😀x".repeat(size / 8);
    const echo = (hp: Holdpoint) =>
      hp.gate({ name: "echo", run: (args: { text: string }) => ({ back: args.text }) });
    const first = folder.open();
    await echo(first)({ text }, { requestId: "big", waitMs: 0 });
    const id = await pendingApproval(first);
    assert.deepEqual((await first.approvals.get(id)).args, { text });
    await first.approvals.approve(id, ann);
    await first.close();
    const answer = await echo(folder.open())({ text }, { requestId: "big" });
    assert.ok(answer.status === "done");
    assert.deepEqual(answer.result, { back: text });
  });
}

test("a transactional tool's rows and its receipt are written together or not at all", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  const rows = hp.gate({
    name: "ledger",
    effect: "transactional",
    policy: "approve",
    runInTransaction: (args: { id: number; fail?: boolean }, sql) => {
      sql.run("CREATE TABLE IF NOT EXISTS ledger (id INTEGER PRIMARY KEY)");
      sql.run("INSERT INTO ledger (id) VALUES (?)", args.id);
      if (args.fail) throw new Error("no");
      return sql.all("SELECT id FROM ledger ORDER BY id").map((row) => Number(row["id"]));
    },
  });
  assert.partialDeepStrictEqual(await rows({ id: 1 }, { requestId: "l1" }), { status: "done", result: [1] });
  assert.partialDeepStrictEqual(await rows({ id: 2, fail: true }, { requestId: "l2" }), {
    status: "failed",
    code: "not_applied",
    reason: "no",
  });
  assert.partialDeepStrictEqual(await rows({ id: 1 }, { requestId: "l3" }), {
    status: "failed",
    code: "not_applied",
  });
  assert.partialDeepStrictEqual(await rows({ id: 3 }, { requestId: "l4" }), {
    status: "done",
    result: [1, 3],
  });
  assert.partialDeepStrictEqual(await rows({ id: 1 }, { requestId: "l1" }), { status: "done", result: [1] });
});

test("a transactional tool gets its secrets after an approval, too", async (t) => {
  const hp = temporaryFolder(t).open();
  const row = await hp.putSecret("sk-live-row");
  const seen: unknown[] = [];
  const runInTransaction = (args: { key: unknown }) => void seen.push(args.key);
  const tool = hp.gate({ name: "tx", effect: "transactional", policy: "escalate", runInTransaction });
  const call = tool({ key: row }, { requestId: "tx" });
  await hp.approvals.approve(await pendingApproval(hp), ann);
  assert.equal((await call).status, "done");
  assert.deepEqual(seen, ["sk-live-row"]);
});

test("a tool that does not answer in time is in doubt; one that may be repeated is sent again under the same key", async (t) => {
  const hp = temporaryFolder(t).open();
  const never = () => new Promise<never>(() => undefined);
  const slow = hp.gate({ name: "slow", policy: "approve", timeoutMs: 20, run: never });
  const answer = await slow({}, { requestId: "slow" });
  assert.ok(answer.status === "in_doubt");
  assert.match(answer.reason, /no answer within 20 ms/);
  const keys: string[] = [];
  const run = (_: object, context: { idempotencyKey: string; attempt: number }) => {
    keys.push(`${context.idempotencyKey}#${context.attempt}`);
    return context.attempt < 3 ? never() : "third time";
  };
  const keyed = hp.gate({ name: "keyed", effect: "keyed", policy: "approve", timeoutMs: 20, run });
  assert.partialDeepStrictEqual(await keyed({}, { requestId: "k" }), {
    status: "done",
    result: "third time",
    receipt: { attempt: 3 },
  });
  assert.equal(new Set(keys.map((key) => key.split("#")[0])).size, 1);
});

test("an error that proves that nothing happened is an answer, not a doubt", async (t) => {
  const hp = temporaryFolder(t).open();
  const run = () => {
    throw new NotApplied("the card was declined");
  };
  const answer = await hp.gate({ name: "charge", policy: "approve", run })({}, { requestId: "c" });
  assert.partialDeepStrictEqual(answer, {
    status: "failed",
    code: "not_applied",
    reason: "the card was declined",
  });
  assert.partialDeepStrictEqual(await hp.receipts.get("c"), { status: "not_applied" });
});

test("receipts are signed and verify, the journal verifies, and so does its export, by other code", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  const tool = hp.gate({ name: "t", policy: "approve", run: () => "done" });
  for (const requestId of ["1", "2", "3"]) await tool({ requestId }, { requestId });
  const bundle = await hp.receipts.sign("2");
  const saved = await admin(hp).seals.save();
  assert.ok(bundle !== undefined && saved !== undefined);
  const check = verifyReceipt(bundle, saved.key);
  assert.ok(check.ok && check.payload["status"] === "applied" && check.seal !== undefined);
  const report = await hp.journal.verify({ requireSealed: true, savedSeal: saved });
  assert.deepEqual([report.ok, report.findings], [true, []]);
  const file = join(folder.path, "..", "export.ndjson");
  writeFileSync(file, await exported(hp));
  const outcome = spawnSync(process.execPath, [VERIFIER, file], { encoding: "utf8" });
  assert.equal(outcome.status, 0, outcome.stdout + outcome.stderr);
});

test("the journal is read in pages, and one stream at a time", async (t) => {
  const hp = temporaryFolder(t).open();
  const tool = hp.gate({ name: "t", policy: "approve", run: () => "done" });
  for (const requestId of ["1", "2"]) await tool({}, { requestId });
  const all = (await hp.journal.list()).items;
  const seen: (typeof all)[number][] = [];
  for (let after: string | null = "0"; after !== null; ) {
    const page: Awaited<ReturnType<typeof hp.journal.list>> = await hp.journal.list({ limit: 3, after });
    seen.push(...page.items);
    after = page.next;
  }
  assert.deepEqual(seen, all);
  const { id } = await hp.actions.get("2");
  const { entries, nextSeq } = await hp.journal.stream("action", id, { limit: 1 });
  assert.deepEqual([entries.map(({ type }) => type), nextSeq], [["action.proposed"], 2]);
  const rest = await hp.journal.stream("action", id, { fromSeq: 2 });
  assert.deepEqual([...entries, ...rest.entries], await hp.journal.read("2"));
  await assert.rejects(hp.journal.stream("acton", id), { code: "invalid_input" });
  await assert.rejects(hp.journal.stream("action", "act_none"), { code: "unknown_id" });
  await assert.rejects(hp.journal.list({ after: "x" }), { code: "invalid_input" });
});

test("an instance that could not open says why each time, recovers when it can, and closes without a word", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open({ mode: "existing" });
  const tool = hp.gate({ name: "t", policy: "approve", run: () => 1 });
  await assert.rejects(tool({}, { requestId: "a" }), { name: "HoldpointError" });
  await folder.open().approvals.list();
  assert.equal((await tool({}, { requestId: "a" })).status, "done");
  const broken = folder.open({ folder: join(folder.path, "nowhere"), mode: "existing" });
  await assert.rejects(broken.approvals.list(), { name: "HoldpointError" });
  await broken.close();
});

test("closing waits for a call that is between its decision and its outcome", async (t) => {
  for (const delay of [0, 3, 10]) {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    let runs = 0;
    const tool = hp.gate({ name: "t", policy: "approve", run: () => ++runs });
    await hp.approvals.list();
    const call = tool({}, { requestId: "a" }).catch((error: { code: string }) => error.code);
    await new Promise<void>((resolve) => setTimeout(resolve, delay));
    await hp.close();
    const answer = await call;
    const isWhole =
      answer === "closed" ? runs === 0 : typeof answer === "object" && answer.status === "done" && runs === 1;
    assert.ok(isWhole, JSON.stringify(answer));
  }
});
