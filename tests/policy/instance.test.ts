/** A policy document over everything that an instance does. */
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { z } from "zod";
import { admin } from "../../src/admin.ts";
import type { Holdpoint, Notice } from "../../src/index.ts";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import type { JsonObject } from "../../src/kernel/json.ts";
import { type Folder, pendingApproval, temporaryFolder } from "../fixtures/folder.ts";

const ANN = { by: "person:ann" };

const REFUNDS = `policy: refunds
default: block
totals:
  refunded: { tool: refund, sum: args.amount }
rules:
  - id: cap
    tool: refund
    when: args.amount > 2000 - totals.refunded && totals.refunded < 2000
    verdict: revise
    set: { amount: { expr: 2000 - totals.refunded } }
    reason: at most 2000 in one run
  - id: exhausted
    tool: refund
    when: totals.refunded >= 2000
    verdict: block
    reason: nothing is left
  - id: large
    tool: refund
    when: args.amount > 1000
    verdict: escalate
    reason: over 1000 a person decides
  - id: small
    tool: refund
    verdict: approve
`;

const input = z.strictObject({ order: z.string(), amount: z.number(), reason: z.string().optional() });

function policyIn({ path }: Folder, text: string): string {
  const file = join(path, "..", "refunds.yaml");
  writeFileSync(file, text);
  return file;
}

function refundsOn(hp: Holdpoint, done: number[] = []) {
  const run = ({ amount }: { readonly amount: number }) => {
    done.push(amount);
    return { refunded: amount };
  };
  return hp.gate({ name: "refund", input, undo: () => "taken back", run });
}

function opened(context: TestContext, text = REFUNDS) {
  const folder = temporaryFolder(context);
  const hp = folder.open({ policy: policyIn(folder, text) });
  const done: number[] = [];
  return { folder, hp, done, refund: refundsOn(hp, done) };
}

