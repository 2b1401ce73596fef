// What happened to a workflow, told row by row, and the journal of everything that belongs to it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import type { Holdpoint } from "../../src/index.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";

const BY = { by: "person:ann" };

function longDay(hp: Holdpoint) {
  const note = hp.gate({
    name: "note",
    policy: "approve",
    undo: () => undefined,
    run: (args: { n: number }) => args.n,
  });
  const inner = hp.workflow("inner", async (ctx) => void (await ctx.call(note, { n: 2 })));
  return hp.workflow("outer", async (ctx) => {
    await ctx.parallel([(one) => one.call(note, { n: 1 }), (two) => two.spawn(inner, {})]);
    const retries = { attempts: 2, backOffMs: 1 };
    await ctx.step("shaky", { retries }, ({ attempt }) => {
      if (attempt === 1) throw new Error("not yet");
    });
    await ctx.sleep(1);
    const room = await ctx.ask("room", "Which room?", { answer: z.string(), suggestion: 7 as never });
    await ctx.checkpoint("end", { outputs: { room: room.answered } });
  });
}

const rowsOf = async (hp: Holdpoint, id: string) =>
  (await hp.workflows.timeline(id)).map(({ kind, name, status, branch }) =>
    [kind, name, status, branch.join(".")].join(" ").trim(),
  );

test("operations, branches, decisions and what a rollback undid, also of a child", async (t) => {
  const hp = temporaryFolder(t).open();
  const { id, result } = await longDay(hp).start({});
  const question = await pendingApproval(hp);
  const misfit = hp.approvals.approve(question, BY);
  await assert.rejects(misfit, { code: "invalid_args" }, "what is suggested has to fit as well");
  await assert.rejects(hp.approvals.reject(question, { ...BY, reason: "no", final: true }), {
    code: "invalid_input",
  });
  assert.equal((await hp.approvals.get(question)).status, "pending");
  await hp.approvals.approve(question, { ...BY, edit: "the blue one" });
  const before = (await hp.workflows.get(id)).seq;
  const checkpoint = await pendingApproval(hp);
  await hp.approvals.reject(checkpoint, { ...BY, reason: "never", final: true });
  assert.equal((await result()).status, "failed");
  const rows = await rowsOf(hp, id);
  // Which of two branches comes first is open.
  assert.deepEqual(rows.slice(1, 3).toSorted(), ["call note applied 1", "child inner completed 2"]);
  const undos = rows.filter((row) => row.startsWith("undo"));
  assert.deepEqual(undos.toSorted(), ["undo note undone", "undo note undone 1"]);
  assert.deepEqual(
    [rows[0], ...rows.slice(3).filter((row) => !undos.includes(row))],
    [
      "workflow outer created",
      "step shaky completed",
      "sleep sleep over",
      "question room answered",
      "checkpoint end rejected",
      "rollback  done",
      "workflow rejected failed",
    ],
  );
  const [early] = (await hp.workflows.timeline(id, { seq: before })).slice(-1);
  assert.equal(early?.kind, "question");
  const rollback = (await hp.workflows.timeline(id)).find(({ kind }) => kind === "rollback");
  assert.equal(rollback?.report?.undone.length, 2);
});

test("the journal of a workflow has its own entries, its actions', approvals' and children's, in commit order", async (t) => {
  const hp = temporaryFolder(t).open();
  const { id } = await longDay(hp).start({}, { requestId: "day" });
  const question = await pendingApproval(hp);
  const records = await hp.journal.read(id);
  const positions = records.map(({ position }) => position);
  assert.deepEqual(
    positions,
    positions.toSorted((a, b) => a - b),
  );
  const streams = [...new Set(records.map(({ stream }) => stream))];
  const count = (kind: string) => streams.filter((stream) => stream.startsWith(`${kind}/`)).length;
  assert.deepEqual([count("workflow"), count("action"), count("approval")], [2, 2, 1]);
  const own = await hp.journal.read(question);
  assert.deepEqual(
    own.map(({ type }) => type).toSorted(),
    ["approval.requested", "question.asked"],
    "of its workflow only what is about it",
  );
  await assert.rejects(hp.journal.read(`wf_${"0".repeat(26)}`), { code: "unknown_id" });
  assert.deepEqual(await hp.workflows.find("day"), [id]);
  assert.deepEqual(await hp.workflows.find(id.slice(0, 20)).then((found) => found.includes(id)), true);
  assert.deepEqual(await hp.workflows.find("another day"), []);
});

test("what was open when a workflow was cancelled is told as withdrawn", async (t) => {
  const hp = temporaryFolder(t).open();
  const wait = hp.workflow("wait", async (ctx) => void (await ctx.checkpoint("here")));
  const { id, result } = await wait.start({});
  await pendingApproval(hp);
  await hp.workflows.cancel(id, { ...BY, reason: "enough" });
  await result();
  assert.deepEqual(await rowsOf(hp, id), [
    "workflow wait created",
    "checkpoint here withdrawn",
    "workflow cancelled failed",
  ]);
});
