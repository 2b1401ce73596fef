/** Waiting: a millisecond or a year, over restarts, and under a clock that is put back. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { WorkflowContext } from "../../src/workflows/definition.ts";
import { settled } from "../fixtures/runtime.ts";
import { ANN, atRest, DAY, type Desk, type Office, office, question, reopen } from "./office.ts";

const LENGTHS = [
  ["1 ms", 1],
  ["24.7 days", 24.7 * DAY],
  ["24.9 days", 24.9 * DAY],
  ["30 days", 30 * DAY],
  ["90 days", 90 * DAY],
  ["365 days", 365 * DAY],
] as const;

/** Puts the clock there and lets whoever woke do its work, without another tick. */
async function goTo(place: Office, time: number): Promise<void> {
  await place.clock.set(time);
  await settled(60);
}

const sleeping = (desk: Desk, ms: number, woke: number[]) =>
  desk.workflow("w", {}, async (ctx, _: object) => {
    await ctx.sleep(ms);
    woke.push(desk.runtime.clock.now());
    return "awake";
  });

describe("a sleep of", () => {
  for (const [name, ms] of LENGTHS) {
    test(`${name} ends then, and not a millisecond before`, async () => {
      const place = office();
      const desk = place.open();
      const woke: number[] = [];
      const begun = place.clock.now();
      const handle = await sleeping(desk, ms, woke).start({});
      await settled(40);
      const end = begun + Math.ceil(ms);
      await goTo(place, end - 1);
      assert.deepEqual(woke, []);
      await goTo(place, end);
      assert.deepEqual(woke, [end]);
      assert.partialDeepStrictEqual(await place.finish(handle.result()), {
        status: "completed",
        result: "awake",
      });
      await desk.close();
    });

    test(`${name} goes on where it was when its process dies in the middle`, async () => {
      const place = office();
      const woke: number[] = [];
      const begun = place.clock.now();
      const first = place.open();
      const handle = await sleeping(first, ms, woke).start({});
      await settled(40);
      await goTo(place, begun + Math.floor(ms / 2));
      const second = await reopen(place, first, (desk) => sleeping(desk, ms, woke));
      await settled(40);
      const end = begun + Math.ceil(ms);
      if (ms > 1) await goTo(place, end - 1);
      assert.deepEqual(woke, []);
      // Whoever finds a dead process's work does so at its next look.
      assert.partialDeepStrictEqual(await place.finish(second.workflows.result(handle.id)), {
        result: "awake",
      });
      assert.ok((woke[0] ?? 0) >= end && (woke[0] ?? 0) <= end + 10_000, `${(woke[0] ?? 0) - end}`);
      await second.close();
    });
  }

  test("90 days holds no timer of that length: nobody runs it, and it is due then", async () => {
    const place = office();
    const desk = place.open();
    const { id } = await sleeping(desk, 90 * DAY, []).start({});
    const { wakeAt, runner, waits } = await atRest(place, desk, id);
    assert.equal(runner, null);
    assert.ok(wakeAt !== null && wakeAt - place.clock.now() > 89 * DAY);
    assert.deepEqual(
      waits.map(({ kind, on }) => [kind, on]),
      [["sleep", "time"]],
    );
    await desk.close();
  });
});

describe("a clock that is put back during a sleep", () => {
  for (const [name, ms] of [
    ["short", 40],
    ["long", DAY],
  ] as const)
    test(`makes a ${name} one longer, and never shorter`, async () => {
      const place = office();
      const desk = place.open();
      const woke: number[] = [];
      const begun = place.clock.now();
      const handle = await sleeping(desk, ms, woke).start({});
      await settled(40);
      await goTo(place, begun - DAY);
      await goTo(place, begun + ms - 1);
      assert.deepEqual(woke, []);
      await place.finish(handle.result());
      assert.ok((woke[0] ?? 0) >= begun + ms);
      await desk.close();
    });
});

describe("beside a step that runs on", () => {
  const beside = (desk: Desk, wait: (ctx: WorkflowContext) => Promise<unknown>, gate: Promise<unknown>) =>
    desk.workflow("w", {}, async (ctx, _: object) => {
      const long = ctx.step("long", () => gate).then(() => "step");
      const first = await Promise.race([long, wait(ctx).then(() => "time")]);
      return first;
    });

  for (const [what, wait] of [
    ["a sleep", (ctx) => ctx.sleep(60_000)],
    [
      "the next attempt of another step",
      (ctx) => {
        const retries = { attempts: 2, backOffMs: 60_000, jitter: 0 };
        const work = ({ attempt }: { attempt: number }) =>
          attempt === 1 ? Promise.reject(new Error("not yet")) : Promise.resolve(1);
        return ctx.step("other", { retries }, work);
      },
    ],
  ] as const satisfies readonly (readonly [string, (ctx: WorkflowContext) => Promise<unknown>])[])
    test(`${what} comes in its time`, async () => {
      const place = office();
      const desk = place.open();
      const gate = Promise.withResolvers<null>();
      const begun = place.clock.now();
      const handle = await beside(desk, wait, gate.promise).start({});
      assert.partialDeepStrictEqual(await place.finish(handle.result()), {
        status: "completed",
        result: "time",
      });
      assert.ok(place.clock.now() - begun >= 60_000);
      gate.resolve(null);
      await place.finish(desk.close());
    });
});

