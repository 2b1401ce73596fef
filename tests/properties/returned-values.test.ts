/** What the library hands out is the caller's own: whatever is done to it changes nothing that is kept or run. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { machine, pendingOf } from "../fixtures/runtime.ts";

const said = { by: "person:ann", reason: "drill" };
const usd = (micros: bigint) => ({ currency: "USD", micros });

/** Changes everything in a value that can be changed. */
function spoil(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    spoil(part);
    (value as Record<string, unknown>)[key] = "spoilt";
  }
  if (Array.isArray(value)) value.push("person:mallory");
}

test("an action that was read and changed while it was held runs as it was proposed", async () => {
  const hp = machine().process();
  const run = (args: { amount: number }) => args.amount;
  const pay = hp.gate({ name: "pay", policy: "approve", run });
  await hp.switch.pause(said);
  await pay({ amount: 10 }, { requestId: "p" });
  const read = await hp.actions.get("p");
  spoil(read);
  spoil(await hp.switch.paused());
  await hp.switch.resume(said);
  assert.partialDeepStrictEqual(await pay({ amount: 10 }, { requestId: "p" }), {
    status: "done",
    result: 10,
  });
});

test("an approval that was read and changed asks, counts and runs as before", async () => {
  const hp = machine().process();
  const pay = hp.gate({
    name: "pay",
    policy: { verdict: "escalate", approvers: { from: ["person:ann"] } },
    run: (args: { amount: number }) => args.amount,
  });
  const call = pay({ amount: 10 }, { requestId: "p" });
  const id = await pendingOf(hp);
  const approval = await hp.approvals.get(id);
  (approval.approvers.from as string[]).push("person:mallory");
  spoil(approval);
  spoil((await hp.approvals.list()).items);
  await assert.rejects(hp.approvals.approve(id, { by: "person:mallory" }), { code: "not_eligible" });
  await hp.approvals.approve(id, { by: "person:ann" });
  assert.partialDeepStrictEqual(await call, { status: "done", result: 10 });
});

test("an answer and its receipt that were changed are given again as they were", async () => {
  const hp = machine().process();
  const echo = hp.gate({
    name: "echo",
    run: (args: { deep: number[] }, context) => {
      spoil(context.approvedBy);
      spoil(context.notes);
      return args;
    },
  });
  const call = echo({ deep: [1, 2] }, { requestId: "e" });
  await hp.approvals.approve(await pendingOf(hp), { by: "person:ann", note: "fine" });
  const original = structuredClone(await call);
  spoil(await call);
  for (let time = 0; time < 3; time++) {
    const again = await echo({ deep: [1, 2] }, { requestId: "e" });
    assert.deepEqual(again, original);
    spoil(again);
    spoil(await hp.receipts.get("e"));
    spoil(await hp.journal.read("e"));
  }
});

test("a budget that was read and changed has the room it had", async () => {
  const hp = machine().process();
  await hp.budgets.limit("daily", usd(10n));
  spoil(await hp.budgets.get("daily"));
  assert.partialDeepStrictEqual(await hp.budgets.get("daily"), { limit: usd(10n), spent: 0n });
});

test("a policy cannot make somebody else the requester", async () => {
  const hp = machine().process({ onBehalfOf: ["person:ann"] });
  const policy = ({ requester }: { requester: readonly string[] }) => {
    (requester as string[]).length = 0;
    return "escalate" as const;
  };
  await hp.gate({ name: "t", policy, run: () => 1 })({}, { requestId: "t", waitMs: 0 });
  const id = await pendingOf(hp);
  await assert.rejects(hp.approvals.approve(id, { by: "person:ann" }), { code: "not_eligible" });
});

test("an action in doubt that was resolved and changed stays what the person said", async () => {
  const hp = machine().process();
  const wire = hp.gate({
    name: "wire",
    policy: "approve",
    run: () => {
      throw new Error("time-out");
    },
  });
  const answer = await wire({}, { requestId: "w" });
  assert.ok(answer.status === "in_doubt");
  spoil(await hp.actions.resolve(answer.effect, { ...said, status: "applied" }));
  assert.partialDeepStrictEqual(await wire({}, { requestId: "w" }), {
    status: "done",
    receipt: { by: "person:ann" },
  });
});
