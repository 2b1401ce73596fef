// Workflows from a terminal: the program that runs them is in this process, the command line beside it.
import assert from "node:assert/strict";
import { userInfo } from "node:os";
import { describe, test } from "node:test";
import { z } from "zod";
import type { Holdpoint } from "../../src/index.ts";
import { type Folder, pendingApproval, temporaryFolder } from "../fixtures/folder.ts";
import { errorOf, linesOf, type Ran, runCli } from "./bench.ts";

const ME = `person:${userInfo().username}`;
const REASON = ["--reason", "so"];

type Options = {
  readonly onIrreversible?: "fail" | "continue";
  readonly attempts?: number;
  readonly mails?: boolean;
};

/** Books a room, perhaps sends a mail that nobody can take back, asks about the food, and orders it. */
function partyOn(hp: Holdpoint, options: Options = {}) {
  const { mails = false, ...terms } = options;
  const done: string[] = [];
  const book = hp.gate({
    name: "room.book",
    policy: "approve",
    undo: () => void done.push("unbook"),
    run: (args: { room: string }) => void done.push(`book ${args.room}`),
  });
  const mail = hp.gate({ name: "mail.send", policy: "approve", run: () => void done.push("mail") });
  const order = hp.gate({
    name: "pizza.order",
    policy: "approve",
    undo: () => void done.push("unorder"),
    run: (args: { count: number }) => void done.push(`order ${args.count}`),
  });
  const checkpoints = [
    { name: "Plan", requiresApproval: false },
    { name: "Food order", description: "food costs" },
  ];
  const party = hp.workflow("party", { checkpoints, ...terms }, async (ctx, input: { people: number }) => {
    await ctx.checkpoint("Plan", { outputs: { people: input.people } });
    await ctx.call(book, { room: "A" });
    if (mails) await ctx.parallel([(one) => one.call(mail, {}), async () => undefined]);
    ctx.log("it is booked");
    const count = await ctx.step("count", () => input.people * (ctx.attempt === 1 ? 10 : 1));
    const captured = { summary: `${count} pizzas`, confidence: 0.5, recommendation: "modify" } as const;
    const more = {
      resources: { tokensUsed: 1_200 },
      nextSteps: ["order"],
      memory: { factsLearned: { hungry: true } },
    };
    const { outputs } = await ctx.checkpoint("Food order", { outputs: { count }, ...captured, ...more });
    await ctx.call(order, { count: outputs.count });
    return { ordered: outputs.count, told: ctx.sentBack?.reason ?? null };
  });
  return { party, done };
}

async function until<Value>(look: () => Promise<Value | undefined | false>): Promise<Value> {
  for (let tries = 0; tries < 1_000; tries++) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("it did not come to that");
}

async function waiting(t: Parameters<typeof temporaryFolder>[0], options: Options = {}) {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  const { party, done } = partyOn(hp, options);
  const { id, result } = await party.start({ people: 10 }, { requestId: "party-1" });
  const approval = await pendingApproval(hp);
  return { folder, hp, id, result, approval, done, cli: cliOn(folder) };
}

const cliOn =
  (folder: Folder) =>
  (...args: readonly string[]): Promise<Ran> =>
    runCli(folder, args);

function holds(text: string, parts: readonly string[]): void {
  for (const part of parts) assert.ok(text.includes(part), `${part}\n--- is not in\n${text}`);
}

describe("workflows", () => {
  test("lists where each stands, for people's pipes and as JSON, and says when there are none", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    const cli = cliOn(folder);
    await hp.actions.list({ phase: "open" });
    const none = await cli("workflows");
    assert.deepEqual([none.code, none.out], [0, ""]);
    assert.match(none.err, /There are no workflows yet: a program starts one/);
    const { id } = await partyOn(hp).party.start({ people: 10 });
    await pendingApproval(hp);
    const [pipe, json, others, odd, one] = await Promise.all([
      cli("workflows"),
      cli("workflows", "--json"),
      cli("workflows", "--status", "completed"),
      cli("workflows", "--status", "odd"),
      cli("workflows", "--limit", "0"),
    ]);
    const [cells = []] = linesOf(pipe.out).map((line) => line.split("\t"));
    assert.deepEqual(
      [cells.length, cells[0], cells[1], cells[2], cells[3], cells[5], cells[6]],
      [7, id, "awaiting_approval", "1/2", "1", "party", "Food order"],
    );
    assert.equal(JSON.parse(json.out).checkpoint, "Food order");
    assert.deepEqual([others.out, others.err], ["", "No workflow is completed.\n"]);
    assert.deepEqual([odd.code, one.code], [2, 2]);
    assert.match(odd.err, /There are: initialized, executing/);
  });
});

