/** Who is there, on the memory store: processes that come, work, freeze, die and end. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { office } from "../../tests/workflows/office.ts";
import { countNodesWith, listNodes } from "./epochs.ts";
import { bindLibrary } from "./verb.ts";
import { nodeVerbs } from "./verbs.ts";

const statuses = async (place: Parameters<typeof listNodes>[0], all = false) =>
  (await listNodes(place, { all })).items.map(({ process, status }) => `${process} ${status}`);

describe("the nodes of a tenant", () => {
  test("are those that execute, newest first, and with what they have in hand", async () => {
    const place = office();
    const [idle, busy] = [place.open({ agent: "idle" }), place.open({ agent: "busy" })];
    await idle.runtime.epoch();
    await place.pass(1_000);
    const held = Promise.withResolvers<string>();
    const slow = busy.gate({ name: "slow", policy: "approve", run: () => held.promise });
    const flow = busy.workflow("errand", {}, async (ctx) => (await ctx.call(slow, {})).status);
    const waits = busy.workflow("nap", {}, async (ctx) => ctx.sleep(86_400_000));
    const [{ id }] = [await flow.start({}), await waits.start({})];
    await place.until(async () => (await listNodes(busy.runtime)).items[0]?.effects === 1);
    await place.until(async () => (await listNodes(busy.runtime)).items[0]?.workflows === 1);
    const { items } = await listNodes(idle.runtime);
    assert.partialDeepStrictEqual(items, [
      { agent: "agent:busy", status: "live", kind: "program", version: null, workflows: 1, effects: 1 },
      { agent: "agent:idle", status: "live", tenant: "acme", workflows: 0, effects: 0, endedAt: null },
    ]);
    held.resolve("done");
    await place.finish(busy.workflows.result(id));
    await place.finish(busy.close());
    assert.deepEqual(await statuses(idle.runtime), ["test/1 live"]);
    assert.deepEqual(await statuses(idle.runtime, true), ["test/2 closed", "test/1 live"]);
    await place.finish(idle.close());
  });

  test("that died with nothing in hand are lapsed, until one that executes says so", async () => {
    const place = office();
    const dead = place.open();
    await dead.runtime.epoch();
    dead.crash();
    const looks = place.open();
    assert.deepEqual(await statuses(looks.runtime), ["test/1 lapsed"]);
    // Whoever only looks ends nobody.
    assert.deepEqual(await statuses(looks.runtime, true), ["test/1 lapsed"]);
    const [node] = (await listNodes(looks.runtime)).items;
    await looks.runtime.epoch();
    await place.until(async () => (await statuses(looks.runtime)).length === 1);
    assert.deepEqual(await statuses(looks.runtime), ["test/2 live"]);
    const [, gone] = (await listNodes(looks.runtime, { all: true })).items;
    const { endedAt, ...same } = gone ?? assert.fail("it is shown");
    const { endedAt: _, ...before } = node ?? assert.fail("it was shown");
    assert.deepEqual(same, { ...before, status: "died" });
    assert.ok(Number(endedAt) >= same.openedAt);
    await place.finish(looks.close());
  });

  test("come in pages", async () => {
    const place = office();
    const desks = [place.open(), place.open(), place.open()];
    for (const desk of desks) await desk.runtime.epoch();
    const [first] = desks;
    if (first === undefined) assert.fail("three desks");
    const one = await listNodes(first.runtime, { limit: 2 });
    const two = await listNodes(first.runtime, { limit: 2, after: one.next ?? "" });
    const seen = [...one.items, ...two.items].map(({ process }) => process);
    assert.deepEqual(seen.toSorted(), ["test/1", "test/2", "test/3"]);
    assert.equal(two.next, null);
    const { list } = bindLibrary(async () => first.runtime, nodeVerbs);
    await assert.rejects(list({ all: "yes" } as object), { code: "invalid_input" });
    await assert.rejects(listNodes(first.runtime, { after: "1-wf_1" }), { code: "invalid_input" });
    for (const desk of desks) await place.finish(desk.close());
  });
});

describe("which of them have a definition", () => {
  test("is told by those that said so; one that says nothing might", async () => {
    const place = office();
    const silent = place.open();
    assert.equal(await countNodesWith(silent.runtime, "deploy"), 0);
    await silent.runtime.epoch();
    assert.equal(await countNodesWith(silent.runtime, "deploy"), null);
    const knows = place.open({ says: ["deploy", "errand"] });
    await knows.runtime.epoch();
    assert.equal(await countNodesWith(silent.runtime, "deploy"), 1);
    assert.equal(await countNodesWith(silent.runtime, "other"), null);
    silent.crash();
    assert.equal(await countNodesWith(knows.runtime, "other"), 0);
    await place.finish(knows.close());
    assert.equal(await countNodesWith(place.open().runtime, "deploy"), 0);
  });
});