describe("sleepUntil", () => {
  test("a time or a date that is past ends at once", async () => {
    const place = office();
    const desk = place.open();
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      await ctx.sleepUntil(new Date(place.clock.now() - DAY));
      await ctx.sleepUntil(0);
      return "awake";
    });
    assert.partialDeepStrictEqual(await place.finish(flow.run({})), { result: "awake" });
    await desk.close();
  });
});

describe("a checkpoint with a time limit", () => {
  const setUp = (desk: Desk, timeoutSeconds: number | null, done: string[]) => {
    const book = desk.gate({
      name: "book",
      policy: "approve",
      effect: "idempotent",
      undo: () => void done.push("undo"),
      run: () => void done.push("book"),
    });
    return desk.workflow("w", { checkpoints: [{ name: "Look", timeoutSeconds }] }, async (ctx, _: object) => {
      await ctx.call(book, {});
      const { decision } = await ctx.checkpoint("Look");
      return [decision, ctx.attempt, ctx.sentBack?.rejectedCheckpoint ?? null, ctx.sentBack?.by ?? null];
    });
  };

  test("that nobody keeps expires: it takes the path of a rejection, and may be tried again", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const { id } = await setUp(desk, 300, done).start({});
    const first = await question(place, desk);
    await place.clock.set(place.clock.now() + 301_000);
    await place.until(async () => (await desk.workflows.get(id)).attempt === 2);
    assert.partialDeepStrictEqual(await desk.workflows.get(id), {
      lastDecision: { decision: "expired", approval: first },
    });
    assert.equal((await desk.approvals.get(first)).status, "expired");
    await desk.approvals.approve(await question(place, desk), ANN);
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), {
      status: "completed",
      result: ["approved", 2, "Look", "deadline"],
    });
    assert.deepEqual(done, ["book", "undo", "book"]);
    await desk.close();
  });

  test("that expires every time fails when its attempts are used up, and everything is undone", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const { id } = await setUp(desk, 300, done).start({});
    for (let attempt = 1; attempt <= 5; attempt++) {
      await question(place, desk);
      await place.clock.set(place.clock.now() + 301_000);
      await place.until(async () => {
        const { attempt: now, end } = await desk.workflows.get(id);
        return now > attempt || end !== null;
      });
    }
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), {
      status: "failed",
      code: "expired",
    });
    assert.equal(done.filter((line) => line === "book").length, 5);
    assert.equal(done.filter((line) => line === "undo").length, 5);
    await desk.close();
  });

  test("of null waits for years", async () => {
    const place = office();
    const desk = place.open();
    const { id } = await setUp(desk, null, []).start({});
    const asked = await question(place, desk);
    await goTo(place, place.clock.now() + 3 * 365 * DAY);
    await place.pass(5_000);
    assert.equal((await desk.workflows.get(id)).status, "awaiting_approval");
    await desk.approvals.approve(asked, ANN);
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), { status: "completed" });
    await desk.close();
  });

  test("is kept by a vote in the last millisecond", async () => {
    const place = office();
    const desk = place.open();
    const { id } = await setUp(desk, 300, []).start({});
    const asked = await question(place, desk);
    const { decideBy } = await desk.approvals.get(asked);
    await goTo(place, (decideBy ?? 0) - 1);
    await desk.approvals.approve(asked, ANN);
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), {
      status: "completed",
      result: ["approved", 1, null, null],
    });
    await desk.close();
  });
});

test("a question with a time limit answers that nobody answered", async () => {
  const place = office();
  const desk = place.open();
  const flow = desk.workflow("w", {}, (ctx, _: object) => ctx.ask("colour", "Which?", { withinMs: 60_000 }));
  assert.partialDeepStrictEqual(await place.finish(flow.run({})), {
    result: { answered: false, why: "expired" },
  });
  await desk.close();
});

test("whichever comes first: a question or a sleep, and nobody is left with the question", async () => {
  const place = office();
  const setUp = (desk: Desk) =>
    desk.workflow("w", {}, (ctx, _: object) =>
      Promise.race([ctx.ask("go", "Go on?").then(() => "answer"), ctx.sleep(60_000).then(() => "time")]),
    );
  const first = place.open();
  const { id } = await setUp(first).start({});
  await atRest(place, first, id);
  const second = await reopen(place, first, setUp);
  assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), {
    status: "completed",
    result: "time",
  });
  await place.pass(2_000);
  assert.equal(await second.approvals.count(), 0);
  await second.close();
});
