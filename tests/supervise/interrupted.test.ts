/** Runs that are sent back, cancelled or stopped by a monitor while their model thinks: what it says too late is nothing. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { SuperviseOptions } from "../../src/supervise/options.ts";
import { watch } from "../monitor/watching.ts";
import { ANN, type Desk, office, question } from "../workflows/office.ts";
import { atStep, FINAL } from "./refund.ts";

const act = (n: number) => ({ kind: "tool", name: "act", args: { n } });

function tools(done: string[]): SuperviseOptions["tools"] {
  const run = ({ n }: { n: number }) => void done.push(`do ${n}`);
  const undo = ({ n }: { n: number }) => void done.push(`undo ${n}`);
  return [{ name: "act", effect: "idempotent", policy: "approve", run, undo }];
}

/** Its model does not hear that nobody listens any more; it says what it is made to. */
async function thinking() {
  const place = office();
  const desk = place.open();
  const done: string[] = [];
  const heard: ((proposal: object) => void)[] = [];
  const propose = () =>
    new Promise<{ text: string }>((resolve) => {
      heard.push((proposal) => resolve({ text: JSON.stringify(proposal) }));
    });
  const running = desk.supervise({ goal: "g", tools: tools(done), model: { id: "deaf", propose } });
  const asked = (count: number) => place.until(async () => heard.length >= count);
  const say = async (proposal: object) => heard.at(-1)?.(proposal);
  await asked(1);
  await say(act(1));
  await asked(2);
  return { place, desk, done, running, asked, say, late: heard[1] };
}

const idOf = async (desk: Desk) => (await desk.workflows.list()).items[0]?.id ?? "";

describe("what a model says after its run", () => {
  test("was sent back is not done in the next attempt", async () => {
    const { place, desk, done, running, asked, say, late } = await thinking();
    await desk.workflows.rollback(await idOf(desk), { ...ANN, reason: "not so" });
    await place.pass(3_000);
    late?.(act(2));
    await asked(3);
    await say(FINAL);
    assert.equal((await place.finish(running)).stop_reason, "success");
    assert.deepEqual(done, ["do 1", "undo 1"]);
    await desk.close();
  });

  test("was cancelled is not done at all", async () => {
    const { place, desk, done, running, late } = await thinking();
    await desk.workflows.cancel(await idOf(desk), { ...ANN, reason: "enough" });
    await place.pass(1_000);
    late?.(act(2));
    assert.equal((await place.finish(running)).stop_reason, "cancelled");
    await place.pass(30_000);
    assert.deepEqual(done, ["do 1"]);
    await desk.close();
  });
});

describe("a supervised run that has used up its tokens", () => {
  /** Stopped after its second turn: the first call is done, the second only proposed. */
  async function stopped() {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    await watch(desk, [{ kind: "resources", name: "tokens", tokens: 150, raise: "checkpoint" }]);
    const model = atStep(act(1), act(2), FINAL);
    const running = desk.supervise({ goal: "g", tools: tools(done), model });
    const id = await question(place, desk);
    await place.pass(20_000);
    assert.deepEqual(done, ["do 1"], "nothing begins while a person is asked");
    return { place, desk, done, running, id };
  }

  test("goes on where it was once a person agrees", async () => {
    const { place, desk, done, running, id } = await stopped();
    await desk.approvals.approve(id, ANN);
    assert.equal((await place.finish(running)).stop_reason, "success");
    assert.deepEqual(done, ["do 1", "do 2"]);
    await desk.close();
  });

  test("is undone where a person does not, and what was only proposed is not called done", async () => {
    const { place, desk, done, running, id } = await stopped();
    await desk.approvals.reject(id, { ...ANN, reason: "too dear", final: true });
    const { stop_reason, trace } = await place.finish(running);
    assert.equal(stop_reason, "human_rejected");
    assert.deepEqual(done, ["do 1", "undo 1"]);
    assert.deepEqual(trace.at(-1), { step: 2, tool: "act", stop_reason: "human_rejected", ok: false });
    await desk.close();
  });
});
