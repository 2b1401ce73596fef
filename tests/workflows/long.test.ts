/** Workflows of thousands of operations: what a restart reads and does grows with their number, and no faster. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { WorkflowContext } from "../../src/workflows/definition.ts";
import { kit } from "./kit.ts";
import { ANN, type Desk, office } from "./office.ts";

type Tools = ReturnType<typeof kit>;
type One = (ctx: WorkflowContext, index: number, tools: Tools) => Promise<unknown>;

const STEP: One = (ctx, index) => ctx.step("step", () => index);

/** Counts what a process reads from its store, and how often it asks for it. */
function reads(desk: Desk): { readonly calls: number; readonly entries: number } {
  const seen = { calls: 0, entries: 0 };
  const { read } = desk.store;
  (desk.store as { read: unknown }).read = async (...args: Parameters<typeof read>) => {
    const page = await read(...args);
    seen.calls++;
    seen.entries += page.length;
    return page;
  };
  return seen;
}

/** Runs so many operations, dies, and is taken up by a process that is watched. */
async function resumed(count: number, one: One) {
  const place = office();
  let begun = 0;
  const setUp = (desk: Desk) => {
    const tools = kit(desk, []);
    return desk.workflow(
      "long",
      { checkpoints: [{ name: "Look", requiresApproval: false }] },
      async (ctx, _: object) => {
        begun++;
        let sum = 0;
        for (let index = 0; index < count; index++) sum += Number(await one(ctx, index, tools)) || 0;
        await ctx.ask("go", "Go on?");
        return sum;
      },
    );
  };
  const first = place.open();
  const { id } = await setUp(first).start({});
  while ((await first.approvals.count()) === 0) await new Promise<void>((resolve) => setImmediate(resolve));
  const [asked] = (await first.approvals.list()).items;
  const { seq } = await first.workflows.get(id);
  first.crash();
  const people = place.open({ agent: "people" });
  await people.approvals.approve(asked?.id ?? "", ANN);
  const second = place.open();
  const seen = reads(second);
  setUp(second);
  await second.work();
  const result = second.workflows.result(id);
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  result.then(over, over);
  while (!isOver) {
    await place.clock.set(place.clock.now() + 100);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  assert.partialDeepStrictEqual(await result, {
    status: "completed",
    result: one === STEP ? (count * (count - 1)) / 2 : 0,
  });
  assert.equal(begun, 2);
  await second.close();
  return { ...seen, seq };
}

describe("a workflow of 10,000 operations", () => {
  test("is loaded once, a page at a time: ten times the operations are ten times the reading", async () => {
    const short = await resumed(1_000, STEP);
    const long = await resumed(10_000, STEP);
    assert.ok(short.entries <= short.seq + 100, `${short.entries} entries read of ${short.seq}`);
    assert.ok(long.entries <= long.seq + 100, `${long.entries} entries read of ${long.seq}`);
    assert.ok(long.calls <= long.seq / 1_000 + 40, `${long.calls} calls`);
  });

  for (const [what, one] of [
    ["calls", (ctx, index, { book }) => ctx.call(book, { n: index })],
    ["checkpoints that nobody is asked about", (ctx) => ctx.checkpoint("Look")],
    ["values and logs", async (ctx) => void ctx.log(String(ctx.now() + ctx.random() + ctx.version("v")))],
  ] as const satisfies readonly (readonly [string, One])[])
    test(`or of 1,000 ${what} is read once as well`, async () => {
      const { entries, seq } = await resumed(1_000, one);
      assert.ok(entries <= seq + 100, `${entries} entries read of ${seq}`);
    });
});
