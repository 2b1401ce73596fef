// An editor agrees to what they were shown: of an edit that the tool shows something else of, people are asked again.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { machine, type Process, pendingOf, settled } from "../fixtures/runtime.ts";

type Move = { readonly to: string };
const ANN = { by: "person:ann" };
const BOB = { by: "person:bob" };
const BOTH = { verdict: "escalate", approvers: { quorum: 2 } };

function mover(process: Process, shows: (args: Move) => unknown, more: object = {}) {
  const ran: Move[] = [];
  const move = process.gate<Move, string>({
    name: "move",
    preview: (args: Move) => shows(args),
    run: (args: Move) => {
      ran.push(args);
      return "moved";
    },
    ...more,
  });
  return { move, ran };
}

async function editOf(process: Process, id: string): Promise<void> {
  for (let round = 0; round < 200; round++) {
    if ((await process.approvals.get(id)).edit === null) return;
    await settled(1);
  }
  throw new Error("nobody reviews the edit");
}

async function standing(process: Process, id: string) {
  const { status, votes, preview, stage } = await process.approvals.get(id);
  return { status, votes: votes.map(({ by }) => by), shows: preview?.value, stage };
}

describe("an edit that the tool shows something else of", () => {
  test("does not run on the vote of an editor who never saw that; they see it and agree", async () => {
    const process = machine().process();
    const { move, ran } = mover(process, ({ to }) => ({ to }));
    const call = move({ to: "b" }, { requestId: "r-1" });
    const id = await pendingOf(process);
    const { binding } = await process.approvals.get(id);
    const { status } = await process.approvals.approve(id, { ...ANN, binding, edit: { to: "c" } });
    assert.equal(status, "pending");
    assert.deepEqual(await standing(process, id), {
      status: "pending",
      votes: [],
      shows: { to: "c" },
      stage: 1,
    });
    await assert.rejects(process.approvals.approve(id, { ...ANN, binding }), { code: "decision_conflict" });
    await settled();
    assert.deepEqual(ran, []);
    const now = await process.approvals.get(id);
    await process.approvals.approve(id, { ...ANN, binding: now.binding });
    const answer = await call;
    assert.ok(answer.status === "done");
    assert.deepEqual(ran, [{ to: "c" }]);
    assert.partialDeepStrictEqual(answer.receipt, {
      approval: id,
      approvedBy: ["person:ann"],
      executedFrom: "human_revised",
    });
    await process.close();
  });

  test("is asked about again too where another process reviews it, whose program is told", async () => {
    const { process: open } = machine();
    const [worker, desk] = [open(), open({ agent: "desk" })];
    const { move, ran } = mover(worker, ({ to }) => ({ to }));
    const call = move({ to: "b" }, { requestId: "r-1" });
    const id = await pendingOf(worker);
    const { kind } = await desk.approvals.approve(id, { ...ANN, edit: { to: "c" } });
    assert.equal(kind, "edit_open");
    await editOf(worker, id);
    await settled();
    assert.deepEqual((await desk.approvals.get(id)).preview?.value, { to: "c" });
    assert.deepEqual(ran, []);
    const told = worker.notices.filter((notice) => notice.kind === "waiting" && notice.approval === id);
    assert.equal(told.length, 2, "once for each thing that is asked");
    await desk.approvals.approve(id, ANN);
    assert.equal((await call).status, "done");
    assert.deepEqual(ran, [{ to: "c" }]);
    await Promise.all([worker.close(), desk.close()]);
  });

  test("is not agreed to by sending the same edit once more, unless what is shown now is named", async () => {
    const process = machine().process();
    const { move, ran } = mover(process, ({ to }) => ({ to }));
    const call = move({ to: "b" }, { requestId: "r-1" });
    const id = await pendingOf(process);
    const edit = { to: "c" };
    await process.approvals.approve(id, { ...ANN, edit });
    const again = await process.approvals.approve(id, { ...ANN, edit });
    assert.deepEqual([again.kind, again.status], ["same", "pending"]);
    await settled();
    assert.deepEqual(ran, []);
    const { binding } = await process.approvals.get(id);
    await process.approvals.approve(id, { ...ANN, binding, edit });
    assert.equal((await call).status, "done");
    await process.close();
  });

  test("is asked about although the policy would let it through, of everybody who was asked", async () => {
    const process = machine().process();
    const policy = ({ args }: { readonly args: Move }) =>
      args.to === "home" ? { verdict: "approve" } : BOTH;
    const { move, ran } = mover(process, ({ to }) => ({ to }), { policy });
    const call = move({ to: "b" }, { requestId: "r-1" });
    const id = await pendingOf(process);
    await process.approvals.approve(id, { ...ANN, edit: { to: "home" } });
    await settled();
    assert.deepEqual([(await standing(process, id)).status, ran], ["pending", []]);
    await process.approvals.approve(id, ANN);
    await settled();
    assert.deepEqual([(await standing(process, id)).status, ran], ["pending", []]);
    await process.approvals.approve(id, BOB);
    assert.equal((await call).status, "done");
    assert.deepEqual(ran, [{ to: "home" }]);
    await process.close();
  });

  test("by each of two people, one after the other: only votes on what is shown last count", async () => {
    const process = machine().process();
    const { move, ran } = mover(process, ({ to }) => ({ to }), { policy: BOTH });
    const call = move({ to: "b" }, { requestId: "r-1" });
    const id = await pendingOf(process);
    await process.approvals.approve(id, { ...ANN, edit: { to: "c" } });
    await process.approvals.approve(id, ANN);
    assert.deepEqual((await standing(process, id)).votes, ["person:ann"]);
    await process.approvals.approve(id, { ...BOB, edit: { to: "d" } });
    assert.deepEqual((await standing(process, id)).votes, []);
    await process.approvals.approve(id, ANN);
    await settled();
    assert.deepEqual([(await standing(process, id)).status, ran], ["pending", []]);
    await process.approvals.approve(id, BOB);
    assert.equal((await call).status, "done");
    assert.deepEqual(ran, [{ to: "d" }]);
    await process.close();
  });

  test("has its stages begin again, an editor of the first among those who are asked", async () => {
    const process = machine().process();
    const policy = { verdict: "escalate", stages: [{ from: [ANN.by, BOB.by] }, { from: ["person:cy"] }] };
    const { move, ran } = mover(process, ({ to }) => ({ to }), { policy });
    const call = move({ to: "b" }, { requestId: "r-1" });
    const id = await pendingOf(process);
    await process.approvals.approve(id, ANN);
    assert.equal((await standing(process, id)).stage, 2);
    await process.approvals.approve(id, { by: "person:cy", edit: { to: "c" } });
    assert.partialDeepStrictEqual(await standing(process, id), { status: "pending", votes: [], stage: 1 });
    await process.approvals.approve(id, { ...ANN, edit: { to: "d" } });
    assert.partialDeepStrictEqual(await standing(process, id), { status: "pending", votes: [], stage: 1 });
    await process.approvals.approve(id, BOB);
    await process.approvals.approve(id, { by: "person:cy" });
    assert.equal((await call).status, "done");
    assert.deepEqual(ran, [{ to: "d" }]);
    await process.close();
  });
});