async function noticeOf<Kind extends Notice["kind"]>({ notices }: Folder, kind: Kind, count = 1) {
  for (let look = 0; look < 1_000; look++) {
    const found = notices.filter((notice): notice is Extract<Notice, { kind: Kind }> => notice.kind === kind);
    if (found.length >= count) return found;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  return assert.fail(`no ${kind}`);
}

async function adoptedIn(hp: Holdpoint): Promise<JsonObject> {
  for await (const line of hp.journal.export()) {
    const { entry } = JSON.parse(line) as {
      readonly entry?: { readonly header: string; readonly body: string };
    };
    if (entry?.header.includes('"policy.adopted"') === true) return JSON.parse(entry.body) as JsonObject;
  }
  return assert.fail("no policy was adopted");
}

describe("a policy file", () => {
  test("decides, and every verdict names its version, whose document is in the journal", async (context) => {
    const { hp, refund, done } = opened(context);
    const small = await refund({ order: "A-1", amount: 10 }, { requestId: "small" });
    assert.equal(small.status, "done");
    const large = refund({ order: "A-2", amount: 1_200 }, { requestId: "large" });
    await hp.approvals.approve(await pendingApproval(hp), { ...ANN, edit: { amount: 800 } });
    assert.equal((await large).status, "done");
    assert.deepEqual(done, [10, 800]);
    const review = (await hp.actions.get(small.action)).review;
    const adopted = await adoptedIn(hp);
    assert.equal(adopted["digest"], review?.policy);
    assert.partialDeepStrictEqual(adopted, { document: { policy: "refunds" }, source: "refunds.yaml" });
    assert.partialDeepStrictEqual(review, { verdict: "approve", rule: "small" });
  });

  test("blocks what no rule speaks of", async (context) => {
    const { hp } = opened(context);
    const wipe = hp.gate({ name: "wipe", run: () => assert.fail("it ran") });
    assert.partialDeepStrictEqual(await wipe({}, { requestId: "w" }), {
      status: "refused",
      code: "blocked",
      by: "policy (default)",
    });
  });

  test("refuses an approver's edit that it forbids, names the rule, and nothing runs", async (context) => {
    const text = REFUNDS.replace(
      "rules:",
      "rules:\n  - { id: never, tool: refund, when: args.amount > 5000, verdict: block, reason: never so much }",
    );
    const { hp, refund, done } = opened(
      context,
      text.replace("args.amount > 2000 - totals", "args.amount > 20000 - totals"),
    );
    const call = refund({ order: "A-2", amount: 1_200 }, { requestId: "large", waitMs: 0 });
    assert.partialDeepStrictEqual(await call, { status: "pending", code: "pending" });
    const id = await pendingApproval(hp);
    await assert.rejects(hp.approvals.approve(id, { ...ANN, edit: { amount: 6_000 } }), (error) => {
      assert.ok(isHoldpointError(error, "edit_refused"));
      assert.match(error.what, /never so much/);
      return true;
    });
    assert.deepEqual(done, []);
  });

  test("and a tool's own policy are both asked; the stricter one counts", async (context) => {
    const { hp } = opened(context, "policy: open\ndefault: approve\n");
    const own = hp.gate({ name: "own", policy: "escalate", run: () => "ran" });
    const asked = await own({}, { requestId: "o", waitMs: 0 });
    assert.partialDeepStrictEqual(asked, { status: "pending", code: "pending" });
    const free = hp.gate({ name: "free", run: () => "ran" });
    assert.equal((await free({}, { requestId: "f" })).status, "done");
  });

  test("caps what calls side by side do in one run", async (context) => {
    const { hp, refund, done } = opened(context);
    const flow = hp.workflow("refunds", async (ctx, _: object) => {
      const calls = Array.from(
        { length: 6 },
        (_one, index) => () => ctx.call(refund, { order: `A-${index}`, amount: 900 }),
      );
      return (await ctx.parallel(calls)).map(({ status }) => status);
    });
    const result = await flow.run({});
    assert.equal(result.status, "completed");
    assert.equal(
      done.reduce((sum, amount) => sum + amount, 0),
      2_000,
    );
  });

  test("lets what nobody thought of be taken back", async (context) => {
    const { hp, refund } = opened(context);
    const flow = hp.workflow("refunds", { checkpoints: [{ name: "Look" }] }, async (ctx, _: object) => {
      if (ctx.attempt === 1) await ctx.call(refund, { order: "A-1", amount: 5 });
      await ctx.checkpoint("Look", {});
      return ctx.attempt;
    });
    const { id } = await flow.start({});
    await hp.approvals.reject(await pendingApproval(hp), { ...ANN, reason: "take it back" });
    await hp.approvals.approve(await pendingApproval(hp), ANN);
    assert.partialDeepStrictEqual(await hp.workflows.result(id), { status: "completed", result: 2 });
    const { rolledBack } = await hp.workflows.get(id);
    assert.equal(rolledBack?.undone.length, 1);
  });
});

describe("a policy file that is wrong", () => {
  test("is refused at once, with its line", (context) => {
    const folder = temporaryFolder(context);
    const file = policyIn(folder, "policy: p\nrules:\n  - id: a\n    verdict: aprove\n");
    assert.throws(() => folder.open({ policy: file }), /refunds\.yaml:4:\d+ .*verdict/s);
  });

  test("in a field of a tool is refused when the tool is known, and nothing runs", async (context) => {
    const { refund, done } = opened(context, REFUNDS.replace("args.amount > 1000", "args.amont > 1000"));
    await assert.rejects(refund({ order: "A-1", amount: 10 }, { requestId: "r" }), (error) => {
      assert.ok(isHoldpointError(error, "policy_invalid"));
      assert.match(error.what, /refunds\.yaml:19:\d+ .*amont/s);
      return true;
    });
    assert.deepEqual(done, []);
  });

  test("is refused when it is not there", (context) => {
    const folder = temporaryFolder(context);
    assert.throws(() => folder.open({ policy: join(folder.path, "none.yaml") }), /cannot be read/);
  });
});

describe("a policy file that changes", () => {
  test("is in force without a restart, and recorded", async (context) => {
    const { folder, hp, refund } = opened(context);
    assert.equal((await refund({ order: "A-1", amount: 10 }, { requestId: "a" })).status, "done");
    policyIn(folder, REFUNDS.replace("args.amount > 1000", "args.amount > 5"));
    const [, second] = await noticeOf(folder, "policy_adopted", 2);
    const asked = await refund({ order: "A-1", amount: 10 }, { requestId: "b", waitMs: 0 });
    assert.partialDeepStrictEqual(asked, { status: "pending", code: "pending" });
    assert.equal((await hp.actions.get(asked.action)).review?.policy, second?.digest);
  });

  test("into something wrong leaves the one in force, and says why", async (context) => {
    const { folder, refund } = opened(context);
    assert.equal((await refund({ order: "A-1", amount: 10 }, { requestId: "a" })).status, "done");
    policyIn(folder, "policy: refunds\ndefault: approve\nruls: []\n");
    const [refused] = await noticeOf(folder, "policy_refused");
    assert.match(refused?.faults.join("\n") ?? "", /refunds\.yaml:3:1 .*ruls/);
    const large = await refund({ order: "A-1", amount: 1_500 }, { requestId: "b", waitMs: 0 });
    assert.partialDeepStrictEqual(large, { status: "pending", code: "pending" });
    rmSync(join(folder.path, "..", "refunds.yaml"));
    await noticeOf(folder, "policy_refused", 2);
    const small = await refund({ order: "A-1", amount: 10 }, { requestId: "c" });
    assert.equal(small.status, "done");
  });

  test("under an approval has the action reviewed again before it runs", async (context) => {
    const { folder, hp, refund, done } = opened(context);
    const call = refund({ order: "A-1", amount: 1_500 }, { requestId: "a" });
    const approval = await pendingApproval(hp);
    policyIn(folder, REFUNDS.replace("verdict: escalate", "verdict: block"));
    await noticeOf(folder, "policy_adopted", 2);
    await hp.approvals.approve(approval, ANN);
    assert.partialDeepStrictEqual(await call, { status: "refused", code: "blocked", by: "policy (large)" });
    assert.deepEqual(done, []);
  });
});

test("the same document as an object decides the same, with functions for conditions", async (context) => {
  const folder = temporaryFolder(context);
  const hp = folder.open({
    policy: {
      policy: "by-code",
      rules: [
        { id: "weekend", when: ({ now }) => new Date(now).getUTCFullYear() < 2000, verdict: "block" },
        { id: "rest", verdict: "approve" },
      ],
    },
  });
  const greet = hp.gate({ name: "greet", run: () => "hello" });
  assert.partialDeepStrictEqual(await greet({}, { requestId: "g" }), { status: "done", result: "hello" });
});

describe("a policy that was in the way of an attack", () => {
  test("sees arguments that are too large for the journal: they are counted like others", async (context) => {
    const { hp, refund, done } = opened(context);
    const flow = hp.workflow("refunds", async (ctx, _: object) => {
      const answers: unknown[] = [];
      for (const order of ["A-1", "A-2", "A-3", "A-4"])
        answers.push((await ctx.call(refund, { order, amount: 900, reason: "x".repeat(70_000) })).status);
      return answers;
    });
    await flow.run({});
    assert.deepEqual(done, [900, 900, 200]);
  });

  test("changed between the start of the program and its first call is the one that decides", async (context) => {
    const { folder, refund, done } = opened(context, "policy: open\ndefault: approve\n");
    policyIn(folder, "policy: open\ndefault: block\n");
    const answer = await refund({ order: "A-1", amount: 10 }, { requestId: "a" });
    assert.partialDeepStrictEqual(answer, { status: "refused", code: "blocked" });
    assert.deepEqual(done, []);
  });

  test("and does not fit the tools is not recorded as in force", async (context) => {
    const { folder, hp, refund } = opened(
      context,
      REFUNDS.replace("args.amount > 1000", "args.amont > 1000"),
    );
    await assert.rejects(refund({ order: "A-1", amount: 10 }, { requestId: "r" }), /policy_invalid/);
    await hp.close();
    const reader = folder.open({ mode: "existing" });
    assert.deepEqual(await admin(reader).policies.list(), []);
  });

  test("protects a tool whose name is that of another tool's undo", (context) => {
    const hp = temporaryFolder(context).open();
    hp.gate({ name: "move.undo", policy: "block", run: () => assert.fail("it ran") });
    assert.throws(() => hp.gate({ name: "move", undo: () => "back", run: () => "moved" }), /tool_conflict/);
  });
});
