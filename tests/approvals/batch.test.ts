/** Several decisions at once: each on its own binding, each with its own answer. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { BatchAnswer, BatchItem } from "../../src/approvals/contract.ts";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import { machine, type Process } from "../fixtures/runtime.ts";

const [ANN, BOB] = ["person:ann", "person:bob"] as const;

function office() {
  const hp = machine().process();
  const notes: string[] = [];
  const tool = hp.gate({
    name: "pay",
    run: ({ amount }: { readonly amount: number }, context) => {
      notes.push(...context.notes);
      return amount;
    },
  });
  return { hp, tool, notes };
}

async function several(hp: Process, tool: ReturnType<typeof office>["tool"], count: number) {
  for (let n = 0; n < count; n++) await tool({ amount: n }, { requestId: `r-${n}`, waitMs: 0 });
  const { items } = await hp.approvals.list();
  return Promise.all(items.map(({ id }) => hp.approvals.get(id)));
}

const said = (answers: readonly BatchAnswer[]) =>
  answers.map((one) => (one.ok ? one.decided.status : one.error.code));
const wrong = (error: unknown) => isHoldpointError(error, "invalid_input");

describe("a batch of decisions", () => {
  test("is decided one by one; what fails has its own answer and stops nothing", async () => {
    const { hp, tool, notes } = office();
    const [one, two, three, four] = await several(hp, tool, 4);
    assert.ok(one && two && three && four);
    await hp.approvals.approve(three.id, { by: BOB });
    const items: readonly BatchItem[] = [
      { id: one.id, binding: one.binding, decision: "approve", note: "fine" },
      { id: two.id, binding: one.binding, decision: "approve" },
      { id: three.id, binding: three.binding, decision: "approve" },
      { id: four.id, binding: four.binding, decision: "reject", note: "twice" },
      { id: "apr_00000000000000000000000000", binding: one.binding, decision: "approve" },
    ];
    const answers = await hp.approvals.decideAll(items, { by: ANN, via: "web" });
    assert.deepEqual(said(answers), [
      "approved",
      "decision_conflict",
      "decision_conflict",
      "rejected",
      "unknown_id",
    ]);
    assert.deepEqual(
      answers.map(({ id }) => id),
      items.map(({ id }) => id),
    );
    assert.equal((await hp.approvals.get(two.id)).status, "pending");
    assert.equal((await tool({ amount: 0 }, { requestId: "r-0" })).status, "done");
    assert.deepEqual(notes, ["fine"]);
    // Again: what was decided is decided, and says so.
    assert.deepEqual(said(await hp.approvals.decideAll(items.slice(0, 1), { by: ANN })), ["consumed"]);
    await hp.close();
  });

  test("edits one of them, and leaves the others as they are", async () => {
    const { hp, tool } = office();
    const [one, two] = await several(hp, tool, 2);
    assert.ok(one && two);
    const items = [one, two].map(({ id, binding }) => ({ id, binding, decision: "approve" as const }));
    const answers = await hp.approvals.decideAll(
      [{ ...(items[0] as BatchItem), edit: { amount: 7 } }, items[1] as BatchItem],
      { by: ANN },
    );
    assert.deepEqual(said(answers), ["modified", "approved"]);
    const answer = await tool({ amount: 0 }, { requestId: "r-0" });
    assert.ok(answer.status === "done" && answer.result === 7);
    await hp.close();
  });

  test("takes a hundred, each on a binding of its own", async () => {
    const { hp, tool } = office();
    const all = await several(hp, tool, 100);
    const items = all.map(({ id, binding }) => ({ id, binding, decision: "approve" as const }));
    const answers = await hp.approvals.decideAll(items, { by: ANN });
    assert.deepEqual(new Set(said(answers)), new Set(["approved"]));
    await hp.close();
  });

  test("is refused whole, before anything is decided, where it is not a list of decisions", async () => {
    const { hp, tool } = office();
    const [one] = await several(hp, tool, 1);
    assert.ok(one);
    const { id, binding } = one;
    const good: BatchItem = { id, binding, decision: "approve" };
    const odd: readonly unknown[] = [
      [],
      "all",
      Array.from({ length: 101 }, () => good),
      [good, good],
      [{ ...good, binding: undefined }],
      [{ ...good, binding: binding.slice(0, 12) }],
      [{ ...good, decision: "maybe" }],
      [{ ...good, decision: "reject", note: "n", edit: {} }],
      [{ ...good, by: ANN }],
      [{ id: "", binding, decision: "approve" }],
      [null],
    ];
    for (const items of odd)
      await assert.rejects(hp.approvals.decideAll(items as readonly BatchItem[], { by: ANN }), wrong);
    assert.equal((await hp.approvals.get(id)).status, "pending");
    const bare = [{ ...good, decision: "reject" as const }];
    assert.deepEqual(said(await hp.approvals.decideAll(bare, { by: ANN })), ["invalid_input"]);
    assert.deepEqual(said(await hp.approvals.decideAll([good], { by: "agent:x" })), ["invalid_input"]);
    await hp.close();
  });
});
