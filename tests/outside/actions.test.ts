/** Effects that an agent performs itself, on the real store. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, test } from "node:test";
import { type Holdpoint, isHoldpointError, type Permit, type RemoteAnswer } from "../../src/index.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";

const ANN = { by: "person:ann" };
const FAR = { agent: "agent:far" };
const HOLDER = "0123456789abcdefghijkl";

function permit(answer: RemoteAnswer): Permit {
  if (answer.status === "permitted") return answer;
  return assert.fail(`not permitted but ${answer.status}`);
}

const code = (wanted: string) => (error: unknown) => isHoldpointError(error) && error.code === wanted;

async function untilPhase(hp: Holdpoint, action: string, phase: string): Promise<void> {
  for (let look = 0; look < 1_000; look++) {
    if ((await hp.actions.get(action)).phase === phase) return;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  assert.fail(`it never is ${phase}`);
}

describe("an effect that the agent performs itself", () => {
  test("is permitted, performed once, reported, and has a receipt on the agent's word", async (context) => {
    const hp = temporaryFolder(context).open();
    hp.remote.tool({ name: "ship", policy: "approve" });
    const asked = { tool: "ship", args: { box: 1 }, requestId: "s-1", ...FAR, holder: HOLDER };
    const first = permit(await hp.remote.propose(asked));
    assert.partialDeepStrictEqual(first, { args: { box: 1 }, key: first.effect, executeBy: null });
    assert.deepEqual([first.begun, first.handedOut], [false, 1]);
    assert.deepEqual(await hp.remote.propose(asked), first);
    assert.deepEqual(await hp.remote.start(first.action, { ...FAR, holder: HOLDER }), first);
    const begun = await hp.remote.begin(first.action, { ...FAR, holder: HOLDER });
    assert.deepEqual(begun, { ...first, begun: true });
    const report = { ...FAR, status: "applied", result: { parcel: 7 } } as const;
    const { kind, receipt } = await hp.remote.report(first.action, report);
    assert.equal(kind, "reported");
    assert.partialDeepStrictEqual(receipt, { status: "applied", by: FAR.agent, effect: first.effect });
    assert.deepEqual(await hp.remote.report(first.action, report), { kind, action: first.action, receipt });
    assert.deepEqual(await hp.remote.propose(asked), {
      status: "done",
      action: first.action,
      receipt,
      result: { parcel: 7 },
    });
    assert.deepEqual(await hp.receipts.get("s-1"), receipt);
    assert.notEqual(await hp.receipts.sign("s-1"), undefined);
    const verified = await hp.journal.verify();
    assert.equal(verified.ok, true);
  });

  test("that nobody has declared is asked about, and an edit by people is what the agent is to perform", async (context) => {
    const hp = temporaryFolder(context).open();
    const asked = { tool: "bank.wire", args: { to: "DE1", amount: 900 }, requestId: "w-1", ...FAR };
    const waiting = await hp.remote.propose({ ...asked, rationale: "rent" });
    assert.equal(waiting.status, "pending");
    assert.deepEqual(await hp.remote.propose(asked), waiting);
    const approval = await pendingApproval(hp);
    assert.partialDeepStrictEqual(await hp.approvals.get(approval), { rationale: "rent", tool: "bank.wire" });
    await hp.approvals.approve(approval, { ...ANN, edit: { amount: 800 }, note: "less" });
    const given = permit(await hp.remote.start(waiting.action, FAR));
    assert.partialDeepStrictEqual(given, {
      args: { to: "DE1", amount: 800 },
      approvedBy: ["person:ann"],
      notes: ["less"],
    });
    const { receipt } = await hp.remote.report(given.action, { ...FAR, status: "applied" });
    assert.partialDeepStrictEqual(receipt, { executedFrom: "human_revised", humanApproved: true, approval });
  });

  test("is refused when people reject it, and the answer stays that", async (context) => {
    const hp = temporaryFolder(context).open();
    const asked = { tool: "bank.wire", args: { amount: 1 }, requestId: "w-1", ...FAR };
    const waiting = await hp.remote.propose(asked);
    await hp.approvals.reject(await pendingApproval(hp), { ...ANN, reason: "no" });
    for (const answer of [await hp.remote.propose(asked), await hp.remote.start(waiting.action, FAR)])
      assert.partialDeepStrictEqual(answer, { status: "refused", code: "rejected", reason: "no" });
    const report = { ...FAR, status: "applied" } as const;
    await assert.rejects(hp.remote.report(waiting.action, report), code("wrong_state"));
  });

  test("is one permit for one holder in two processes that takes it up at once", async (context) => {
    const folder = temporaryFolder(context);
    const [one, two] = [folder.open(), folder.open({ agent: "other" })];
    const waiting = await one.remote.propose({ tool: "x", requestId: "r", ...FAR });
    await one.approvals.approve(await pendingApproval(one), ANN);
    const takers = [one, two, one, two].map((hp) =>
      hp.remote.start(waiting.action, { ...FAR, holder: HOLDER }),
    );
    const permits = (await Promise.all(takers)).map(permit);
    for (const other of permits) assert.deepEqual(other, permits[0]);
    const entries = await one.journal.read(waiting.action);
    assert.equal(entries.filter(({ type }) => type === "effect.started").length, 1);
    assert.equal(entries.filter(({ type }) => type === "approval.consumed").length, 1);
  });

  test("belongs to the agent that proposed it", async (context) => {
    const hp = temporaryFolder(context).open();
    hp.remote.tool({ name: "ship", policy: "approve" });
    const { action } = permit(await hp.remote.propose({ tool: "ship", requestId: "s", ...FAR }));
    await assert.rejects(hp.remote.start(action, { agent: "agent:near" }), code("not_eligible"));
    await assert.rejects(
      hp.remote.report(action, { agent: "agent:near", status: "applied" }),
      code("not_eligible"),
    );
    await assert.rejects(
      hp.remote.propose({ tool: "ship", requestId: "s", agent: "agent:near" }),
      code("request_conflict"),
    );
    await assert.rejects(
      hp.remote.propose({ tool: "ship", args: { box: 2 }, requestId: "s", ...FAR }),
      code("request_conflict"),
    );
  });

  test("is not run by a program that calls it by name", async (context) => {
    const hp = temporaryFolder(context).open();
    hp.remote.tool({ name: "ship", policy: "approve" });
    await assert.rejects(hp.execute({ requestId: "a", action: "ship", payload: {} }), code("wrong_state"));
    await hp.remote.propose({ tool: "free", args: {}, requestId: "b", ...FAR });
    const run = () => assert.fail("it ran here");
    await assert.rejects(
      hp.execute({ requestId: "b", action: "free", payload: {}, run }),
      code("request_conflict"),
    );
  });

  test("another report is a conflict that is recorded, and the outcome stays", async (context) => {
    const hp = temporaryFolder(context).open();
    hp.remote.tool({ name: "ship", policy: "approve" });
    const { action } = permit(await hp.remote.propose({ tool: "ship", requestId: "s", ...FAR }));
    await hp.remote.report(action, { ...FAR, status: "not_applied", reason: "no stock" });
    await assert.rejects(hp.remote.report(action, { ...FAR, status: "applied" }), code("report_conflict"));
    assert.equal((await hp.actions.get(action)).phase, "not_applied");
    assert.equal((await hp.journal.read(action)).at(-1)?.type, "effect.reported_late");
  });

  test("large results are kept as artifacts, and a secret of its arguments is taken out of them", async (context) => {
    process.env["OUTSIDE_TEST_KEY"] = "s3cr3t-value";
    const { secret } = await import("../../src/index.ts");
    const hp = temporaryFolder(context).open();
    hp.remote.tool({ name: "ship", policy: "approve" });
    const args = { token: secret("env:OUTSIDE_TEST_KEY") };
    const given = permit(await hp.remote.propose({ tool: "ship", args, requestId: "s", ...FAR }));
    assert.deepEqual(given.args, { token: { $secret: "env:OUTSIDE_TEST_KEY" } });
    const result = { log: `used s3cr3t-value ${"x".repeat(100_000)}` };
    await hp.remote.report(given.action, { ...FAR, status: "applied", result });
    const answer = await hp.remote.start(given.action, FAR);
    assert.equal(answer.status, "done");
    assert.ok(!JSON.stringify(answer).includes("s3cr3t-value"));
    assert.ok(JSON.stringify(answer).includes("xxxx"));
    const forged = permit(await hp.remote.propose({ tool: "ship", args: {}, requestId: "f", ...FAR }));
    const artifact = { $artifact: "sha256:00", bytes: 1 };
    await assert.rejects(
      hp.remote.report(forged.action, { ...FAR, status: "applied", result: artifact }),
      code("reserved_key"),
    );
  });
});

describe("kill switch, budgets and policies", () => {
  test("hold for an agent's own effects as for ours", async (context) => {
    const hp = temporaryFolder(context).open();
    hp.remote.tool({
      name: "pay",
      policy: "approve",
      cost: ({ usd }: { usd: number }) => ({ budget: "b", amount: { currency: "USD", micros: BigInt(usd) } }),
    });
    await hp.budgets.limit("b", { currency: "USD", micros: 100n });
    const given = permit(await hp.remote.propose({ tool: "pay", args: { usd: 80 }, requestId: "1", ...FAR }));
    const over = await hp.remote.propose({ tool: "pay", args: { usd: 30 }, requestId: "2", ...FAR });
    assert.partialDeepStrictEqual(over, { status: "pending", waitingFor: "budget", code: "over_budget" });
    await hp.remote.report(given.action, { ...FAR, status: "applied", spent: { b: 60n } });
    assert.equal((await hp.budgets.get("b")).spent, 60n);
    await hp.pause({ ...ANN, reason: "drill", agent: FAR.agent });
    const held = await hp.remote.propose({ tool: "pay", args: { usd: 30 }, requestId: "2", ...FAR });
    assert.partialDeepStrictEqual(held, { status: "pending", waitingFor: "kill_switch", code: "stopped" });
    await hp.resume({ ...ANN, reason: "over", agent: FAR.agent });
    permit(await hp.remote.propose({ tool: "pay", args: { usd: 30 }, requestId: "2", ...FAR }));
  });

  test("a policy document decides about what nobody has declared, and says its class", async (context) => {
    const policy = {
      policy: "outside",
      default: "block",
      tools: { lookup: { effect: "read" }, buy: null },
      rules: [
        { id: "look", tool: "lookup", verdict: "approve" },
        { id: "small", tool: "buy", when: "args.usd <= 10", verdict: "approve" },
        { id: "large", tool: "buy", when: "args.usd > 10", verdict: "escalate" },
      ],
    } as const;
    const hp = temporaryFolder(context).open({ policy });
    const ask = (tool: string, args: unknown, requestId: string) =>
      hp.remote.propose({ tool, args, requestId, ...FAR });
    const { action } = permit(await ask("lookup", {}, "1"));
    assert.equal((await hp.actions.get(action)).effectClass, "read");
    permit(await ask("buy", { usd: 5 }, "2"));
    assert.equal((await ask("buy", { usd: 50 }, "3")).status, "pending");
    assert.partialDeepStrictEqual(await ask("rm", {}, "4"), { status: "refused", code: "blocked" });
  });

  test("a tool of the program itself is performed there, and the answer is its receipt", async (context) => {
    const hp = temporaryFolder(context).open();
    hp.gate({ name: "add", policy: "approve", run: ({ a }: { a: number }) => a + 1 });
    hp.gate({ name: "asked", run: () => "done" });
    const sum = await hp.remote.propose({ tool: "add", args: { a: 1 }, requestId: "1", ...FAR });
    assert.partialDeepStrictEqual(sum, { status: "done", result: 2, receipt: { status: "applied" } });
    const waiting = await hp.remote.propose({ tool: "asked", requestId: "2", ...FAR });
    assert.equal(waiting.status, "pending");
    await hp.approvals.approve(await pendingApproval(hp), ANN);
    const done = await hp.remote.start(waiting.action, FAR);
    assert.partialDeepStrictEqual(done, { status: "done", result: "done" });
    assert.equal((await hp.actions.get(waiting.action)).agent, FAR.agent);
  });
});

describe("processes that die", () => {
  test("leave the permit the agent's: it is still running, and its report is taken", async (context) => {
    const folder = temporaryFolder(context);
    const program = new URL("./server.ts", import.meta.url).pathname;
    const child = spawn(process.execPath, [program, folder.path, folder.keyFile, "s-1"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const given = permit(JSON.parse(line.toString()) as RemoteAnswer);
    child.kill("SIGKILL");
    await once(child, "exit");
    const hp = folder.open();
    hp.remote.tool({ name: "ship", policy: "approve" });
    assert.deepEqual(await hp.recover(), { retried: 0, inDoubt: 0, left: 0 });
    assert.deepEqual(await hp.actions.abandoned(), []);
    assert.equal((await hp.actions.get(given.action)).phase, "running");
    const again = { tool: "ship", args: { box: 1 }, requestId: "s-1", ...FAR, holder: HOLDER };
    assert.deepEqual(await hp.remote.propose(again), given);
    const { receipt } = await hp.remote.report(given.action, { ...FAR, status: "applied" });
    assert.equal(receipt.status, "applied");
  });

  test("nobody has reported in time: it is in doubt, a late report is testimony, a person ends it", async (context) => {
    const folder = temporaryFolder(context);
    const hp = folder.open();
    hp.remote.tool({ name: "ship", policy: "approve", timeoutMs: 30 });
    const { action, effect } = permit(await hp.remote.propose({ tool: "ship", requestId: "s", ...FAR }));
    await untilPhase(hp, action, "in_doubt");
    assert.ok(folder.notices.some((notice) => notice.kind === "in_doubt" && notice.effect === effect));
    const late = await hp.remote.report(action, { ...FAR, status: "applied", result: 1 });
    assert.partialDeepStrictEqual(late, { kind: "late", receipt: { status: "in_doubt", by: "deadline" } });
    await hp.actions.resolve(effect, { ...ANN, status: "applied", reason: "seen" });
    const answer = await hp.remote.start(action, FAR);
    assert.partialDeepStrictEqual(answer, {
      status: "done",
      receipt: { status: "applied", by: "person:ann" },
    });
  });
});
