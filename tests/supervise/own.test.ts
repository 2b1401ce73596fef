/** A supervised run keeps to what it was called with: no other run's policy, model, tools or agent get into it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { z } from "zod";
import type { Policy } from "../../src/effects/define-tool.ts";
import { ANN, type Desk, type Office, office, question } from "../workflows/office.ts";
import { atStep, FINAL, GOAL, scripted } from "./refund.ts";

const pay = (amount: number) => ({ kind: "tool", name: "pay", args: { amount } });

function till(desk: Desk, done: string[]) {
  return desk.gate({
    name: "pay",
    effect: "idempotent",
    policy: "approve",
    input: z.object({ amount: z.number() }),
    run: ({ amount }) => {
      done.push(`paid ${amount}`);
      return { status: "ok" };
    },
  });
}

const STRICT = ((call: { tool: string; args: { amount: number } }) => {
  if (call.tool !== "pay") return "approve";
  return call.args.amount > 100 ? { verdict: "block", reason: "never over 100" } : "escalate";
}) as unknown as Policy<never>;

/** Run A waits for a person under a strict policy, and its process is gone. */
async function leftBehind(place: Office): Promise<{ id: string; approval: string }> {
  const first = place.open();
  const running = first.supervise({
    goal: "run A",
    id: "A",
    tools: [till(first, [])],
    model: scripted(pay(50)),
    policy: STRICT,
  });
  running.catch(() => undefined);
  const approval = await question(place, first);
  const [id = ""] = await first.workflows.find("A");
  first.crash();
  return { id, approval };
}

const notTold = (desk: Desk) =>
  assert.ok(!desk.notices.some(({ kind }) => kind === "definition_changed" || kind === "maintenance_failed"));