describe("show of a workflow", () => {
  test("says where it stands, what it waits for, what happened and what to type", async (t) => {
    const { id, approval, cli } = await waiting(t, { mails: true });
    const { code, out } = await cli("show", "party-1");
    assert.equal(code, 0);
    holds(out, [
      `Workflow ${id}  awaiting approval`,
      "  │ people: 10",
      `waits for    a decision: ${approval}`,
      "attempt      1 of 5",
      'passed       1/2: "Plan"',
      "✓ checkpoint  Plan: passed",
      "✓ call        room.book: room A: applied",
      "✓ call          [1] mail.send: applied",
      "log         “it is booked”",
      "✓ step        count: completed",
      "… checkpoint  Food order; waits for a decision,",
      `npx holdpoint show ${approval}`,
      `npx holdpoint show ${id} --checkpoint "Food order"`,
      `npx holdpoint rollback ${id} --reason "…"`,
      `npx holdpoint fork ${id} --at "Plan"`,
    ]);
    const json = JSON.parse((await cli("show", id, "--json")).out);
    assert.equal(json.workflow.id, id);
    assert.deepEqual(
      json.timeline.map((row: { kind: string }) => row.kind),
      ["workflow", "checkpoint", "call", "call", "log", "step", "checkpoint"],
    );
  });

  test("as it stood at a moment: an entry's number or a time; a moment that is none is told", async (t) => {
    const { id, hp, result, approval, cli } = await waiting(t);
    await hp.approvals.approve(approval, { by: "person:ann" });
    await result();
    const { createdAt, seq, lastDecision } = await hp.workflows.get(id);
    const before = new Date((lastDecision?.at ?? 0) - 1).toISOString();
    const [first, earlier, now, late, future, past, odd, both] = await Promise.all([
      cli("show", id, "--at", "2"),
      cli("show", id, "--at", before),
      cli("show", id),
      cli("show", id, "--at", String(seq + 1)),
      cli("show", id, "--at", "2999-01-01T00:00:00Z"),
      cli("show", id, "--at", new Date(createdAt - 60_000).toISOString(), "--json"),
      cli("show", id, "--at", "2026-02-30T00:00:00Z"),
      cli("show", id, "--at", "2", "--checkpoint", "Plan"),
    ]);
    holds(first.out, ["The state after its entry 2, not the current one.", "  executing"]);
    assert.ok(!first.out.includes("room.book"));
    holds(earlier.out, [`Workflow ${id}  awaiting approval`, "… checkpoint  Food order"]);
    assert.ok(!earlier.out.includes("\nNext\n"));
    holds(now.out, [`Workflow ${id}  completed`, "How it ended", '│ {"ordered":100,"told":null}']);
    assert.deepEqual([late.code, future.code, odd.code, both.code], [2, 2, 2, 2]);
    assert.match(late.err, new RegExp(`There is no entry ${seq + 1} of ${id}: it has ${seq}\\.`));
    assert.match(future.err, /still to come/);
    assert.match(odd.err, /neither an entry's number nor a time/);
    assert.deepEqual([past.code, errorOf(past)["code"]], [3, "unknown_id"]);
  });

  test("--checkpoint prints the three layers of the captured state, also of a rejected one", async (t) => {
    const { id, hp, approval, cli } = await waiting(t);
    await hp.approvals.reject(approval, { by: "person:ann", reason: "no" });
    await pendingApproval(hp);
    const rows = await hp.workflows.timeline(id);
    const rejected = rows.find(({ status }) => status === "rejected")?.checkpoint?.snapshot.id ?? "";
    const [text, old, json, unknown, action] = await Promise.all([
      cli("show", id, "--checkpoint", "Food order"),
      cli("show", id, "--checkpoint", rejected, "--json"),
      cli("show", id, "--checkpoint", "Plan", "--json"),
      cli("show", id, "--checkpoint", "Nothing"),
      cli("show", approval, "--checkpoint", "Plan"),
    ]);
    holds(text.out, [
      'Checkpoint "Food order"',
      "What the approver is shown (approval_interface)\n  │ confidence: 0.5",
      "State of the task (task_state)\n  │ outputs:\n  │   count: 10\n",
      "How it came there (execution_state)\n  │ agent_memory:\n  │   facts_learned:\n  │     hungry: true",
    ]);
    assert.deepEqual(JSON.parse(old.out).task_state.outputs, { count: 100 });
    assert.deepEqual(JSON.parse(json.out).task_state.outputs, { people: 10 });
    assert.equal(unknown.code, 3);
    assert.match(unknown.err, /There are: "Plan", "Food order"\./);
    assert.equal(action.code, 2);
  });
});

describe("the card of a checkpoint", () => {
  test("has names, outputs, the agent's words apart, effects, and what a rejection does", async (t) => {
    const { id, approval, cli } = await waiting(t);
    const { out } = await cli("show", approval);
    holds(out, [
      `Approval ${approval}  pending`,
      'Checkpoint "Food order" of the workflow "party"\n  attempt     1 of 5\n  asked for   food costs',
      "What you decide on: its outputs\n  │ count: 100\n",
      "The agent says (its own words, not checked)\n  │ 100 pizzas\n  recommends  modify\n  confidence  50 %",
      "used        1200 tokens",
      'What it has done since "Plan"\n  effect      room.book (act_',
      'If you reject\n  What it did since "Plan" is undone, newest first.',
      "attempt 2 of 5",
      `workflow    ${id}`,
      `npx holdpoint approve ${approval} --edit '{"count":100}'`,
    ]);
    assert.ok(!out.includes("cannot be undone"));
    const list = linesOf((await cli("approvals")).out)[0]?.split("\t") ?? [];
    assert.deepEqual(list.slice(5), [
      "Food order",
      "agent:tester",
      '{"count":100}',
      "checkpoint",
      "-",
      "Food order",
    ]);
  });

  test("says what cannot be undone, before and after somebody rejects", async (t) => {
    const { id, approval, cli, result, done } = await waiting(t, { mails: true });
    const { out } = await cli("show", approval);
    holds(out, [
      "mail.send (act_",
      "it CANNOT be",
      "Then it fails, because not everything can be undone.",
      "What cannot be undone if you reject\n  ! mail.send (act_",
    ]);
    const rejected = await cli("reject", approval.slice(0, -2), ...REASON);
    assert.equal(rejected.code, 0, rejected.err);
    holds(rejected.out, [
      "then it fails, since mail.send cannot be undone",
      'the definition "party" goes on',
    ]);
    assert.equal((await result()).status, "failed");
    assert.deepEqual(done, ["book A", "mail", "unbook"]);
    const shown = (await cli("show", id)).out;
    holds(shown, [
      "✗ checkpoint  Food order: rejected by person:",
      '↶ rollback    back to "Plan" by person:',
      "cannot be undone: mail.send",
      "✓ undo        room.book: room A: undone",
      "room.book: room A: applied, then undone",
      "undone       room.book (act_",
      "irreversible mail.send (act_",
    ]);
  });
});

describe("deciding at a checkpoint", () => {
  test("rejected it is tried again with the reason, modified it goes on, and the journal tells it in order", async (t) => {
    const { id, hp, approval, cli, result, done } = await waiting(t);
    const rejected = await cli("reject", approval, "--reason", "100 is too many");
    holds(rejected.out, [
      'What it did since "Plan" is undone, newest first; then it is tried again from there',
    ]);
    const second = await until(async () => (await hp.workflows.get(id)).pending?.approval);
    const attempt = await cli("show", second);
    holds(attempt.out, ["attempt     2 of 5", "│ count: 10\n"]);
    const approved = await cli("approve", second, "--edit", '{"count": 9}', "--note", "nine will do");
    assert.equal(approved.code, 0, approved.err);
    holds(approved.out, [
      "Approved with your changes: apr_",
      "│ count: 9",
      'the definition "party" goes on by itself',
    ]);
    assert.deepEqual(await result(), {
      status: "completed",
      workflow: id,
      result: { ordered: 9, told: "100 is too many" },
    });
    assert.deepEqual(done, ["book A", "unbook", "book A", "order 9"]);
    const [journal, one, shown, verified] = await Promise.all([
      cli("journal", "party-1"),
      cli("journal", second),
      cli("show", id),
      cli("verify"),
    ]);
    const records = linesOf(journal.out).map((line) => line.split("\t"));
    assert.deepEqual([...new Set(records.map((cells) => cells[1]?.split("/")[0]))].toSorted(), [
      "action",
      "approval",
      "workflow",
    ]);
    const types = records.map((cells) => cells[3] ?? "");
    const order = [
      "checkpoint.decided",
      "rollback.began",
      "compensation.made",
      "rollback.ended",
      "workflow.completed",
    ];
    assert.deepEqual(
      order.map((type) => types.indexOf(type)).toSorted((a, b) => a - b),
      order.map((type) => types.indexOf(type)),
    );
    assert.ok(!order.some((type) => !types.includes(type)));
    assert.deepEqual(
      linesOf(one.out).map((line) => line.split("\t")[3]),
      [
        "checkpoint.reached",
        "approval.requested",
        "approval.edited",
        "approval.revised",
        "approval.voted",
        "approval.modified",
        "approval.consumed",
        "checkpoint.decided",
      ],
    );
    holds(shown.out, [
      "  attempt 2\n",
      `modified     checkpoint "Food order", by ${ME}`,
      "reason       nine will do",
    ]);
    assert.equal(verified.code, 0, verified.out);
  });

  test("--final rolls back and fails; it is for checkpoints alone", async (t) => {
    const { hp, id, approval, cli, result, done } = await waiting(t);
    const tool = hp.gate({ name: "ask", run: () => 1 });
    await tool({}, { requestId: "a-1", waitMs: 0 });
    const other = (await hp.approvals.list()).items.find((item) => item["about"] === "action")?.id ?? "";
    const wrong = await cli("reject", other, "--final", ...REASON);
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /Only the rejection of a checkpoint can be final: apr_\w+ is about an action/);
    const rejected = await cli("reject", approval, "--final", "--reason", "never");
    holds(rejected.out, ["then it fails."]);
    const end = await result();
    assert.deepEqual([end.status, end.status === "failed" && end.code], ["failed", "rejected"]);
    assert.deepEqual(done, ["book A", "unbook"]);
    const { votes } = await hp.approvals.get(approval);
    assert.equal(votes[0]?.final, true);
    holds((await cli("show", approval)).out, [`vote        ${ME} reject for good`]);
    assert.equal((await hp.workflows.get(id)).status, "failed");
  });
});

