/** Tests taken from other people's bugs: decisions of people. The numbers are those of our list of such threads. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { type Holdpoint, isHoldpointError, type Verdict } from "../../src/index.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";

const ann = { by: "person:ann" };
const bob = { by: "person:bob" };
const no = { ...ann, reason: "no" };
const never = () => assert.fail("it ran");

/** A call that waits for people, in an instance that is then closed. */
async function asked(
  hp: Holdpoint,
  policy: Verdict | "escalate" = "escalate",
  requestId = "job",
): Promise<string> {
  const answer = await hp.gate({ name: `act-${requestId}`, policy, run: never })(
    { of: requestId },
    { requestId, waitMs: 0 },
  );
  assert.ok("approval" in answer && answer.approval !== null);
  return answer.approval;
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "accepted",
    (error) => (isHoldpointError(error) ? error.code : String(error)),
  );

test("1. declined never runs, in this life or the next (mastra#20470)", async (t) => {
  const folder = temporaryFolder(t);
  const first = folder.open();
  const id = await asked(first);
  await first.approvals.reject(id, { ...ann, reason: "not to the public" });
  await first.close();
  const second = folder.open();
  const tool = second.gate({ name: "act-job", run: never });
  const answer = await tool({ of: "job" }, { requestId: "job" });
  assert.partialDeepStrictEqual(answer, { status: "refused", code: "rejected", reason: "not to the public" });
  assert.equal(await codeOf(second.approvals.approve(id, bob)), "decision_conflict");
  assert.deepEqual(await tool({ of: "job" }, { requestId: "job" }), answer);
});

test("1. cancelled never runs (mastra#20470)", async (t) => {
  const folder = temporaryFolder(t);
  const first = folder.open();
  await first.approvals.cancel(await asked(first), no);
  await first.close();
  const answer = await folder.open().gate({ name: "act-job", run: never })(
    { of: "job" },
    { requestId: "job" },
  );
  assert.partialDeepStrictEqual(answer, { status: "refused", code: "cancelled" });
});

test("2. a decision after expiry but before any sweeper is refused (edictum-console#19)", async (t) => {
  const folder = temporaryFolder(t);
  const program = folder.open();
  const id = await asked(program, { verdict: "escalate", decideWithinMs: 150 });
  await program.close();
  await sleep(160);
  const desk = folder.open({ agent: "desk" });
  assert.equal((await desk.approvals.get(id)).status, "pending", "nobody has announced it");
  const error = await desk.approvals.approve(id, ann).catch((caught: unknown) => caught);
  assert.ok(isHoldpointError(error, "decision_conflict"));
  assert.equal(error.details["status"], "expired");
});

test("4. expired never runs (mastra#20470)", async (t) => {
  const folder = temporaryFolder(t);
  const first = folder.open();
  const policy = { verdict: "escalate", decideWithinMs: 1 } as const;
  await asked(first, policy);
  await first.close();
  await sleep(5);
  const answer = await folder.open().gate({ name: "act-job", policy, run: never })(
    { of: "job" },
    { requestId: "job" },
  );
  assert.partialDeepStrictEqual(answer, { status: "refused", code: "expired", by: "deadline" });
});

const input = z.strictObject({ path: z.string(), amount: z.number() });
const byAmount = ({ args }: { args: { amount: number } }) =>
  args.amount > 1000 ? ("block" as const) : ("escalate" as const);

test("5. an edited call is checked again, by schema and by policy (langchain#40166)", async (t) => {
  const hp = temporaryFolder(t).open();
  const pay = hp.gate({ name: "pay", input, policy: byAmount, run: (args) => args.amount });
  const call = pay({ path: "/a", amount: 10 }, { requestId: "p" });
  const id = await pendingApproval(hp);
  assert.equal(await codeOf(hp.approvals.approve(id, { ...ann, edit: { amount: "all" } })), "edit_refused");
  assert.equal(await codeOf(hp.approvals.approve(id, { ...ann, edit: { amount: 5000 } })), "edit_refused");
  await hp.approvals.approve(id, { ...ann, edit: { amount: 9 } });
  assert.partialDeepStrictEqual(await call, { status: "done", result: 9 });
});

test("6. an edit cannot change the tool (langchain#40166)", async (t) => {
  const hp = temporaryFolder(t).open();
  hp.gate({ name: "wire", run: never });
  const pay = hp.gate({ name: "pay", input, policy: byAmount, run: () => "paid" });
  const call = pay({ path: "/a", amount: 10 }, { requestId: "p" });
  const id = await pendingApproval(hp);
  for (const edit of [{ tool: "wire" }, { name: "wire", args: {} }])
    assert.equal(await codeOf(hp.approvals.approve(id, { ...ann, edit })), "edit_refused");
  await hp.approvals.approve(id, ann);
  assert.partialDeepStrictEqual(await call, { status: "done", receipt: { tool: "pay" } });
});

test("7. a stale decision is refused: it was about something else (mastra#19633)", async (t) => {
  const hp = temporaryFolder(t).open();
  const policy: Verdict = { verdict: "escalate", approvers: { quorum: 2 } };
  const call = hp.gate({ name: "pay", input, policy, run: (args) => args.amount })(
    { path: "/a", amount: 10 },
    { requestId: "p" },
  );
  const id = await pendingApproval(hp);
  const { binding } = await hp.approvals.get(id);
  await hp.approvals.approve(id, { ...ann, edit: { amount: 9 } });
  const stale = await hp.approvals.approve(id, { ...bob, binding }).catch((caught: unknown) => caught);
  assert.ok(isHoldpointError(stale, "decision_conflict"));
  assert.equal(stale.details["status"], "pending");
  await hp.approvals.approve(id, { ...bob, binding: (await hp.approvals.get(id)).binding });
  assert.partialDeepStrictEqual(await call, { status: "done", result: 9 });
});