describe("a supervised run that was left behind", () => {
  test("is not taken up by another run of its name, with that one's policy and model", async () => {
    const place = office();
    const { id, approval } = await leftBehind(place);
    const desk = place.open();
    const done: string[] = [];
    const model = scripted(FINAL, pay(1_000_000), pay(1_000_001), FINAL);
    const tools = [till(desk, done)];
    const policy = "approve" as Policy<never>;
    const b = await place.finish(desk.supervise({ goal: "run B", id: "B", tools, model, policy }));
    assert.equal(b.stop_reason, "success");
    await desk.approvals.approve(approval, ANN);
    const before = (await desk.entries(id)).length;
    await place.pass(60_000);
    assert.deepEqual(done, []);
    assert.equal(model.asked.length, 1);
    assert.equal((await desk.entries(id)).length, before, "nobody has touched it");
    notTold(desk);

    // Asked for again by its id, it goes on: with what this call brings, and what people have decided.
    const again = atStep(pay(50), pay(1_000), FINAL);
    const a = await place.finish(
      desk.supervise({ goal: "run A", id: "A", tools, model: again, policy: STRICT }),
    );
    assert.equal(a.workflow, id);
    assert.equal(a.stop_reason, "supervisor_block:never over 100");
    assert.deepEqual(done, ["paid 50"]);
    await desk.close();
  });

  test("is left alone by a process that looks for work, also one with a workflow of its name", async () => {
    const place = office();
    const { id, approval } = await leftBehind(place);
    const desk = place.open();
    let ran = 0;
    const other = desk.workflow("supervise", {}, async () => ++ran);
    await desk.work();
    await desk.approvals.approve(approval, ANN);
    const before = (await desk.entries(id)).length;
    await place.pass(60_000);
    assert.equal(ran, 0);
    assert.equal((await desk.entries(id)).length, before);
    notTold(desk);
    const { input } = await desk.workflows.get(id);
    await assert.rejects(place.finish(other.run(input as never, { requestId: "A" })), {
      code: "request_conflict",
    });
    assert.equal(ran, 0);
    await desk.close();
  });

  test("is reviewed under the policy that it is asked for with, whatever a person has agreed to", async () => {
    const place = office();
    const { approval } = await leftBehind(place);
    const desk = place.open();
    const done: string[] = [];
    await desk.approvals.approve(approval, ANN);
    const policy = { verdict: "block", reason: "not any more", rule: "closed" } as unknown as Policy<never>;
    const tools = [till(desk, done)];
    const result = await place.finish(
      desk.supervise({ goal: "run A", id: "A", tools, model: scripted(), policy }),
    );
    assert.equal(result.status, "stopped");
    assert.deepEqual(done, []);
    await desk.close();
  });

  test("that is asked for without the tool of an open call says so once, and waits until it is asked for with it", async () => {
    const place = office();
    const { id, approval } = await leftBehind(place);
    const desk = place.open();
    const done: string[] = [];
    await desk.approvals.approve(approval, ANN);
    const options = { goal: "run A", id: "A", policy: STRICT };
    const without = desk.supervise({ ...options, tools: [], model: scripted() });
    const told = () => desk.notices.filter(({ kind }) => kind === "definition_changed");
    await place.until(async () => told().length > 0);
    await place.pass(60_000);
    assert.equal(told().length, 1);
    assert.equal((await desk.workflows.get(id)).status, "executing");
    const model = atStep(pay(50), FINAL);
    const result = desk.supervise({ ...options, tools: [till(desk, done)], model });
    assert.equal((await place.finish(result)).stop_reason, "success");
    assert.equal((await place.finish(without)).stop_reason, "success");
    assert.deepEqual(done, ["paid 50"]);
    await desk.close();
  });

  test("rolls back when it is asked for again, and cannot be forked", async () => {
    const place = office();
    const { id } = await leftBehind(place);
    const desk = place.open();
    await assert.rejects(desk.workflows.fork(id, { at: "start" }), {
      code: "wrong_state",
      message: /is a supervised run, and cannot be forked/,
    });
    await desk.workflows.rollback(id, { ...ANN, reason: "not so", after: "fail" });
    await desk.work();
    await place.pass(20_000);
    assert.equal((await desk.workflows.get(id)).status, "rolling_back");
    const options = { goal: "run A", id: "A", tools: [till(desk, [])], model: scripted(), policy: STRICT };
    assert.equal((await place.finish(desk.supervise(options))).stop_reason, "rolled_back");
    await desk.close();
  });

  test("can be cancelled by anybody, and nobody is asked about it any more", async () => {
    const place = office();
    const { id } = await leftBehind(place);
    const desk = place.open();
    await desk.workflows.cancel(id, { ...ANN, reason: "given up" });
    assert.equal((await desk.workflows.get(id)).status, "failed");
    assert.deepEqual((await desk.approvals.list()).items, []);
    await desk.close();
  });

  test("keeps a question that it had put to people, where the policy of the next call would not ask", async () => {
    const place = office();
    const { approval } = await leftBehind(place);
    const desk = place.open();
    const done: string[] = [];
    const policy = "approve" as Policy<never>;
    const model = atStep(pay(50), FINAL);
    const running = desk.supervise({ goal: "run A", id: "A", tools: [till(desk, done)], model, policy });
    await place.pass(30_000);
    assert.deepEqual(done, []);
    await desk.approvals.approve(approval, ANN);
    assert.equal((await place.finish(running)).stop_reason, "success");
    assert.deepEqual(done, ["paid 50"]);
    await desk.close();
  });

  test("sleeps, and goes on by itself where it was asked for, beside another of its name", async () => {
    const place = office();
    const desk = place.open();
    const busy = { failure: "overloaded", message: "later", retryAfterMs: 30_000 } as const;
    const tools = [till(desk, [])];
    const run = (id: string) =>
      desk.supervise({ goal: id, id, tools, model: scripted(busy, FINAL), limits: { seconds: 1e6 } });
    const results = await place.finish(Promise.all([run("one"), run("two")]));
    assert.deepEqual(
      results.map(({ stop_reason }) => stop_reason),
      ["success", "success"],
    );
    await desk.close();
  });
});

const wire = (who: string, log: string[], policy: string) => ({
  name: "wire",
  effect: "idempotent",
  policy,
  input: z.object({ a: z.number() }),
  run: ({ a }: { a: number }) => {
    log.push(`${who} ${a}`);
    return { status: "ok" };
  },
});
const send = { kind: "tool", name: "wire", args: { a: 1 } };