describe("a question of a workflow", () => {
  const schema = z.object({ names: z.array(z.string()), level: z.enum(["low", "high"]) });

  async function asked(t: Parameters<typeof temporaryFolder>[0], suggestion?: z.infer<typeof schema>) {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    const ask = hp.workflow("survey", async (ctx) => {
      const options = suggestion === undefined ? {} : { suggestion };
      return ctx.ask("allergies", "Which allergies\nare there?", { answer: schema, ...options });
    });
    const { result } = await ask.start({});
    return { hp, result, id: await pendingApproval(hp), cli: cliOn(folder) };
  }

  test("shows its text and what an answer has to be, and takes only one that fits", async (t) => {
    const { result, id, cli } = await asked(t);
    const card = await cli("show", id);
    holds(card.out, [
      'A question of the workflow "survey"\n  question    allergies\n  │ Which allergies\n  │ are there?',
      '│ an object with\n  │   level: one of "low", "high"\n  │   names: a list of: a text',
      `npx holdpoint answer ${id} '{"level":"low","names":[]}'`,
    ]);
    const cells = linesOf((await cli("approvals")).out)[0]?.split("\t") ?? [];
    assert.deepEqual(
      [cells[5], cells[7], cells[8]],
      ["allergies", "Which allergies\\nare there?", "question"],
    );
    const [word, misfit, plain, edited] = await Promise.all([
      cli("answer", id, "nuts"),
      cli("answer", id, '{"names":["nuts"]}', "--json"),
      cli("approve", id),
      cli("approve", id, "--edit", "7", "--json"),
    ]);
    assert.equal(word.code, 2);
    assert.match(
      word.err,
      /An answer is JSON\. .*\n.*\n {2}Put a text in double quotes: '"nuts"' \[invalid_json\]/,
    );
    assert.deepEqual([misfit.code, errorOf(misfit)["code"]], [1, "invalid_args"]);
    assert.deepEqual([edited.code, errorOf(edited)["code"]], [1, "invalid_args"]);
    assert.equal(plain.code, 2);
    assert.match(plain.err, /is a question, and suggests no answer/);
    const answered = await cli("answer", id, '{"names":["nuts"],"level":"high"}', "--note", "by phone");
    assert.equal(answered.code, 0, answered.err);
    holds(answered.out, [
      `Answered: ${id}, "allergies".`,
      '│ level: "high"',
      'the definition "survey" goes on',
    ]);
    const end = await result();
    assert.deepEqual(end.status === "completed" && end.result, {
      answered: true,
      answer: { names: ["nuts"], level: "high" },
      by: [ME],
      note: "by phone",
    });
    const late = await cli("answer", id, '{"names":[],"level":"low"}', "--json");
    assert.deepEqual([late.code, errorOf(late)["code"]], [1, "decision_conflict"]);
  });

  test("an answer is taken whole; what the program suggests has to fit as well", async (t) => {
    const good = await asked(t, { names: ["nuts"], level: "low" });
    holds((await good.cli("show", good.id)).out, [
      "What the program suggests",
      `npx holdpoint approve ${good.id}`,
    ]);
    const part = await good.cli("answer", good.id, '{"level":"high"}', "--json");
    assert.deepEqual([part.code, errorOf(part)["code"]], [1, "invalid_args"]);
    assert.equal((await good.cli("approve", good.id)).code, 0);
    const end = await good.result();
    assert.deepEqual(end.status === "completed" && (end.result as { answer: unknown }).answer, {
      names: ["nuts"],
      level: "low",
    });
    const bad = await asked(t, { names: "nuts" } as never);
    const misfit = await bad.cli("approve", bad.id, "--json");
    assert.deepEqual([misfit.code, errorOf(misfit)["code"]], [1, "invalid_args"]);
    assert.equal((await bad.hp.approvals.get(bad.id)).status, "pending");
  });

  test("is not answered by deciding something else, nor something else by answering", async (t) => {
    const { approval, cli, id } = await waiting(t);
    const [checkpoint, receipt, of] = await Promise.all([
      cli("answer", approval, "1"),
      cli("receipt", approval, "--json"),
      cli("receipt", id, "--json"),
    ]);
    assert.equal(checkpoint.code, 2);
    assert.match(checkpoint.err, /is about a checkpoint, not a question/);
    assert.deepEqual([receipt.code, of.code], [3, 3]);
    assert.match(errorOf(receipt)["what"] ?? "", /There is no action behind apr_/);
  });
});

