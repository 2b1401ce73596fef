/**
 * Tests taken from other people's bugs: what is checked at dispatch, crashes, limits and secrets. The numbers are those of
 * our list of such threads. Not here, because they need workflows: 19 (a nested agent's call surfaces with its lineage;
 * mastra#12552) and 26 (a compensation runs once, and not on a recovered error; langchain4j PR 5171, PR 5823).
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { type Holdpoint, secret, type Verdict } from "../../src/index.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";
import { runWorker, startWorker, world } from "../fixtures/worker.ts";

const ann = { by: "person:ann" };
const never = () => assert.fail("it ran");
const usd = (micros: bigint) => ({ currency: "USD", micros });

test("3. the approval id that was shown is the id that is accepted after a crash (eve#3103)", async (t) => {
  const folder = temporaryFolder(t);
  const worker = startWorker(folder, { policy: "escalate" });
  const shown = await worker.waiting;
  worker.kill();
  assert.equal((await worker.ended).signal, "SIGKILL");
  const desk = folder.open({ agent: "desk" });
  await desk.approvals.approve(shown, ann);
  const { answer } = await runWorker(folder, { policy: "escalate" });
  assert.partialDeepStrictEqual(answer, { status: "done", receipt: { approval: shown } });
  assert.equal(world(folder).length, 1);
});

test("9. two workers, one effect (langgraph#7417)", async (t) => {
  const folder = temporaryFolder(t);
  const ended = await Promise.all([1, 2, 3].map(() => runWorker(folder)));
  const answers = ended.map(({ answer }) => answer);
  assert.equal(world(folder).length, 1);
  assert.equal(ended.flatMap(({ lines }) => lines.filter(({ ran }) => ran !== undefined)).length, 1);
  for (const answer of answers) assert.deepEqual(answer, answers[0]);
});

test("10. killed between claim and effect is in doubt, not retried (cloudflare/agents: ActionPendingError)", async (t) => {
  const folder = temporaryFolder(t);
  assert.equal((await runWorker(folder, { killAt: "before_send" })).signal, "SIGKILL");
  const { answer, lines } = await runWorker(folder);
  assert.partialDeepStrictEqual(answer, { status: "in_doubt", receipt: { status: "in_doubt" } });
  assert.ok(lines.every(({ ran }) => ran === undefined));
  assert.deepEqual(world(folder), []);
});

test("11. killed between effect and record: a receiver that honours our key has it once (crewAI#5802, stripe/ai#402)", async (t) => {
  const folder = temporaryFolder(t);
  await runWorker(folder, { effect: "keyed", killAt: "after_send" });
  assert.equal(world(folder).length, 1);
  const { answer } = await runWorker(folder, { effect: "keyed" });
  assert.partialDeepStrictEqual(answer, { status: "done", receipt: { attempt: 2 } });
  assert.equal(world(folder).length, 1);
});

test("11. killed between effect and record: the destination is asked before anything else happens (x402#3208)", async (t) => {
  const folder = temporaryFolder(t);
  await runWorker(folder, { effect: "probed", killAt: "after_send" });
  assert.partialDeepStrictEqual((await runWorker(folder, { effect: "probed" })).answer, {
    status: "in_doubt",
  });
  const asking = folder.open();
  const { id } = await asking.actions.get("job");
  // The probe has a pause of its own: a process that stays asks once it is over.
  const settled = (await runWorker(folder, { effect: "probed", stays: true })).answer;
  assert.partialDeepStrictEqual(settled, {
    status: "done",
    action: id,
    receipt: { by: "probe", attempt: 1 },
  });
  assert.equal(world(folder).length, 1);
});

test("15. an approval given after a restart is used by a new process (mastra#19301, #22413)", async (t) => {
  const folder = temporaryFolder(t);
  const first = await runWorker(folder, { policy: "escalate", options: { waitMs: 0 } });
  assert.partialDeepStrictEqual(first.answer, { status: "pending", code: "pending" });
  const desk = folder.open({ agent: "desk" });
  await desk.approvals.approve(await pendingApproval(desk), ann);
  assert.partialDeepStrictEqual((await runWorker(folder, { policy: "escalate" })).answer, { status: "done" });
});

/** Asked in one life, approved, then dispatched by the next life's version of the tool. */
async function approvedAcross(
  folder: ReturnType<typeof temporaryFolder>,
  before: (hp: Holdpoint) => (args: { amount: number }, options: object) => Promise<unknown>,
): Promise<Holdpoint> {
  const first = folder.open();
  await before(first)({ amount: 10 }, { requestId: "job", waitMs: 0 });
  await first.approvals.approve(await pendingApproval(first), ann);
  await first.close();
  return folder.open();
}

test("16. an approval from before a deploy that changed the schema is refused with that reason (openai-agents-js: resuming after the code changed)", async (t) => {
  const folder = temporaryFolder(t);
  const hp = await approvedAcross(folder, (one) =>
    one.gate({ name: "pay", input: z.object({ amount: z.number() }), run: never }),
  );
  const answer = await hp.gate({ name: "pay", input: z.object({ amount: z.number().max(50) }), run: never })(
    { amount: 10 },
    { requestId: "job" },
  );
  assert.partialDeepStrictEqual(answer, {
    status: "refused",
    code: "tool_changed",
    reason: "the tool's input schema changed after the proposal",
  });
});

