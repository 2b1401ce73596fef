/** Who is told what a workflow waits for, and who is told again. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Notice } from "../../src/runtime/notices.ts";
import { ANN, type Desk, office, question, waiting } from "./office.ts";

const toldOf = (notices: readonly Notice[]): readonly string[] =>
  notices.flatMap((notice) => (notice.kind === "waiting" ? `${notice.tool} ${notice.approval}` : []));

const KINDS: readonly (readonly [string, string, (desk: Desk) => ReturnType<Desk["workflow"]>])[] = [
  [
    "a checkpoint",
    "Look",
    (desk) => desk.workflow("w", {}, async (ctx) => void (await ctx.checkpoint("Look"))),
  ],
  ["a question", "when", (desk) => desk.workflow("w", {}, (ctx) => ctx.ask("when", "Which day?"))],
  [
    "an approval",
    "pay",
    (desk) => {
      const pay = desk.gate({ name: "pay", policy: "escalate", run: () => "paid" });
      return desk.workflow("w", {}, (ctx) => ctx.call(pay, {}));
    },
  ],
];

describe("a program that is restarted, and finds its workflow again, is told again that it waits for", () => {
  for (const [what, tool, setUp] of KINDS)
    for (const died of ["while it waited", "in the middle"])
      test(`${what}, ${died}`, async () => {
        const place = office();
        const first = place.open();
        await setUp(first).start({}, { requestId: "r" });
        const asked = await question(place, first);
        if (died === "while it waited") await place.pass(1_000);
        first.crash();
        const second = place.open();
        const own: Notice[] = [];
        const flow = setUp(second);
        const { id, result } = await flow.start(
          {},
          { requestId: "r", notify: (notice) => void own.push(notice) },
        );
        await place.until(async () => own.length > 0);
        await place.pass(20_000);
        assert.deepEqual(toldOf(own), [`${tool} ${asked}`]);
        assert.deepEqual(toldOf(second.notices), [`${tool} ${asked}`]);
        await second.approvals.approve(asked, ANN);
        await place.finish(result());
        assert.equal((await second.workflows.get(id)).status, "completed");
        await second.close();
      });

  test("nothing, if that was decided meanwhile", async () => {
    const place = office();
    const first = place.open();
    const setUp = KINDS[0]?.[2] ?? assert.fail();
    await setUp(first).start({}, { requestId: "r" });
    const asked = await question(place, first);
    await place.pass(1_000);
    first.crash();
    const second = place.open();
    await second.approvals.approve(asked, ANN);
    const { result } = await setUp(second).start({}, { requestId: "r" });
    await place.finish(result());
    assert.deepEqual(toldOf(second.notices), []);
    await second.close();
  });
});

test("the listener of a workflow is told of what its children and theirs wait for, and no other is", async () => {
  const place = office();
  const desk = place.open();
  const told: Notice[] = [];
  const elsewhere: Notice[] = [];
  const grandchild = desk.workflow("grandchild", {}, async (ctx, _: object) => {
    await ctx.checkpoint("Inner");
  });
  const child = desk.workflow("child", {}, async (ctx, _: object) => {
    await ctx.parallel([(own) => own.ask("when", "Which day?"), (own) => own.spawn(grandchild, {})]);
  });
  const parent = desk.workflow("parent", {}, async (ctx, _: object) => void (await ctx.spawn(child, {})));
  await child.start({}, { notify: (notice) => void elsewhere.push(notice) });
  await waiting(place, desk, 2);
  await parent.start({}, { notify: (notice) => void told.push(notice) });
  await place.until(async () => told.length === 2);
  assert.deepEqual(
    toldOf(told)
      .map((line) => line.split(" ")[0])
      .sort(),
    ["Inner", "when"],
  );
  assert.equal(elsewhere.length, 2);
  assert.equal(new Set([...toldOf(told), ...toldOf(elsewhere)]).size, 4);
  await place.finish(desk.close());
});