test("8. the same decision twice is one effect and the same answer (cloudflare/agents: approving what is no longer paused changes nothing)", async (t) => {
  const hp = temporaryFolder(t).open();
  let runs = 0;
  const call = hp.gate({ name: "pay", run: () => ++runs })({}, { requestId: "p" });
  const id = await pendingApproval(hp);
  const answers = await Promise.all([1, 2, 3, 4].map(() => hp.approvals.approve(id, ann)));
  assert.equal(answers.filter(({ kind }) => kind === "recorded").length, 1);
  await call;
  assert.equal((await hp.approvals.approve(id, ann)).kind, "same");
  assert.equal(runs, 1);
});

test("12. parallel approvals keep their own answers (langgraph#6533, #6626, #6624)", async (t) => {
  const hp = temporaryFolder(t).open();
  const echo = hp.gate({ name: "echo", run: (args: { n: number }) => args.n });
  const calls = [1, 2, 3, 4].map((n) => echo({ n }, { requestId: `e${n}` }));
  await pendingApproval(hp, 3);
  const { items } = await hp.approvals.list();
  assert.equal(new Set(items.map(({ id }) => id)).size, 4);
  for (const { id } of items.toReversed()) {
    const { args } = await hp.approvals.get(id);
    const { n } = args as { n: number };
    await (n % 2 === 0
      ? hp.approvals.approve(id, { ...ann, edit: { n: n * 10 } })
      : hp.approvals.reject(id, { ...ann, reason: `no ${n}` }));
  }
  const told = (await Promise.all(calls)).map((answer) =>
    answer.status === "done" ? answer.result : answer.reason,
  );
  assert.deepEqual(told, ["no 1", 20, "no 3", 40]);
});

test("13. one rejection leaves its siblings alone (microsoft/agent-framework#4879)", async (t) => {
  const hp = temporaryFolder(t).open();
  const free = hp.gate({ name: "free", policy: "approve", run: () => "free" });
  const gated = hp.gate({ name: "gated", run: (args: { n: number }) => args.n });
  const calls = [1, 2].map((n) => gated({ n }, { requestId: `g${n}` }));
  assert.partialDeepStrictEqual(await free({}, { requestId: "f" }), { status: "done" });
  await pendingApproval(hp, 1);
  const [one, two] = (await hp.approvals.list()).items;
  await hp.approvals.reject(one?.id ?? "", no);
  await hp.approvals.approve(two?.id ?? "", ann);
  const answers = await Promise.all(calls);
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), ["done", "refused"]);
});

test("14. an approval that arrives before anybody waits is not lost (inngest#1433)", async (t) => {
  const hp = temporaryFolder(t).open();
  const tool = hp.gate({ name: "act", run: () => "done" });
  await tool({}, { requestId: "a", waitMs: 0 });
  await hp.approvals.approve(await pendingApproval(hp), ann);
  assert.partialDeepStrictEqual(await tool({}, { requestId: "a" }), { status: "done", result: "done" });
});

test("21. a denial says that nothing was executed, by whom, why, and what to do next (vercel/eve#312)", async (t) => {
  const hp = temporaryFolder(t).open();
  const blocked = hp.gate({
    name: "act",
    policy: { verdict: "block", reason: "refunds over 1000 need a contract", rule: "limit" },
    run: never,
  });
  const answer = await blocked({}, { requestId: "b" });
  assert.deepEqual(answer, {
    status: "refused",
    by: "policy (limit)",
    code: "blocked",
    reason: "refunds over 1000 need a contract",
    retry: false,
    next: "Do not try the same action again; ask for something the policy allows.",
    action: answer.action,
    approval: null,
  });
});

test("23. whoever the program acts for cannot approve what it asks (AgentGate's agentgate_decide)", async (t) => {
  const hp = temporaryFolder(t).open({ onBehalfOf: ["person:ann"] });
  const id = await asked(hp);
  assert.equal(await codeOf(hp.approvals.approve(id, ann)), "not_eligible");
  assert.equal(await codeOf(hp.approvals.approve(id, { by: "agent:tester" })), "invalid_input");
  assert.equal((await hp.approvals.approve(id, bob)).kind, "recorded");
});

test("24. a quorum counts distinct people only (Steward-Fi/steward#205)", async (t) => {
  const hp = temporaryFolder(t).open();
  const id = await asked(hp, { verdict: "escalate", approvers: { quorum: 2 } });
  for (let vote = 0; vote < 5; vote++) await hp.approvals.approve(id, ann);
  assert.partialDeepStrictEqual(await hp.approvals.get(id), {
    status: "pending",
    votes: [{ by: "person:ann" }],
  });
  await hp.approvals.approve(id, bob);
  assert.equal((await hp.approvals.get(id)).status, "approved");
});

test("27. a client that goes away leaves the approval pending, and the next one attaches to it (envoyproxy/ai-gateway#2073)", async (t) => {
  const folder = temporaryFolder(t);
  const first = folder.open();
  const lost = first.gate({ name: "act", run: never })({}, { requestId: "a" });
  const id = await pendingApproval(first);
  const gone = assert.rejects(lost, { code: "closed" });
  await first.close();
  await gone;
  const second = folder.open();
  assert.equal((await second.approvals.get(id)).status, "pending");
  const call = second.gate({ name: "act", run: () => "done" })({}, { requestId: "a" });
  assert.equal(await pendingApproval(second), id);
  await second.approvals.approve(id, ann);
  assert.partialDeepStrictEqual(await call, { status: "done", receipt: { approval: id } });
});