test("17. a policy that was tightened while an approval waited blocks at dispatch (mcp-hangar#674)", async (t) => {
  const folder = temporaryFolder(t);
  const hp = await approvedAcross(folder, (one) => one.gate({ name: "pay", policy: "escalate", run: never }));
  const policy: Verdict = { verdict: "block", reason: "frozen since noon" };
  const answer = await hp.gate({ name: "pay", policy, run: never })({ amount: 10 }, { requestId: "job" });
  assert.partialDeepStrictEqual(answer, { status: "refused", code: "blocked", reason: "frozen since noon" });
});

test("18. arguments that are changed in memory after the proposal change nothing (extra#139, pydantic-ai#6968)", async (t) => {
  const hp = temporaryFolder(t).open();
  const args = { to: "ann", nested: { amount: 10 } };
  const policy = (call: { args: typeof args }): "escalate" => {
    call.args.nested.amount = 1_000_000;
    call.args.to = "mallory";
    return "escalate";
  };
  const pay = hp.gate({ name: "pay", policy, run: (given: typeof args) => structuredClone(given) });
  const call = pay(args, { requestId: "p" });
  args.to = "mallory";
  args.nested.amount = 1_000_000;
  const id = await pendingApproval(hp);
  assert.deepEqual((await hp.approvals.get(id)).args, { to: "ann", nested: { amount: 10 } });
  await hp.approvals.approve(id, ann);
  assert.partialDeepStrictEqual(await call, {
    status: "done",
    result: { to: "ann", nested: { amount: 10 } },
  });
});

test("20. a megabyte of arguments resumes in another process (mastra#24736)", async (t) => {
  const folder = temporaryFolder(t);
  const text = "x".repeat(1_000_000);
  const first = folder.open();
  const gated = (hp: Holdpoint) =>
    hp.gate({ name: "act", run: (args: { text: string }) => args.text.length });
  await gated(first)({ text }, { requestId: "big", waitMs: 0 });
  await first.approvals.approve(await pendingApproval(first), ann);
  await first.close();
  const before = process.cpuUsage();
  assert.partialDeepStrictEqual(await gated(folder.open())({ text }, { requestId: "big" }), {
    status: "done",
    result: 1_000_000,
  });
  // Of the processor's time, whatever else the machine does.
  const { user, system } = process.cpuUsage(before);
  assert.ok((user + system) / 1_000 < 2_000, "in less than the two seconds after which others gave up");
});

test("22. a secret never reaches a notification or what an approver sees (hermes-agent PR 78032)", async (t) => {
  const folder = temporaryFolder(t);
  process.env["HOLDPOINT_TEST_TOKEN"] = "xoxb-live-token-canary";
  t.after(() => delete process.env["HOLDPOINT_TEST_TOKEN"]);
  const hp = folder.open();
  const run = (args: { token: string }) => {
    throw new Error(`401 for ${args.token}`);
  };
  const call = hp.gate({ name: "post", run })(
    { token: secret("env:HOLDPOINT_TEST_TOKEN") as never },
    { requestId: "s", rationale: "using xoxb-live-token-canary" },
  );
  const id = await pendingApproval(hp);
  const card = JSON.stringify([await hp.approvals.get(id), await hp.approvals.list()]);
  await hp.approvals.approve(id, { ...ann, note: "with xoxb-live-token-canary, yes" });
  const answer = await call;
  const told = JSON.stringify([
    folder.notices,
    answer,
    await hp.journal.read(id),
    await hp.receipts.get("s"),
  ]);
  assert.equal(answer.status, "in_doubt");
  assert.doesNotMatch(card + told, /xoxb-live-token-canary/);
  assert.match(told, /\[secret env:HOLDPOINT_TEST_TOKEN\]/);
});

test("25. any number of parallel calls cannot exceed a budget (litellm#34732, #26672)", async (t) => {
  const folder = temporaryFolder(t);
  const instances = [folder.open(), folder.open()];
  await instances[0]?.budgets.limit("daily", usd(1_000n));
  let spent = 0;
  const spend = (micros: number) => {
    spent += micros;
  };
  const cost = () => ({ budget: "daily", amount: usd(300n) });
  const tools = instances.map((hp) =>
    hp.gate({ name: "buy", policy: "approve", cost, run: () => spend(300) }),
  );
  const calls = Array.from({ length: 40 }, (_, n) => tools[n % 2]?.({ n }, { requestId: `b${n}` }));
  const answers = await Promise.all(calls);
  assert.equal(answers.filter((answer) => answer?.status === "done").length, 3);
  assert.equal(spent, 900);
  const budget = await instances[1]?.budgets.get("daily");
  assert.partialDeepStrictEqual(budget, { spent: 900n, reserved: 0n });
});
