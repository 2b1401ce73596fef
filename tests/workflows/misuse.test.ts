/** Operations that the definition asks for wrongly: it is told, may go on, and is told the same when it is replayed. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import type { WorkflowContext } from "../../src/workflows/definition.ts";
import { ANN, atRest, type Desk, office, question, reopen } from "./office.ts";

const onlyOne = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value: unknown) =>
      (value as { n?: unknown }).n === 1 ? { value: { n: 1 } } : { issues: [{ message: "n is 1" }] },
  },
} as const;

type Parts = ReturnType<typeof partsOf>;
function partsOf(desk: Desk) {
  const wire = desk.gate({
    name: "wire",
    policy: "approve",
    input: onlyOne,
    run: ({ n }: { n: number }) => n,
  });
  const strict = desk.workflow("strict", { input: onlyOne }, async (_, { n }: { n: number }) => n);
  const torn = desk.workflow("torn", { complexity: () => "odd" as never }, async () => 1);
  const foreign = office()
    .open()
    .gate({ name: "foreign", run: () => 1 });
  return { wire, strict, torn, foreign };
}

const MISUSES: readonly (readonly [string, (ctx: WorkflowContext, parts: Parts) => unknown, RegExp])[] = [
  [
    "arguments that do not fit the tool",
    (ctx, { wire }) => ctx.call(wire, { n: 2 }),
    /do not fit the tool "wire": n is 1/,
  ],
  ["a tool of another instance", (ctx, { foreign }) => ctx.call(foreign, {}), /takes a tool made by hp.gate/],
  [
    "arguments that are not JSON",
    (ctx, { wire }) => ctx.call(wire, { n: 1n as never }),
    /is a bigint; send a string/,
  ],
  [
    "an unknown option of a call",
    (ctx, { wire }) => ctx.call(wire, { n: 1 }, { waitMs: 1 } as never),
    /no field "waitMs"/,
  ],
  [
    "an input that does not fit the child",
    (ctx, { strict }) => ctx.spawn(strict, { n: 2 }),
    /does not fit the workflow "strict": n is 1/,
  ],
  ["a child whose complexity is none", (ctx, { torn }) => ctx.spawn(torn, {}), /complexity of "torn"/],
  ["what is no workflow", (ctx) => ctx.spawn({} as never, {}), /takes a workflow made by hp.workflow/],
  [
    "a question that nobody could answer",
    (ctx) => ctx.ask("q", "Well?", { approvers: { quorum: 0 } }),
    /question "q"/,
  ],
  ["a question with no time for it", (ctx) => ctx.ask("q", "Well?", { withinMs: 0 }), /withinMs that is not/],
  ["a question without a text", (ctx) => ctx.ask("q", " "), /question has a text/],
  ["captured state that is none", (ctx) => ctx.checkpoint("c", { confidence: 7 }), /from 0 to 1, not 7/],
  [
    "captured state that is too large",
    (ctx) =>
      ctx.checkpoint("c", {
        memory: { text: "x".repeat(9_000_000) },
      }),
    /at most 8.0 MiB are kept/,
  ],
  ["a sleep that is no time", (ctx) => ctx.sleep(Number.NaN), /sleep is a number of milliseconds/],
];

describe("an operation with", () => {
  for (const [what, misuse, expected] of MISUSES)
    test(`${what} throws at the definition, which goes on, also when it is replayed`, async () => {
      const place = office();
      const told: string[] = [];
      const setUp = (desk: Desk) => {
        const parts = partsOf(desk);
        return desk.workflow("w", {}, async (ctx, _: object) => {
          const before = await ctx.step("before", () => 1);
          try {
            await misuse(ctx, parts);
            return "nothing was thrown";
          } catch (error) {
            assert.ok(isHoldpointError(error), String(error));
            told.push(error.what);
          }
          const after = await ctx.call(parts.wire, { n: 1 });
          await ctx.ask("go", "Go on?");
          return [before, after.status];
        });
      };
      const first = place.open();
      const { id } = await setUp(first).start({});
      await atRest(place, first, id);
      const second = await reopen(place, first, setUp);
      await second.approvals.approve(await question(place, second), ANN);
      assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), {
        status: "completed",
        result: [1, "done"],
      });
      assert.match(told[0] ?? "", expected);
      assert.equal(new Set(told).size, 1);
      assert.deepEqual(
        [...first.notices, ...second.notices].filter(({ kind }) => kind === "maintenance_failed"),
        [],
      );
      await second.close();
    });

  test("nothing to catch it fails the workflow, which says what was wrong", async () => {
    const place = office();
    const desk = place.open();
    const { wire } = partsOf(desk);
    const flow = desk.workflow("w", {}, (ctx, _: object) => ctx.call(wire, { n: 2 }));
    assert.match(JSON.stringify(await place.finish(flow.run({}))), /"code":"error".*n is 1/);
    await desk.close();
  });
});

/** One operation each, of which nothing came to pass when its process closes. */
const LAST: { readonly [kind: string]: (ctx: WorkflowContext, parts: Parts) => Promise<unknown> } = {
  call: (ctx, { wire }) => ctx.call(wire, { n: 1 }),
  step: (ctx) => ctx.step("step", () => true),
  checkpoint: (ctx) => ctx.checkpoint("c"),
  sleep: (ctx) => ctx.sleep(1_000),
  question: (ctx) => ctx.ask("go", "Go on?"),
  child: (ctx, { strict }) => ctx.spawn(strict, { n: 1 }),
};

describe("closing", () => {
  for (const [kind, last] of Object.entries(LAST))
    test(`just before a ${kind} leaves the workflow as it is, and another process goes on`, async () => {
      const place = office();
      let closing: Promise<void> | undefined;
      const setUp = (desk: Desk, close: () => void) => {
        const parts = partsOf(desk);
        return desk.workflow("w", {}, async (ctx, _: object) => {
          await ctx.step("before", () => 1);
          close();
          await last(ctx, parts);
          return "end";
        });
      };
      const first = place.open();
      const { id } = await setUp(first, () => {
        closing = first.close();
      }).start({});
      await place.until(async () => closing !== undefined);
      await place.finish(closing ?? Promise.resolve());
      const second = place.open();
      setUp(second, () => undefined);
      await second.work();
      assert.equal((await second.workflows.get(id)).end, null);
      if (kind === "question" || kind === "checkpoint")
        await second.approvals.approve(await question(place, second), ANN);
      const result = await place.finish(second.workflows.result(id));
      assert.partialDeepStrictEqual(result, { status: "completed", result: "end" });
      await second.close();
    });
});
