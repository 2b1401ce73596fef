/** A definition that is not the one that the journal was written by: found out, told, and nothing is done. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { WorkflowContext } from "../../src/workflows/definition.ts";
import { ANN, atRest, type Desk, office, question, reopen, types } from "./office.ts";

type Body = (ctx: WorkflowContext, tools: Tools) => Promise<unknown>;
type Tools = { readonly ran: string[]; readonly book: ReturnType<typeof bookIn> };

const bookIn = (desk: Desk, ran: string[]) =>
  desk.gate({
    name: "book",
    policy: "approve",
    run: ({ room }: { room: string }) => {
      ran.push(`book ${room}`);
      return { room };
    },
  });

const setUp = (desk: Desk, ran: string[], body: Body) => {
  const book = bookIn(desk, ran);
  return desk.workflow("w", {}, (ctx, _: object) => body(ctx, { ran, book }));
};

const step = (ctx: WorkflowContext, { ran }: Tools, name: string) =>
  ctx.step(name, () => {
    ran.push(name);
    return name;
  });

const original: Body = async (ctx, tools) => {
  await step(ctx, tools, "one");
  await ctx.call(tools.book, { room: "A" });
  await step(ctx, tools, "two");
  const { answered } = await ctx.ask("go", "Go on?");
  await step(ctx, tools, "three");
  return answered;
};

const CHANGES: readonly (readonly [string, Body, RegExp])[] = [
  [
    "an operation inserted",
    async (ctx, tools) => {
      await step(ctx, tools, "one");
      await step(ctx, tools, "new");
      await ctx.call(tools.book, { room: "A" });
      await step(ctx, tools, "two");
      await ctx.ask("go", "Go on?");
      await step(ctx, tools, "three");
    },
    /the journal has call "book#1", the definition asks for step "new#1"/,
  ],
  [
    "an operation removed",
    async (ctx, tools) => {
      await step(ctx, tools, "one");
      await step(ctx, tools, "two");
      await ctx.ask("go", "Go on?");
    },
    /the journal has call "book#1"/,
  ],
  [
    "an operation renamed",
    async (ctx, tools) => {
      await step(ctx, tools, "first");
      await ctx.call(tools.book, { room: "A" });
    },
    /the journal has step "one#1", the definition asks for step "first#1"/,
  ],
  [
    "operations in another order",
    async (ctx, tools) => {
      await step(ctx, tools, "two");
      await ctx.call(tools.book, { room: "A" });
      await step(ctx, tools, "one");
      await ctx.ask("go", "Go on?");
    },
    /the journal has step "one#1"/,
  ],
  [
    "other arguments",
    async (ctx, tools) => {
      await step(ctx, tools, "one");
      await ctx.call(tools.book, { room: "B" });
      await step(ctx, tools, "two");
      await ctx.ask("go", "Go on?");
    },
    /the arguments of .*book#1.* are not those recorded/,
  ],
  [
    "an operation of another kind under the same name",
    async (ctx, tools) => {
      await step(ctx, tools, "one");
      await ctx.step("book", () => void tools.ran.push("book as a step"));
      await step(ctx, tools, "two");
    },
    /the journal has call .*book#1.*, the definition asks for a step/,
  ],
  [
    "nothing any more",
    async (ctx, tools) => {
      await step(ctx, tools, "one");
      return "done";
    },
    /the journal has call "book#1", the definition ends without it/,
  ],
  [
    "an error of its own",
    async (ctx, tools) => {
      await step(ctx, tools, "one");
      throw new Error("I am new");
    },
    /the journal has call "book#1", the definition threw "I am new"/,
  ],
  [
    "an end before what is waited for",
    async (ctx, tools) => {
      await step(ctx, tools, "one");
      await ctx.call(tools.book, { room: "A" });
      await step(ctx, tools, "two");
    },
    /the journal has question "go#1", the definition ends without it/,
  ],
  [
    "another operation in place of what is waited for",
    async (ctx, tools) => {
      await step(ctx, tools, "one");
      await ctx.call(tools.book, { room: "A" });
      await step(ctx, tools, "two");
      await step(ctx, tools, "instead");
      await step(ctx, tools, "three");
    },
    /the journal has question "go#1", the definition asks for step "instead#1"/,
  ],
];

/** Runs the original until it asks, and lets people answer while nobody is there. */
async function underWay(isAnswered: boolean) {
  const place = office();
  const ran: string[] = [];
  const first = place.open();
  const { id } = await setUp(first, ran, original).start({});
  await atRest(place, first, id);
  assert.deepEqual(ran, ["one", "book A", "two"]);
  if (!isAnswered) await first.runtime.close();
  const people = place.open({ agent: "people" });
  if (isAnswered) {
    first.crash();
    await people.approvals.approve(await question(place, people), ANN);
  }
  return { place, ran, id, people, first };
}

