/** Workflows that are asked for by their names, by a process that does not have their definitions. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { z } from "zod";
import { ANN, BOB, type Desk, office, question, types } from "./office.ts";

const input = z.object({ to: z.string(), replicas: z.number().int().default(2) });

function declare(desk: Desk, seen: unknown[] = []) {
  const checkpoints = [{ name: "Look", description: "before it goes out" }];
  const parties = { supervisor: "person:sue", poster: "person:nobody" };
  return desk.workflow("deploy", { input, checkpoints, attempts: 3, parties }, async (ctx, given) => {
    seen.push(given);
    await ctx.checkpoint("Look");
    return `${given.to} × ${given.replicas}`;
  });
}

async function asked(request: Parameters<Desk["workflows"]["start"]>[2] = {}, given: object = { to: "eu" }) {
  const place = office();
  const asker = place.open({ agent: "asker" });
  const made = await asker.workflows.start("deploy", given, request);
  return { place, asker, ...made };
}

describe("a workflow that is asked for by its name", () => {
  test("waits for a process that has the definition, and is then what that makes of it", async () => {
    const { place, asker, id, nodes, isNew } = await asked(ANN);
    assert.deepEqual([nodes, isNew], [0, true]);
    assert.partialDeepStrictEqual(await asker.workflows.get(id), {
      status: "initialized",
      isReady: true,
      input: { to: "eu" },
      parties: { poster: "person:ann" },
    });
    const worker = place.open({ agent: "worker" });
    const seen: unknown[] = [];
    declare(worker, seen);
    await worker.work();
    await worker.approvals.approve(await question(place, worker), BOB);
    const end = await place.finish(asker.workflows.result(id));
    assert.partialDeepStrictEqual(end, { status: "completed", result: "eu × 2" });
    assert.deepEqual(seen[0], { to: "eu", replicas: 2 });
    assert.partialDeepStrictEqual(await asker.workflows.get(id), {
      agent: "agent:worker",
      requester: ["agent:worker"],
      parties: { poster: "person:ann", supervisor: "person:sue" },
      input: { to: "eu", replicas: 2 },
      attempts: 3,
      checkpoints: [{ name: "Look", description: "before it goes out" }],
    });
    const first = types(await asker.entries(id)).slice(0, 4);
    const begin = ["workflow.created", "workflow.requested", "workflow.defined", "workflow.started"];
    assert.deepEqual(first, begin);
    await place.finish(worker.close());
    await asker.close();
  });

  test("with an input that does not fit has failed, and says why; the definition never ran", async () => {
    const { place, asker, id } = await asked({}, { to: 7 });
    const worker = place.open({ agent: "worker" });
    const seen: unknown[] = [];
    declare(worker, seen);
    await worker.work();
    const end = await place.finish(asker.workflows.result(id));
    assert.partialDeepStrictEqual(end, { status: "failed", code: "invalid_args", by: "agent:worker" });
    assert.match(end.status === "failed" ? end.reason : "", /does not fit the workflow "deploy": .*to/);
    assert.deepEqual(seen, []);
    assert.deepEqual(worker.notices, []);
    await place.finish(worker.close());
  });

  test("whose definition cannot tell its complexity has failed too, and nobody tries for ever", async () => {
    const { place, asker, id } = await asked();
    const worker = place.open();
    const complexity = () => assert.fail("no idea");
    worker.workflow("deploy", { complexity }, async () => 1);
    await worker.work();
    const end = await place.finish(asker.workflows.result(id));
    assert.partialDeepStrictEqual(end, { status: "failed", code: "error" });
    assert.match(end.status === "failed" ? end.reason : "", /could not be told: no idea/);
    await place.finish(worker.close());
  });

  test("is the same one under the same request id, wherever it is asked for, and another is refused", async () => {
    const { place, asker, id } = await asked({ requestId: "r" });
    const worker = place.open();
    const flow = declare(worker);
    const again = await worker.workflows.start("deploy", { to: "eu" }, { requestId: "r" });
    assert.deepEqual([again.id, again.isNew], [id, false]);
    // By the program that has the definition: what that makes of the input is the same.
    await question(place, worker);
    assert.equal((await flow.start({ to: "eu", replicas: 2 }, { requestId: "r" })).id, id);
    const other = asker.workflows.start("deploy", { to: "us" }, { requestId: "r" });
    await assert.rejects(other, { code: "request_conflict", details: { workflow: id } });
    assert.equal((await asker.workflows.list()).items.length, 1);
    await place.finish(worker.close());
  });

  test("is the same for a program that has the definition and starts it under its request id, begun or not", async () => {
    const { place, asker, id } = await asked({ requestId: "r" });
    const worker = place.open();
    const flow = declare(worker);
    // Nobody has taken it up: what the definition would make of the input is not known yet.
    assert.equal((await flow.start({ to: "eu" } as never, { requestId: "r" })).id, id);
    await worker.approvals.approve(await question(place, worker), BOB);
    assert.partialDeepStrictEqual(await place.finish(asker.workflows.result(id)), { result: "eu × 2" });
    assert.equal((await flow.start({ to: "eu" } as never, { requestId: "r" })).id, id);
    const other = flow.start({ to: "us" } as never, { requestId: "r" });
    await assert.rejects(other, { code: "request_conflict" });
    await place.finish(worker.close());
  });

  test("is the one that a program has started under that request id, whatever its definition made of the input", async () => {
    const place = office();
    const worker = place.open();
    const { id } = await declare(worker).start({ to: "eu" } as never, { requestId: "r" });
    const asker = place.open();
    const again = await asker.workflows.start("deploy", { to: "eu" }, { requestId: "r" });
    assert.deepEqual([again.id, again.isNew], [id, false]);
    const same = await asker.workflows.start("deploy", { to: "eu", replicas: 2 }, { requestId: "r" });
    assert.equal(same.id, id);
    const other = asker.workflows.start("deploy", { to: "eu", replicas: 3 }, { requestId: "r" });
    await assert.rejects(other, { code: "request_conflict" });
    await place.finish(worker.close());
  });

  test("is not approved by whom it is done for, nor by its poster where duties are separated", async () => {
    const { place, id } = await asked({ ...ANN, onBehalfOf: ["person:bob"] });
    const worker = place.open({ agent: "worker" });
    const separate = { checkpoints: [{ name: "Look", approvers: { separate: true } }] };
    worker.workflow("deploy", separate, async (ctx) => {
      await ctx.checkpoint("Look");
      return "out";
    });
    await worker.work();
    const approval = await question(place, worker);
    await assert.rejects(worker.approvals.approve(approval, BOB), { code: "not_eligible" });
    await assert.rejects(worker.approvals.approve(approval, ANN), { code: "not_eligible" });
    await worker.approvals.approve(approval, { by: "person:cat" });
    assert.partialDeepStrictEqual(await place.finish(worker.workflows.result(id)), { result: "out" });
    assert.deepEqual((await worker.workflows.get(id)).requester, ["agent:worker", "person:bob"]);
    await place.finish(worker.close());
  });

  test("by a program is done for that program, and for whomever it names", async () => {
    const { asker, id } = await asked({ onBehalfOf: ["person:bob"] });
    assert.deepEqual((await asker.workflows.get(id)).requester, ["agent:asker", "person:bob"]);
    const named = await asker.workflows.start("deploy", {}, { by: "service:ci" });
    assert.deepEqual((await asker.workflows.get(named.id)).requester, ["service:ci"]);
  });

  test("can be cancelled while nobody has it, and is not taken up then", async () => {
    const { place, asker, id } = await asked();
    await asker.workflows.cancel(id, { ...ANN, reason: "not today" });
    const worker = place.open();
    const seen: unknown[] = [];
    declare(worker, seen);
    await worker.work();
    await place.pass(7_000);
    assert.deepEqual(seen, []);
    assert.equal((await worker.workflows.get(id)).status, "failed");
    await place.finish(worker.close());
  });

  test("may be given more than stands in the journal itself", async () => {
    const { place, asker, id } = await asked({ requestId: "big" }, { to: "e".repeat(100_000) });
    const again = await asker.workflows.start("deploy", { to: "e".repeat(100_000) }, { requestId: "big" });
    assert.deepEqual([again.id, again.isNew], [id, false]);
    const worker = place.open();
    declare(worker);
    await worker.work();
    await worker.approvals.approve(await question(place, worker), BOB);
    const end = await place.finish(asker.workflows.result(id));
    assert.equal(end.status === "completed" && String(end.result).length, 100_004);
    await place.finish(worker.close());
  });

  test("takes the terms that it was asked for under along", async () => {
    const { place, asker, id } = await asked({ approvalRequired: true });
    const worker = place.open();
    const mail = worker.gate({ name: "mail", policy: "approve", run: () => "sent" });
    worker.workflow("deploy", {}, async (ctx) => (await ctx.call(mail, {})).status);
    await worker.work();
    await worker.approvals.approve(await question(place, worker), BOB);
    assert.partialDeepStrictEqual(await place.finish(asker.workflows.result(id)), { result: "done" });
    await place.finish(worker.close());
  });

  for (const point of ["before_take", "after_take"] as const)
    test(`goes on elsewhere when the process that takes it up dies ${point.replace("_", " it did: ")}`, async () => {
      const { place, asker, id } = await asked();
      const dies = Promise.withResolvers<void>();
      const reach = (at: string) => {
        if (at !== point) return undefined;
        dies.resolve();
        return new Promise<void>(() => undefined);
      };
      const first = place.open({ reach });
      declare(first);
      await first.work();
      await dies.promise;
      first.crash();
      const second = place.open();
      declare(second);
      await second.work();
      await second.approvals.approve(await question(place, second), BOB);
      assert.partialDeepStrictEqual(await place.finish(asker.workflows.result(id)), { result: "eu × 2" });
      const defined = types(await asker.entries(id)).filter((type) => type === "workflow.defined");
      assert.equal(defined.length, 1);
      await second.close();
    });

  for (const [what, name, given, request] of [
    ["a name that no definition can have", "a/b", {}, {}],
    ["a field that there is none of", "deploy", {}, { notify: () => undefined }],
    ["an asker that is nobody", "deploy", {}, { by: "ann" }],
    ["people that are no principals", "deploy", {}, { onBehalfOf: ["bob"] }],
    ["an input that JSON cannot hold", "deploy", { n: Number.NaN }, {}],
    ["an empty request id", "deploy", {}, { requestId: "" }],
  ] as const)
    test(`is refused with ${what}, and nothing is written`, async () => {
      const asker = office().open();
      const start = asker.workflows.start(name, given, request as object);
      await assert.rejects(start, (error: { code?: string }) => /^invalid_/.test(String(error.code)));
      assert.equal((await asker.workflows.list()).items.length, 0);
    });
});
