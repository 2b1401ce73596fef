/** Intents from agent to agent, through the instance, under a clock that the test moves. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { IntentDelivery, OutgoingIntent } from "../../src/index.ts";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import { machine, type Process, settled } from "../fixtures/runtime.ts";

const TASK: OutgoingIntent = { intentType: "task", toAgent: "agent://doer", payload: { sort: "mail" } };
const code = (wanted: string) => (error: unknown) => isHoldpointError(error) && error.code === wanted;

const typesOf = async (hp: Process, id: string) => (await hp.journal.read(id)).map(({ type }) => type);

function two() {
  const computer = machine();
  return {
    computer,
    planner: computer.process({ agent: "planner" }),
    doer: computer.process({ agent: "doer" }),
  };
}

async function next(deliveries: AsyncGenerator<IntentDelivery>): Promise<IntentDelivery> {
  const { value, done } = await deliveries.next();
  return done === true ? assert.fail("nothing more comes") : value;
}

describe("an intent from agent to agent", () => {
  test("is handed over, acknowledged, waits for another one, and is completed", async () => {
    const { planner, doer } = two();
    const { id } = await planner.intents.send({ ...TASK, correlation: "trip-7" });
    const ear = new AbortController();
    const { intent } = await next(doer.intents.listen("agent://doer", ear.signal));
    ear.abort();
    assert.partialDeepStrictEqual(intent, { id, lifecycleStatus: "DELIVERED", payload: { sort: "mail" } });
    await doer.intents.acknowledge(id);
    const asked = await doer.intents.send({
      intentType: "human_approval",
      toAgent: "agent://approver",
      payload: { task: "burn the rest" },
      parent: id,
    });
    assert.partialDeepStrictEqual(await doer.intents.waiting(id, { on: asked.id }), {
      lifecycleStatus: "WAITING",
      waitsOn: asked.id,
    });
    const waited = planner.intents.waitFor(id);
    await planner.approvals.approve(asked.approval ?? "", { by: "person:ann" });
    assert.partialDeepStrictEqual(await doer.intents.waitFor(asked.id), { data: { approved: true } });
    await doer.intents.answer(id, { data: { sorted: 12 } });
    assert.deepEqual(await waited, { status: "completed", intent: id, data: { sorted: 12 } });
    assert.deepEqual(await typesOf(planner, id), [
      "intent.sent",
      "intent.delivered",
      "intent.acknowledged",
      "intent.waiting",
      "intent.completed",
    ]);
    await planner.close();
    await doer.close();
  });

  test("is handed over again until it is acknowledged, and journaled once", async () => {
    const { computer, planner, doer } = two();
    const { id } = await planner.intents.send(TASK);
    const ear = new AbortController();
    const deliveries = doer.intents.listen("agent:doer", ear.signal);
    assert.equal((await next(deliveries)).times, 1);
    for (const times of [2, 3]) {
      const again = next(deliveries);
      await settled();
      await computer.clock.jump(30_000);
      assert.equal((await again).times, times);
    }
    await doer.intents.acknowledge(id);
    const other = next(deliveries);
    await computer.clock.jump(60_000);
    const second = await planner.intents.send({ ...TASK, payload: { sort: "bills" } });
    assert.equal((await other).intent.id, second.id);
    ear.abort();
    assert.equal((await deliveries.next()).done, true);
    assert.deepEqual(await typesOf(planner, id), ["intent.sent", "intent.delivered", "intent.acknowledged"]);
    await planner.close();
    await doer.close();
  });

  test("of two answers in a race one stands, and everybody hears that one", async () => {
    const { computer, planner, doer } = two();
    const twin = computer.process({ agent: "doer" });
    const { id } = await planner.intents.send(TASK);
    const waited = planner.intents.waitFor(id);
    const ended = await Promise.allSettled([
      doer.intents.answer(id, { data: { by: "one" } }),
      twin.intents.answer(id, { data: { by: "two" } }),
    ]);
    assert.deepEqual(ended.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
    const { end } = await planner.intents.get(id);
    const data = end?.status === "completed" ? end.data : assert.fail();
    assert.deepEqual(await waited, { status: "completed", intent: id, data });
    assert.equal((await typesOf(planner, id)).filter((type) => type === "intent.completed").length, 1);
    for (const hp of [planner, doer, twin]) await hp.close();
  });

  test("nobody else answers it, and what they tried is recorded", async () => {
    const { planner, doer } = two();
    const { id } = await planner.intents.send(TASK);
    await assert.rejects(planner.intents.answer(id, { data: 1 }), code("not_eligible"));
    await assert.rejects(doer.intents.cancel(id, { reason: "no" }), code("not_eligible"));
    assert.deepEqual(await typesOf(planner, id), ["intent.sent", "intent.refused", "intent.refused"]);
    await assert.rejects(doer.intents.answer("int_none", { data: 1 }), code("unknown_id"));
    await planner.close();
    await doer.close();
  });

  test("its own deadline ends it, by a sweeper or by whoever waits", async () => {
    const { computer, planner, doer } = two();
    const { id } = await planner.intents.send({ ...TASK, withinMs: 60_000 });
    const waited = planner.intents.waitFor(id, { timeoutSeconds: 3_600 });
    await settled();
    await computer.clock.jump(60_000);
    assert.partialDeepStrictEqual(await waited, { status: "timed_out" });
    await assert.rejects(doer.intents.answer(id, { data: 1 }), code("wrong_state"));
    await planner.close();
    await doer.close();
  });

  test("is listed by recipient, sender and status, page by page", async () => {
    const { planner, doer } = two();
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push((await planner.intents.send({ ...TASK, payload: { n } })).id);
    await doer.intents.send({ ...TASK, toAgent: "agent://planner" });
    await doer.intents.answer(ids[2] ?? "", { failed: "no mail" });
    const idsOf = async (page: object) =>
      (await planner.intents.list({ order: "oldest", ...page })).items.map(({ id }) => id);
    assert.deepEqual(await idsOf({ to: "agent://doer" }), ids);
    assert.deepEqual(await idsOf({ from: "agent:planner", status: "failed" }), [ids[2]]);
    const first = await planner.intents.list({
      to: "agent:doer",
      status: "created",
      limit: 3,
      order: "oldest",
    });
    assert.deepEqual(
      first.items.map(({ id }) => id),
      [ids[0], ids[1], ids[3]],
    );
    assert.deepEqual(
      await idsOf({ to: "agent:doer", status: "created", limit: 3, after: first.next ?? "" }),
      [ids[4]],
    );
    assert.equal((await idsOf({})).length, 6);
    await planner.close();
    await doer.close();
  });

  test("under one request id there is one intent", async () => {
    const { planner, doer } = two();
    const first = await planner.intents.send({ ...TASK, requestId: "r-1" });
    assert.deepEqual(await planner.intents.send({ ...TASK, requestId: "r-1" }), { ...first, isKnown: true });
    await assert.rejects(
      planner.intents.send({ ...TASK, payload: {}, requestId: "r-1" }),
      code("request_conflict"),
    );
    await planner.close();
    await doer.close();
  });

  test("a wait ends with its signal, and with its instance", async () => {
    const { planner, doer } = two();
    const { id } = await planner.intents.send(TASK);
    const ear = new AbortController();
    const first = planner.intents.waitFor(id, { signal: ear.signal });
    const second = doer.intents.waitFor(id);
    const told = assert.rejects(second, code("closed"));
    await settled();
    ear.abort();
    await assert.rejects(first, { name: "AbortError" });
    await doer.close();
    await told;
    await planner.close();
  });
});