describe("the same edit by somebody else, after the tool showed something else of it", () => {
  const edit = { to: "c" };

  async function edited(shows: (args: Move) => unknown = ({ to }) => ({ to })) {
    const process = machine().process();
    const made = mover(process, shows, { policy: BOTH });
    const call = made.move({ to: "b" }, { requestId: "r-1" });
    const id = await pendingOf(process);
    const first = (await process.approvals.get(id)).binding;
    await process.approvals.approve(id, { ...ANN, edit });
    return { ...made, process, call, id, first };
  }

  for (const [how, named] of [
    ["without a binding", () => ({})],
    ["with the binding of before", (first: string) => ({ binding: first })],
  ] as const)
    test(`${how} is no vote: they are asked about what is shown now, as the first editor is`, async () => {
      const { process, call, id, ran, first } = await edited();
      const now = (await process.approvals.get(id)).binding;
      await process.approvals.approve(id, { ...ANN, binding: now });
      const answer = await process.approvals.approve(id, { ...BOB, edit, ...named(first) });
      assert.deepEqual([answer.kind, answer.status], ["recorded", "pending"]);
      const after = await process.approvals.get(id);
      assert.equal(after.binding, now, "the others' votes stand");
      assert.partialDeepStrictEqual(after.editRefused, { by: BOB.by, rule: "preview" });
      assert.deepEqual((await standing(process, id)).votes, ["person:ann"]);
      await settled();
      assert.deepEqual(ran, []);
      await process.approvals.approve(id, { ...BOB, binding: now });
      assert.equal((await call).status, "done");
      await process.close();
    });

  test("is a vote where it names what is shown now", async () => {
    const { process, call, id } = await edited();
    const { binding } = await process.approvals.get(id);
    await process.approvals.approve(id, { ...ANN, binding });
    await process.approvals.approve(id, { ...BOB, edit, binding });
    assert.equal((await call).status, "done");
    await process.close();
  });

  test("is no vote where a process without the tool took it down, nor a conflict", async () => {
    const { process: open } = machine();
    const [worker, desk] = [open(), open({ agent: "desk" })];
    const { move, ran } = mover(worker, ({ to }) => ({ to }), { policy: BOTH });
    const call = move({ to: "b" }, { requestId: "r-1" });
    const id = await pendingOf(worker);
    await desk.approvals.approve(id, { ...ANN, edit });
    await editOf(worker, id);
    await desk.approvals.approve(id, ANN);
    await desk.approvals.approve(id, { ...BOB, edit });
    await editOf(worker, id);
    await settled();
    assert.deepEqual((await standing(desk, id)).votes, ["person:ann"]);
    assert.deepEqual(ran, []);
    await desk.approvals.approve(id, BOB);
    assert.equal((await call).status, "done");
    await Promise.all([worker.close(), desk.close()]);
  });

  test("is a vote where the tool shows what it showed before: they were shown that", async () => {
    const { process, call, id } = await edited(() => "one file");
    await process.approvals.approve(id, { ...BOB, edit });
    assert.equal((await call).status, "done");
    await process.close();
  });
});

test("an edit that the tool shows the same of as before runs on the editor's word", async () => {
  const process = machine().process();
  const { move, ran } = mover(process, () => "one file");
  const call = move({ to: "b" }, { requestId: "r-1" });
  await process.approvals.approve(await pendingOf(process), { ...ANN, edit: { to: "c" } });
  assert.equal((await call).status, "done");
  assert.deepEqual(ran, [{ to: "c" }]);
  await process.close();
});
