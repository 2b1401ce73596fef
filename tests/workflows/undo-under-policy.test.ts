/** What takes an effect back is reviewed by every policy that was asked about the effect. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Policy } from "../../src/effects/define-tool.ts";
import type { WorkflowOptions } from "../../src/workflows/definition.ts";
import { scripted } from "../supervise/refund.ts";
import { ANN, atRest, DAY, type Desk, office, question, reopen } from "./office.ts";

type Said = "approve" | "escalate" | { readonly verdict: "block"; readonly reason: string };

/** Speaks of undoing only. */
const ofUndo = (said: Said): Policy<never> =>
  (({ tool }: { tool: string }) => (tool.endsWith(".undo") ? said : "approve")) as unknown as Policy<never>;

const NEVER: Said = { verdict: "block", reason: "what was paid stays paid" };

const payTool = (done: string[]) =>
  ({
    name: "pay",
    policy: "approve",
    run: () => void done.push("paid"),
    undo: () => void done.push("paid back"),
  }) as const;

type Way = "call" | "step" | "checkpoint";

const checkpoints = (done: string[]): NonNullable<WorkflowOptions<object>["checkpoints"]> => [
  { name: "Booked", requiresApproval: false, undo: { run: () => void done.push("paid back") } },
];

function define(desk: Desk, done: string[], way: Way, policy: Policy<never>) {
  const pay = desk.gate(payTool(done));
  const options = way === "checkpoint" ? { policy, checkpoints: checkpoints(done) } : { policy };
  return desk.workflow("flow", options, async (ctx, _: object) => {
    if (way === "call") await ctx.call(pay, {});
    if (way === "step")
      await ctx.step("book", { undo: () => void done.push("paid back") }, () => void done.push("paid"));
    if (way === "checkpoint") await ctx.checkpoint("Booked");
    await ctx.sleep(DAY);
  });
}

async function rolledBack(way: Way, said: Said) {
  const place = office();
  const desk = place.open();
  const done: string[] = [];
  const { id, result } = await define(desk, done, way, ofUndo(said)).start({});
  await atRest(place, desk, id);
  await desk.workflows.rollback(id, { ...ANN, reason: "no", to: "start", after: "fail" });
  return { place, desk, done, id, end: () => place.finish(result()) };
}

for (const way of ["call", "step", "checkpoint"] as const)
  describe(`the undo of a ${way}`, () => {
    test("that the workflow's policy blocks is not run, and the report says why", async () => {
      const { desk, done, end } = await rolledBack(way, NEVER);
      const ended = await end();
      assert.ok(ended.status === "failed");
      assert.equal(ended.code, "rollback_failed");
      assert.deepEqual(ended.report?.undone, []);
      assert.deepEqual(
        ended.report?.notUndone.map(({ reason }) => reason),
        ["what was paid stays paid"],
      );
      assert.ok(!done.includes("paid back"));
      await desk.close();
    });

    test("that the workflow's policy asks about waits for people, and is run when they agree", async () => {
      const { place, desk, done, end } = await rolledBack(way, "escalate");
      const approval = await question(place, desk);
      assert.ok(!done.includes("paid back"));
      await desk.approvals.approve(approval, ANN);
      const ended = await end();
      assert.ok(ended.status === "failed");
      assert.deepEqual(ended.report?.notUndone, []);
      assert.ok(done.includes("paid back"));
      await desk.close();
    });

    test("that the workflow's policy lets through is run without asking anybody", async () => {
      const { desk, done, end } = await rolledBack(way, "approve");
      assert.equal((await end()).status, "failed");
      assert.ok(done.includes("paid back"));
      assert.equal(await desk.approvals.count("any"), 0);
      await desk.close();
    });
  });

test("an edit of an undo is reviewed under the workflow's policy too, and the rollback goes on with it", async () => {
  const place = office();
  const desk = place.open();
  const done: unknown[] = [];
  const pay = desk.gate({
    name: "pay",
    policy: "approve",
    run: () => 7,
    undo: (_, result) => void done.push(result),
  });
  const policy = (({ tool, args }: { tool: string; args: { result: number } }) => {
    if (tool !== "pay.undo") return "approve";
    return args.result > 10 ? { verdict: "block", reason: "more than was paid" } : "escalate";
  }) as unknown as Policy<never>;
  const flow = desk.workflow("flow", { policy }, async (ctx, _: object) => {
    await ctx.call(pay, {});
    await ctx.sleep(DAY);
  });
  const { id, result } = await flow.start({});
  await atRest(place, desk, id);
  await desk.workflows.rollback(id, { ...ANN, reason: "no", after: "fail" });
  const approval = await question(place, desk);
  await desk.approvals.approve(approval, { ...ANN, edit: { args: {}, result: 11 } });
  const refused = await place.until(
    async () => (await desk.approvals.get(approval)).editRefused ?? undefined,
  );
  assert.partialDeepStrictEqual(refused, { reason: "more than was paid" });
  assert.deepEqual(done, []);
  await desk.approvals.approve(approval, { ...ANN, edit: { args: {}, result: 5 } });
  const ended = await place.finish(result());
  assert.ok(ended.status === "failed");
  assert.deepEqual(ended.report?.notUndone, []);
  assert.deepEqual(done, [5]);
  await desk.close();
});