describe("runs side by side that bring a tool of one name", () => {
  test("do not replace each other's: another definition is a conflict until the first run is over", async () => {
    const place = office();
    const desk = place.open();
    const log: string[] = [];
    const go = Promise.withResolvers<void>();
    const slow = async () => {
      await go.promise;
      return { text: JSON.stringify(send) };
    };
    const model = scripted(slow, FINAL);
    const a = desk.supervise({ goal: "A", tools: [wire("A", log, "block")], model });
    await place.until(async () => model.asked.length > 0);
    const other = () =>
      desk.supervise({ goal: "B", tools: [wire("B", log, "approve")], model: scripted(send, FINAL) });
    await assert.rejects(place.finish(other()), { code: "tool_conflict", message: /not over/ });
    go.resolve();
    assert.equal((await place.finish(a)).stop_reason, "supervisor_block:the policy of wire blocks it");
    assert.deepEqual(log, []);
    assert.equal((await place.finish(other())).stop_reason, "success");
    assert.deepEqual(log, ["B 1"]);
    await desk.close();
  });

  test("each call the function that they brought, where the definitions are alike", async () => {
    const place = office();
    const desk = place.open();
    const log: string[] = [];
    const run = (who: string) =>
      desk.supervise({ goal: who, tools: [wire(who, log, "escalate")], model: atStep(send, FINAL) });
    const running = Promise.all(["A", "B"].map(run));
    const seen = new Set<string>();
    await place.until(async () => {
      for (const { id } of (await desk.approvals.list()).items) {
        if (!seen.has(id)) await desk.approvals.approve(id, ANN);
        seen.add(id);
      }
      return seen.size === 2;
    });
    const results = await place.finish(running);
    assert.ok(results.every(({ stop_reason }) => stop_reason === "success"));
    assert.deepEqual(log.toSorted(), ["A 1", "B 1"]);
    await desk.close();
  });

  test("are not refused for what a call that came to nothing had brought", async () => {
    const place = office();
    const desk = place.open();
    desk.gate({ name: "theirs", run: () => null });
    const log: string[] = [];
    const tools = [wire("A", log, "block"), { name: "theirs", run: () => null }];
    const common = { goal: GOAL, id: "x" };
    await assert.rejects(desk.supervise({ ...common, tools, model: scripted() }), { code: "tool_conflict" });
    const model = scripted(send, FINAL);
    const run = desk.supervise({ ...common, tools: [wire("B", log, "approve")], model });
    assert.equal((await place.finish(run)).stop_reason, "success");
    const conflict = desk.supervise({ goal: "no", id: "x", tools: [wire("C", log, "block")], model });
    await assert.rejects(place.finish(conflict), { code: "request_conflict" });
    const next = desk.supervise({ goal: "D", tools: [wire("D", log, "approve")], model: scripted(FINAL) });
    assert.equal((await place.finish(next)).stop_reason, "success");
    await desk.close();
  });
});

describe("the kill switch of the agent that a run names", () => {
  test("keeps the model from being asked, and another agent's does not", async () => {
    const place = office();
    const desk = place.open();
    const tools = [till(desk, [])];
    const run = async (agent: string) => {
      const model = scripted(FINAL);
      const result = await place.finish(desk.supervise({ goal: GOAL, tools, model, agent }));
      return `${result.stop_reason} ${model.asked.length}`;
    };
    assert.equal(await run("agent:ada"), "success 1");
    await desk.switch.pause({ ...ANN, reason: "stop bob", agent: "agent:bob" });
    // Right after one that was free: what was seen of one agent's switch says nothing of another's.
    assert.equal(await run("agent:ada"), "success 1");
    assert.equal(await run("agent:bob"), "stopped 0");
    await desk.close();
  });
});

test("a run that waits while its own agent is stopped goes on when that one is let go, and asks nobody before", async () => {
  const place = office();
  const desk = place.open();
  const bob = { ...ANN, reason: "bob", agent: "agent:bob" };
  await desk.switch.pause(bob);
  const model = scripted(FINAL);
  const running = desk.supervise({ goal: GOAL, tools: [], model, agent: "agent:bob", onHeld: "wait" });
  await place.pass(60_000);
  assert.equal(model.asked.length, 0);
  await desk.switch.resume(bob);
  assert.equal((await place.finish(running)).stop_reason, "success");
  await desk.close();
});

test("an unknown tool's name stands in the stop reason without the characters that hide in it", async () => {
  const place = office();
  const desk = place.open();
  const name = "a\u001b[2J\u202eb\nc\u200bd";
  const model = scripted({ kind: "tool", name, args: {} });
  const result = await place.finish(desk.supervise({ goal: GOAL, tools: [], model }));
  assert.equal(result.stop_reason, "invalid_action:unknown_tool:a\\u001b[2J\\u202eb\\nc\\u200bd");
  assert.deepEqual(result.raw_action, { kind: "tool", name, args: {} }, "what it said is kept as it was");
  await desk.close();
});