describe("operators", () => {
  test("roll back to a checkpoint that was passed, and are told where it cannot go", async (t) => {
    const { id, hp, cli, approval, done } = await waiting(t);
    const [unknown, nobody] = await Promise.all([
      cli("rollback", id, "--to", "Nowhere", ...REASON),
      cli("rollback", "party-9", ...REASON, "--json"),
    ]);
    assert.equal(unknown.code, 1);
    assert.match(
      unknown.err,
      /cannot be rolled back: no checkpoint "Nowhere" was passed\.\n.*recorded.*\n {2}It has passed "Plan"; or --to start\./,
    );
    const recorded = (await hp.journal.read(id)).filter(({ type }) => type === "workflow.refused");
    assert.equal(recorded.length, 1, "a checkpoint that was never passed is refused, and that is recorded");
    assert.deepEqual([nobody.code, errorOf(nobody)["code"]], [3, "unknown_id"]);
    const back = await cli("rollback", "party-1", "--to", "start", "--reason", "another room");
    assert.equal(back.code, 0, back.err);
    holds(back.out, [
      `Rolling back ${id}, "party", to the start.`,
      'A process that has the definition "party" goes on',
    ]);
    const second = await until(async () => (await hp.workflows.get(id)).pending?.approval);
    assert.notEqual(second, approval);
    assert.deepEqual(done, ["book A", "unbook", "book A"]);
    const failed = await cli("rollback", id, "--fail", "--reason", "enough", "--json");
    assert.equal(JSON.parse(failed.out).workflow.rollback.after, "fail");
    await until(async () => (await hp.workflows.get(id)).end !== null);
    const late = await cli("rollback", id, ...REASON, "--json");
    assert.deepEqual([late.code, errorOf(late)["code"]], [1, "wrong_state"]);
    const shown = (await cli("show", id)).out.replaceAll(/\s+/g, " ");
    holds(shown, ["rollback refused; it was asked for by person:", "Food order: withdrawn by person:"]);
  });

  test("fork at a checkpoint; the fork runs by itself and the first one is not touched", async (t) => {
    const { id, hp, cli, approval, done } = await waiting(t);
    await hp.approvals.approve(approval, { by: "person:ann" });
    await until(async () => (await hp.workflows.get(id)).end !== null);
    const wrong = await cli("fork", id, "--at", "Nowhere");
    assert.equal(wrong.code, 1);
    assert.match(wrong.err, /It has passed "Plan", "Food order"\./);
    const forked = await cli("fork", id, "--at", "Food order", "--json");
    assert.equal(forked.code, 0, forked.err);
    const fork = JSON.parse(forked.out).workflow.id as string;
    hp.work(AbortSignal.timeout(60_000)).catch(() => undefined);
    await until(async () => (await hp.workflows.get(fork)).end !== null);
    assert.deepEqual(done, ["book A", "order 100", "order 100"]);
    const text = (await cli("show", fork)).out;
    holds(text, ["  completed", `fork         of ${id}, from its "Food order" on`]);
    assert.equal((await cli("fork", id)).code, 2);
  });

  test("cancel a workflow, or the question of its checkpoint; what was done stays done", async (t) => {
    const first = await waiting(t);
    const cancelled = await first.cli("cancel", "party-1", "--reason", "no party");
    assert.equal(cancelled.code, 0, cancelled.err);
    holds(cancelled.out, [`Cancelled: ${first.id}, "party". What it did stays done`]);
    assert.equal((await first.hp.approvals.get(first.approval)).status, "cancelled");
    assert.deepEqual(first.done, ["book A"]);
    holds((await first.cli("show", first.id)).out, ["why          cancelled", "reason       no party"]);
    const second = await waiting(t);
    const question = await second.cli("cancel", second.approval, ...REASON);
    holds(question.out, [`The workflow ${second.id} is failed; what it did stays done.`]);
    const [unknown, odd] = await Promise.all([
      second.cli("cancel", `wf_${"0".repeat(26)}`, ...REASON, "--json"),
      second.cli("cancel", "nobody knows", ...REASON, "--json"),
    ]);
    assert.deepEqual([unknown.code, odd.code], [3, 3]);
    assert.match(errorOf(unknown)["next"] ?? "", /`holdpoint workflows` lists them/);
  });
});

test("ids of workflows may be shortened; a request id that two things have is ambiguous", async (t) => {
  const { id, hp, cli } = await waiting(t);
  const tool = hp.gate({ name: "note", policy: "approve", run: () => 1 });
  await tool({}, { requestId: "party-1" });
  const [short, fewer, none, twice] = await Promise.all([
    cli("show", id.slice(0, -3).toLowerCase(), "--json"),
    cli("show", id.slice(0, 6), "--json"),
    cli("show", "wf_ZZZZZZZZ", "--json"),
    cli("show", "party-1", "--json"),
  ]);
  assert.equal(JSON.parse(short.out).workflow.id, id);
  assert.deepEqual([errorOf(fewer)["code"], errorOf(none)["code"]], ["unknown_id", "unknown_id"]);
  assert.deepEqual([twice.code, errorOf(twice)["code"]], [3, "ambiguous_id"]);
  assert.match(errorOf(twice)["next"] ?? "", new RegExp(`act_\\w+ ${id}`));
});