test("an undo that the workflow's policy asks about is still asked about after its process died, and once", async () => {
  const place = office();
  const first = place.open();
  const done: string[] = [];
  const { id } = await define(first, done, "call", ofUndo("escalate")).start({});
  await atRest(place, first, id);
  await first.workflows.rollback(id, { ...ANN, reason: "no", after: "fail" });
  const approval = await question(place, first);
  const desk = await reopen(place, first, (other) => define(other, done, "call", ofUndo("escalate")));
  await desk.approvals.approve(approval, ANN);
  const end = await place.until(async () => (await desk.workflows.get(id)).end ?? undefined);
  assert.ok(end.status === "failed");
  assert.deepEqual(end.report?.notUndone, []);
  assert.deepEqual(done, ["paid", "paid back"]);
  assert.equal(await desk.approvals.count("any"), 1);
  await desk.close();
});

test("a policy that was not written for an undo and throws at it blocks it: the report says so, nothing hangs", async () => {
  const place = office();
  const desk = place.open();
  const done: string[] = [];
  const policy = (({ args }: { args: { to?: { city: string } } }) =>
    args.to?.city === "Oslo" || (args as { to: { city: string } }).to.city === "Bergen"
      ? "approve"
      : "escalate") as unknown as Policy<never>;
  const pay = desk.gate({ ...payTool(done), run: (_: { to: { city: string } }) => void done.push("paid") });
  const flow = desk.workflow("flow", { policy }, async (ctx, _: object) => {
    await ctx.call(pay, { to: { city: "Oslo" } });
    await ctx.checkpoint("Look");
  });
  const { result } = await flow.start({});
  await desk.approvals.reject(await question(place, desk), { ...ANN, reason: "no" });
  const ended = await place.finish(result());
  assert.ok(ended.status === "failed");
  assert.equal(ended.code, "rollback_failed");
  assert.match(ended.report?.notUndone[0]?.reason ?? "", /^the policy failed: /);
  assert.deepEqual(done, ["paid"]);
  await desk.close();
});

describe("what a child did", () => {
  const setUp = (done: string[], parent: Policy<never>, below: Policy<never>) => (desk: Desk) => {
    const pay = desk.gate(payTool(done));
    const child = desk.workflow("child", { policy: below }, (ctx, _: object) => ctx.call(pay, {}));
    return desk.workflow("parent", { policy: parent }, async (ctx, _: object) => {
      await ctx.spawn(child, {});
      await ctx.sleep(DAY);
    });
  };

  for (const [whose, parent, below] of [
    ["the child's", "approve", NEVER],
    ["its parent's", NEVER, "approve"],
  ] as const)
    test(`is not undone by the parent where ${whose} policy blocks that`, async () => {
      const place = office();
      const desk = place.open();
      const done: string[] = [];
      const flow = setUp(done, ofUndo(parent), ofUndo(below))(desk);
      const { id, result } = await flow.start({});
      await atRest(place, desk, id);
      await desk.workflows.rollback(id, { ...ANN, reason: "no", after: "fail" });
      const ended = await place.finish(result());
      assert.ok(ended.status === "failed");
      assert.deepEqual(
        ended.report?.notUndone.map(({ reason }) => reason),
        ["what was paid stays paid"],
      );
      assert.deepEqual(done, ["paid"]);
      await desk.close();
    });

  test("is asked about by a process that does not know the child, and so not what its policy says", async () => {
    const place = office();
    const first = place.open();
    const done: string[] = [];
    const { id } = await setUp(done, ofUndo("approve"), ofUndo(NEVER))(first).start({});
    await atRest(place, first, id);
    const desk = await reopen(place, first, (other) => {
      other.gate(payTool(done));
      return other.workflow("parent", { policy: ofUndo("approve") }, (ctx, _: object) => ctx.sleep(DAY));
    });
    await desk.workflows.rollback(id, { ...ANN, reason: "no", after: "fail" });
    const { reason } = await desk.approvals.get(await question(place, desk));
    assert.match(reason, /the policy of the workflow "child" holds here too/);
    assert.deepEqual(done, ["paid"]);
    await desk.close();
  });
});

describe("the undo of a supervised run's call", () => {
  const RULES = {
    policy: "mine",
    default: "block",
    rules: [
      { id: "pay", tool: "pay", verdict: "approve" },
      { id: "kept", tool: "pay.undo", verdict: "block", reason: "what was paid stays paid" },
    ],
  };
  const POLICIES = [
    ["document", RULES],
    ["function", ofUndo(NEVER)],
  ] as const;

  for (const [kind, policy] of POLICIES)
    test(`is reviewed by the run's own ${kind}`, async () => {
      const place = office();
      const desk = place.open();
      const done: string[] = [];
      let isAsked = false;
      const thinks = () => {
        isAsked = true;
        return new Promise<never>(() => undefined);
      };
      const running = desk.supervise({
        goal: "g",
        tools: [desk.gate(payTool(done))],
        model: scripted({ kind: "tool", name: "pay", args: {} }, thinks),
        policy: policy as Policy<never>,
      });
      await place.until(async () => isAsked);
      const { items } = await desk.workflows.list();
      const id = items[0]?.id ?? "";
      await desk.workflows.rollback(id, { ...ANN, reason: "no", after: "fail" });
      assert.equal((await place.finish(running)).stop_reason, "rolled_back");
      const { end } = await desk.workflows.get(id);
      assert.ok(end?.status === "failed");
      assert.deepEqual(
        end.report?.notUndone.map(({ reason }) => reason),
        ["what was paid stays paid"],
      );
      assert.deepEqual(done, ["paid"]);
      await desk.close();
    });
});
