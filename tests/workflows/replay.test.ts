/** What a definition sees when it is answered from the journal. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as realTime } from "node:timers/promises";
import { ANN, atRest, type Desk, office, question, reopen, types, waiting } from "./office.ts";

const done = { status: "completed" } as const;

describe("a suspension", () => {
  for (const [how, body] of [
    [
      "try and catch",
      async (wait: () => Promise<unknown>, seen: string[]) => {
        try {
          await wait();
        } catch {
          seen.push("caught");
        }
      },
    ],
    [
      "finally",
      async (wait: () => Promise<unknown>, seen: string[]) => {
        try {
          await wait();
        } finally {
          seen.push("cleaned up");
        }
      },
    ],
    ["Promise.allSettled", (wait: () => Promise<unknown>) => Promise.allSettled([wait()])],
    ["Promise.race", (wait: () => Promise<unknown>) => Promise.race([wait(), wait()])],
  ] as const)
    test(`is not seen by ${how}`, async () => {
      const place = office();
      const seen: string[] = [];
      const setUp = (desk: Desk) =>
        desk.workflow("w", {}, async (ctx, _: object) => {
          await body(() => ctx.ask("go", "Go on?"), seen);
          seen.push("went on");
          return "end";
        });
      const first = place.open();
      const handle = await setUp(first).start({});
      await atRest(place, first, handle.id);
      assert.deepEqual(seen, []);
      const desk = await reopen(place, first, setUp);
      await place.pass(20_000);
      assert.deepEqual(seen, []);
      await desk.approvals.approve(await question(place, desk), ANN);
      assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(handle.id)), {
        ...done,
        result: "end",
      });
      assert.deepEqual(seen, how === "finally" ? ["cleaned up", "went on"] : ["went on"]);
      await desk.close();
    });

  test("holds nothing: the one who waits is found again by whoever is there", async () => {
    const place = office();
    const setUp = (desk: Desk) =>
      desk.workflow(
        "w",
        {},
        async (ctx, _: object) => (await ctx.ask<string>("go", "Go on?", { suggestion: "yes" })).answered,
      );
    const first = place.open();
    const handle = await setUp(first).start({});
    await atRest(place, first, handle.id);
    await first.close();
    const people = place.open({ agent: "people" });
    await people.approvals.approve(await question(place, people), ANN);
    assert.equal((await people.workflows.get(handle.id)).isReady, true);
    const second = place.open();
    setUp(second);
    await second.work();
    assert.partialDeepStrictEqual(await place.finish(second.workflows.result(handle.id)), {
      ...done,
      result: true,
    });
    await Promise.all([people.close(), second.close()]);
  });
});

describe("branches side by side", () => {
  test("settle in the same order when they are replayed: what they wrote to one variable is the same", async () => {
    const place = office();
    const orders: string[] = [];
    const setUp = (desk: Desk) =>
      desk.workflow("w", {}, async (ctx, _: object) => {
        const order: string[] = [];
        const branch = (name: string, waits: readonly number[]) => async (own: typeof ctx) => {
          for (const ms of waits) {
            await own.sleep(ms);
            order.push(name);
            await own.step("tick", () => ms);
            order.push(name.toUpperCase());
          }
        };
        await ctx.parallel([
          branch("a", [30, 2_000, 10]),
          branch("b", [10, 40, 3_000]),
          branch("c", [20, 20, 20]),
        ]);
        orders.push(order.join(""));
        await ctx.ask("go", "Go on?");
        return order.join("");
      });
    const first = place.open();
    const handle = await setUp(first).start({});
    await atRest(place, first, handle.id);
    const desk = await reopen(place, first, setUp);
    await desk.approvals.approve(await question(place, desk), ANN);
    const result = await place.finish(desk.workflows.result(handle.id));
    assert.equal(new Set(orders).size, 1, orders.join(" "));
    assert.partialDeepStrictEqual(result, { ...done, result: orders[0] ?? "" });
    assert.ok(orders.length >= 2);
    await desk.close();
  });

  test("all end before the first error of theirs is thrown", async () => {
    const place = office();
    const desk = place.open();
    const ended: string[] = [];
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      await ctx.parallel([
        async (own) => own.step("one", () => Promise.reject(new Error("one is broken"))),
        async (own) => {
          await own.sleep(5_000);
          ended.push("two");
        },
      ]);
    });
    const result = await place.finish(flow.run({}));
    assert.partialDeepStrictEqual(result, { status: "failed", code: "error" });
    assert.match(JSON.stringify(result), /one is broken/);
    assert.deepEqual(ended, ["two"]);
    await desk.close();
  });

  test("that the definition does not wait for are replayed in their own time", async () => {
    const place = office();
    const setUp = (desk: Desk) =>
      desk.workflow("w", {}, async (ctx, _: object) => {
        const later = ctx.step("later", () => 1).then((one) => ctx.step("after it", () => one + 1));
        const slept = ctx.sleep(10_000);
        const two = await later;
        await slept;
        return two;
      });
    const first = place.open();
    const handle = await setUp(first).start({});
    await atRest(place, first, handle.id);
    const desk = await reopen(place, first, setUp);
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(handle.id)), {
      ...done,
      result: 2,
    });
    await desk.close();
  });
});

describe("what is awaited beside the context", () => {
  test("a real timer between two operations is waited for, the first time and in the replay", async () => {
    const place = office();
    let waits = 0;
    const setUp = (desk: Desk) =>
      desk.workflow("w", {}, async (ctx, _: object) => {
        const one = await ctx.step("one", () => 1);
        waits++;
        await realTime(30);
        const two = await ctx.step("two", () => one + 1);
        await ctx.ask("go", "Go on?");
        return two;
      });
    const first = place.open();
    const handle = await setUp(first).start({});
    const rest = async (desk: Desk) => {
      while ((await desk.workflows.get(handle.id)).runner !== null) await realTime(5);
    };
    await rest(first);
    const desk = await reopen(place, first, setUp);
    await desk.approvals.approve(await question(place, desk), ANN);
    const result = desk.workflows.result(handle.id);
    await realTime(60);
    assert.partialDeepStrictEqual(await place.finish(result), { ...done, result: 2 });
    assert.equal(waits, 2);
    await desk.close();
  });

  test("a real timer in one branch, beside a step of another that had not ended, is waited for too", async () => {
    const place = office();
    let hangs = true;
    const setUp = (desk: Desk) =>
      desk.workflow("w", {}, (ctx, _: object) =>
        ctx.parallel([
          async (own) => {
            await own.step("one", () => 1);
            await realTime(100);
            return own.step("two", () => 2);
          },
          (own) => own.step("long", () => (hangs ? new Promise<number>(() => undefined) : 3)),
        ]),
      );
    const first = place.open();
    const { id } = await setUp(first).start({});
    const hasBoth = async () =>
      types(await first.entries(id)).filter((type) => type === "step.completed").length === 2;
    while (!(await hasBoth())) await realTime(5);
    hangs = false;
    const second = await reopen(place, first, setUp);
    // Ten times what an operation of the same branch would be waited for passes on the test's own clock.
    await place.pass(10_000);
    await realTime(120);
    assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), {
      ...done,
      result: [2, 3],
    });
    await second.close();
  });
});

describe("values", () => {
  test("of now, random and version are the same in every replay, also inside branches", async () => {
    const place = office();
    const seen: string[] = [];
    const setUp = (desk: Desk) =>
      desk.workflow("w", {}, async (ctx, _: object) => {
        const own = [ctx.now(), ctx.random(), ctx.random(), ctx.version("v", 3)];
        const inner = await ctx.parallel([
          async (branch) => [branch.now(), branch.random()],
          async (branch) => [branch.now(), branch.random(), branch.version("w")],
        ]);
        await ctx.step("record", () => null);
        seen.push(JSON.stringify([own, inner]));
        await ctx.sleep(5_000);
        await ctx.sleep(5_000);
        return [own, inner];
      });
    const first = place.open();
    const handle = await setUp(first).start({});
    await atRest(place, first, handle.id);
    const desk = await reopen(place, first, setUp);
    const result = await place.finish(desk.workflows.result(handle.id));
    assert.equal(new Set(seen).size, 1);
    assert.equal(result.status === "completed" && JSON.stringify(result.result), seen[0]);
    await desk.close();
  });

  test("that come back are the definition's own: what it does to them stays there", async () => {
    const place = office();
    const setUp = (desk: Desk) =>
      desk.workflow("w", {}, async (ctx, input: { list: number[] }) => {
        input.list.push(9);
        const made = await ctx.step("make", () => ({ list: [1] }));
        made.list.push(2);
        await ctx.sleep(5_000);
        return [input, made];
      });
    const first = place.open();
    const handle = await setUp(first).start({ list: [0] });
    await atRest(place, first, handle.id);
    const desk = await reopen(place, first, setUp);
    const result = await place.finish(desk.workflows.result(handle.id));
    assert.partialDeepStrictEqual(result, { ...done, result: [{ list: [0, 9] }, { list: [1, 2] }] });
    await desk.close();
  });

  test("that are large are kept beside the journal and come back whole", async () => {
    const place = office();
    const text = "x".repeat(200_000);
    const setUp = (desk: Desk) =>
      desk.workflow("w", {}, async (ctx, input: { text: string }) => {
        const made = await ctx.step("make", () => ({ text: input.text.toUpperCase() }));
        const { outputs } = await ctx.checkpoint("Look", { outputs: { first: made.text.slice(0, 3) } });
        return { text: made.text, first: outputs.first };
      });
    const first = place.open();
    const handle = await setUp(first).start({ text });
    await atRest(place, first, handle.id);
    const desk = await reopen(place, first, setUp);
    await desk.approvals.approve(await question(place, desk), ANN);
    const result = await place.finish(desk.workflows.result(handle.id));
    assert.deepEqual(result, {
      ...done,
      workflow: handle.id,
      result: { text: text.toUpperCase(), first: "XXX" },
    });
    await desk.close();
  });
});

test("a log is written once, in its place, and with it what is given to it", async () => {
  const place = office();
  const setUp = (desk: Desk) =>
    desk.workflow("w", {}, async (ctx, _: object) => {
      ctx.log("one", { n: 1 });
      await ctx.step("work", () => 1);
      ctx.log("two");
      await ctx.sleep(5_000);
      ctx.log("three");
    });
  const first = place.open();
  const handle = await setUp(first).start({});
  await atRest(place, first, handle.id);
  const desk = await reopen(place, first, setUp);
  await place.finish(desk.workflows.result(handle.id));
  const logs = (await desk.entries(handle.id)).filter(({ type }) => type === "log.written");
  assert.deepEqual(
    logs.map(({ body }) => [body["text"], body["data"]]),
    [
      ["one", { n: 1 }],
      ["two", null],
      ["three", null],
    ],
  );
  await desk.close();
});

test("two processes that both know it: one runs it, and everything is done once", async () => {
  const place = office();
  const ran: string[] = [];
  const setUp = (desk: Desk, name: string) =>
    desk.workflow("w", {}, async (ctx, _: object) => {
      await ctx.step("one", () => void ran.push(`one ${name}`));
      await ctx.sleep(3_000);
      await ctx.step("two", () => void ran.push(`two ${name}`));
      await ctx.ask("go", "Go on?");
      await ctx.step("three", () => void ran.push(`three ${name}`));
    });
  const [one, two] = [place.open(), place.open()];
  setUp(two, "b");
  await two.work();
  const handle = await setUp(one, "a").start({});
  await one.approvals.approve((await waiting(place, one))[0] ?? "", ANN);
  await place.finish(handle.result());
  assert.deepEqual(
    ran.map((line) => line.split(" ")[0]),
    ["one", "two", "three"],
  );
  const taken = types(await one.entries(handle.id)).filter((type) => /started|resumed/.test(type));
  assert.equal(taken.length, 3);
  await Promise.all([one.close(), two.close()]);
});