describe("a definition with", () => {
  for (const [what, body, difference] of CHANGES)
    test(`${what} is refused with what differs, does nothing, and goes on when the right one is back`, async () => {
      const { place, ran, id, people, first } = await underWay(true);
      const second = await reopen(place, first, (desk) => setUp(desk, ran, body));
      const state = await atRest(place, second, id);
      assert.equal(state.status, "executing");
      assert.deepEqual(
        state.waits.map(({ kind }) => kind),
        ["definition"],
      );
      assert.match(state.waits[0]?.on ?? "", difference);
      assert.deepEqual(
        second.notices
          .filter(({ kind }) => kind === "definition_changed")
          .map((notice) => "workflow" in notice && notice.workflow),
        [id],
      );
      await place.pass(30_000);
      assert.deepEqual(ran, ["one", "book A", "two"]);
      const third = await reopen(place, second, (desk) => setUp(desk, ran, original));
      const result = await place.finish(third.workflows.result(id));
      assert.partialDeepStrictEqual(result, { status: "completed", result: true });
      assert.deepEqual(ran, ["one", "book A", "two", "three"]);
      await Promise.all([people.close(), third.close()]);
    });

  test("another future is no change: what was not reached yet may be anything", async () => {
    const { place, ran, id, people, first } = await underWay(true);
    const second = await reopen(place, first, (desk) =>
      setUp(desk, ran, async (ctx, tools) => {
        await step(ctx, tools, "one");
        await ctx.call(tools.book, { room: "A" });
        await step(ctx, tools, "two");
        await ctx.ask("go", "Go on?");
        await ctx.call(tools.book, { room: "B" });
        return "new end";
      }),
    );
    const result = await place.finish(second.workflows.result(id));
    assert.partialDeepStrictEqual(result, { status: "completed", result: "new end" });
    assert.deepEqual(ran, ["one", "book A", "two", "book B"]);
    await Promise.all([people.close(), second.close()]);
  });
});

describe("ctx.version", () => {
  const withVersion: Body = async (ctx, tools) => {
    await step(ctx, tools, "one");
    const version = ctx.version("book later", 1);
    if (version === 0) await ctx.call(tools.book, { room: "A" });
    await step(ctx, tools, "two");
    await ctx.ask("go", "Go on?");
    if (version >= 1) await ctx.call(tools.book, { room: "later" });
    return version;
  };

  test("is 0 for a workflow that had passed the place, which keeps the old way to its end", async () => {
    const { place, ran, id, people, first } = await underWay(true);
    const second = await reopen(place, first, (desk) => setUp(desk, ran, withVersion));
    const result = await place.finish(second.workflows.result(id));
    assert.partialDeepStrictEqual(result, { status: "completed", result: 0 });
    assert.deepEqual(ran, ["one", "book A", "two"]);
    assert.ok(!types(await second.entries(id)).includes("value.recorded"));
    await Promise.all([people.close(), second.close()]);
  });

  test("is the new one for a workflow that comes by for the first time, and stays so", async () => {
    const place = office();
    const ran: string[] = [];
    const first = place.open();
    const { id } = await setUp(first, ran, withVersion).start({});
    await atRest(place, first, id);
    const second = await reopen(place, first, (desk) =>
      setUp(desk, ran, async (ctx, tools) => {
        await step(ctx, tools, "one");
        // The place has changed once more since.
        const version = ctx.version("book later", 2);
        if (version === 0) await ctx.call(tools.book, { room: "A" });
        await step(ctx, tools, "two");
        await ctx.ask("go", "Go on?");
        await ctx.call(tools.book, { room: version === 1 ? "later" : "never" });
        return version;
      }),
    );
    await second.approvals.approve(await question(place, second), ANN);
    const result = await place.finish(second.workflows.result(id));
    assert.partialDeepStrictEqual(result, { status: "completed", result: 1 });
    assert.deepEqual(ran, ["one", "two", "book later"]);
    await second.close();
  });

  test("is 0 also where the journal ends in something that still waits", async () => {
    const { place, ran, id, people } = await underWay(false);
    const second = place.open();
    setUp(second, ran, async (ctx, tools) => {
      const version = ctx.version("from the start", 1);
      await step(ctx, tools, "one");
      await ctx.call(tools.book, { room: "A" });
      await step(ctx, tools, "two");
      const inside = ctx.version("before the question", 1);
      await ctx.ask("go", "Go on?");
      const after = ctx.version("after the question", 1);
      return [version, inside, after];
    });
    await people.approvals.approve(await question(place, people), ANN);
    await second.work();
    const result = await place.finish(second.workflows.result(id));
    assert.partialDeepStrictEqual(result, { status: "completed", result: [0, 0, 1] });
    await Promise.all([people.close(), second.close()]);
  });
});

test("a workflow whose definition nobody knows is left as it is until somebody does", async () => {
  const { place, ran, id, people, first } = await underWay(true);
  const other = await reopen(place, first, (desk) => desk.workflow("another", {}, async () => 1));
  await place.pass(10_000);
  assert.partialDeepStrictEqual(await people.workflows.get(id), { status: "executing", isReady: true });
  const third = await reopen(place, other, (desk) => setUp(desk, ran, original));
  assert.partialDeepStrictEqual(await place.finish(third.workflows.result(id)), { status: "completed" });
  await Promise.all([people.close(), third.close()]);
});
