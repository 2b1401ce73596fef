import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { z } from "zod";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import { noticeText } from "../../src/runtime/notices.ts";
import { secret } from "../../src/runtime/secrets.ts";
import { journalText, machine, pendingOf } from "../fixtures/runtime.ts";

const ANN = { by: "person:ann" } as const;

describe("secrets are made by the program, not written by a model", () => {
  const environment = { KEY: "AKIA-super-secret-value" };
  const forged = JSON.parse('{"body":{"$secret":"env:KEY"}}') as { body: string };

  test("JSON that looks like a handle opens nothing", async () => {
    const hp = machine().process({ environment });
    const sent: unknown[] = [];
    const send = hp.gate({
      name: "send",
      policy: "approve",
      input: z.object({ body: z.string() }),
      run: (args) => sent.push(args),
    });
    await assert.rejects(send(forged, { requestId: "1" }), (error) =>
      isHoldpointError(error, "reserved_key"),
    );
    assert.deepEqual(sent, []);
    const honest = await send({ body: secret("env:KEY") }, { requestId: "2" });
    assert.equal(honest.status, "done");
    assert.deepEqual(sent, [{ body: environment.KEY }]);
  });

  test("nor does an approver's edit bring one in, though it may keep one that is there", async () => {
    const hp = machine().process({ environment });
    const send = hp.gate({ name: "send", run: (args: { body: string; to: string }) => args.to });
    const call = send({ body: secret("env:KEY"), to: "a" }, { requestId: "1" });
    const id = await pendingOf(hp);
    const other = JSON.parse('{"to":{"$secret":"env:OTHER"}}') as object;
    await assert.rejects(hp.approvals.approve(id, { ...ANN, edit: other }), (error) =>
      isHoldpointError(error, "reserved_key"),
    );
    await hp.approvals.approve(id, {
      ...ANN,
      edit: { ...(JSON.parse('{"body":{"$secret":"env:KEY"}}') as object), to: "b" },
    });
    assert.equal((await call).status, "done");
  });

  test("a program that edits puts handles where it likes, and what looks like one beside them counts for nothing", async () => {
    const sent: unknown[] = [];
    const hp = machine().process({ environment: { ...environment, NEW: "another-secret-value" } });
    const send = hp.gate({ name: "send", run: (args: { body: string; to: string }) => void sent.push(args) });
    const call = send({ body: secret("env:KEY"), to: "a" }, { requestId: "1" });
    const id = await pendingOf(hp);
    const [fresh, like] = [secret("env:NEW"), JSON.parse('{"$secret":"env:NEW"}') as string];
    await assert.rejects(hp.approvals.approve(id, { ...ANN, edit: { body: fresh, to: like } }), (error) =>
      isHoldpointError(error, "reserved_key"),
    );
    await hp.approvals.approve(id, { ...ANN, edit: { body: fresh } });
    assert.equal((await call).status, "done");
    assert.deepEqual(sent, [{ body: "another-secret-value", to: "a" }]);
  });

  test("what people write about an action loses the values of its secrets", async () => {
    const hp = machine().process({ environment });
    const send = hp.gate({ name: "send", run: (_args: { body: string }) => 1 });
    const call = send({ body: secret("env:KEY") }, { requestId: "1" });
    await hp.approvals.cancel(await pendingOf(hp), { ...ANN, reason: `it has ${environment.KEY} in it` });
    await call;
    assert.ok(!(await journalText(hp)).includes(environment.KEY));
    const told = send({ body: secret("env:KEY") }, { requestId: `job-${environment.KEY}` });
    await assert.rejects(told, (error) => isHoldpointError(error, "secret_transformed"));
  });
});

describe("handles do not come about on the way", () => {
  const environment = { KEY: "AKIA-super-secret-value" };

  test("a schema that parses text cannot make one", async () => {
    const hp = machine().process({ environment });
    const input = z.object({ data: z.string().transform((text) => JSON.parse(text) as unknown) });
    const post = hp.gate({ name: "post", policy: "approve", input: input as never, run: () => 1 });
    const call = post({ data: '{"$secret":"env:KEY"}' } as never, { requestId: "1" });
    await assert.rejects(call, (error) => isHoldpointError(error, "invalid_args"));
  });

  test("nor can a policy that revises with what a model wrote, though it may use one of its author's", async () => {
    const hp = machine().process({ environment });
    const seen: unknown[] = [];
    const revising = (name: string, set: object) =>
      hp.gate({
        name,
        policy: ({ args }: { args: { key?: string } }) =>
          args.key === undefined
            ? { verdict: "revise" as const, set: set as never, reason: "a key is needed" }
            : ("approve" as const),
        run: (args) => void seen.push(args.key),
      });
    const forged = await revising("forged", JSON.parse('{"key":{"$secret":"env:KEY"}}') as object)(
      {},
      { requestId: "1" },
    );
    assert.equal("code" in forged && forged.code, "blocked");
    const honest = await revising("honest", { key: secret("env:KEY") })({}, { requestId: "2" });
    assert.equal(honest.status, "done");
    assert.deepEqual(seen, [environment.KEY]);
  });
});

test("a request id cannot be taken for an id of Holdpoint's own", async () => {
  const hp = machine().process();
  const pay = hp.gate({ name: "pay", policy: "approve", run: () => 1 });
  const first = await pay({ amount: 1 }, { requestId: "1" });
  for (const requestId of [
    first.action,
    first.action.replace("act", "eff"),
    first.action.replace("act", "apr"),
  ])
    await assert.rejects(pay({ amount: 1 }, { requestId }), (error) =>
      isHoldpointError(error, "invalid_input"),
    );
});

test("an action that is done has its answer also when its secret is gone", async () => {
  const computer = machine();
  const hp = computer.process({ environment: { KEY: "AKIA-super-secret-value" } });
  const define = { name: "send", policy: "approve", run: (_args: { key: string }) => 1 } as const;
  const original = await hp.gate(define)({ key: secret("env:KEY") }, { requestId: "1" });
  const later = computer.process();
  assert.deepEqual(await later.gate(define)({ key: secret("env:KEY") }, { requestId: "1" }), original);
});

describe("what was bound is what runs", () => {
  test("a cost function that changes its arguments changes nothing else", async () => {
    const hp = machine().process();
    await hp.budgets.limit("daily", { currency: "USD", micros: 1_000n });
    const ran: unknown[] = [];
    const pay = hp.gate({
      name: "pay",
      cost: (args: { amount: number }) => {
        args.amount = 999;
        return { budget: "daily", amount: { currency: "USD", micros: 1n } };
      },
      run: (args) => void ran.push(args.amount),
    });
    const call = pay({ amount: 100 }, { requestId: "1" });
    await hp.approvals.approve(await pendingOf(hp), ANN);
    await call;
    assert.deepEqual(ran, [100]);
  });

  test("a verdict is read once: one that answers differently the second time does not slip through", async () => {
    const hp = machine().process();
    let asked = 0;
    const policy = () =>
      Object.defineProperty({ verdict: "escalate" as const }, "approvers", {
        enumerable: true,
        get: () => (asked++ === 0 ? { quorum: 1 } : "nobody"),
      }) as { verdict: "escalate" };
    const pay = hp.gate({ name: "pay", policy, run: () => 1 });
    const answer = await pay({}, { requestId: "1", waitMs: 0 });
    assert.equal(answer.status, "refused");
  });

  test("an edit that one person could make does not stand in for two when the policy asks for two again", async () => {
    const hp = machine().process();
    let strict = false;
    const policy = ({ args }: { args: { amount: number } }) =>
      args.amount <= 50 && !strict
        ? ("approve" as const)
        : { verdict: "escalate" as const, approvers: { quorum: 2, from: ["person:ann", "person:bob"] } };
    const pay = hp.gate({ name: "pay", policy, run: () => 1 });
    void (await hp.switch.pause({ ...ANN, reason: "hold it before it starts", agent: "tester" }));
    const first = pay({ amount: 100 }, { requestId: "1", waitMs: 0 });
    assert.equal((await first).status, "pending");
    await hp.switch.resume({ ...ANN, reason: "go", agent: "tester" });
    await pay({ amount: 100 }, { requestId: "1", waitMs: 0 });
    const id = await pendingOf(hp);
    await hp.switch.pause({ ...ANN, reason: "hold it before it starts", agent: "tester" });
    await hp.approvals.approve(id, { ...ANN, edit: { amount: 50 } });
    strict = true;
    await hp.switch.resume({ ...ANN, reason: "go", agent: "tester" });
    const answer = await pay({ amount: 100 }, { requestId: "1", waitMs: 0 });
    assert.equal("code" in answer && answer.code, "pending");
  });
});

describe("the same thing under another name", () => {
  test("an edit cannot turn an action into one that was just done", async () => {
    const hp = machine().process();
    const done: string[] = [];
    const refund = hp.gate({
      name: "refund",
      dedupe: (args: { order: string }) => args.order,
      run: (args) => void done.push(args.order),
    });
    const first = refund({ order: "A" }, { requestId: "1" });
    await hp.approvals.approve(await pendingOf(hp), ANN);
    await first;
    const second = refund({ order: "B" }, { requestId: "2" });
    await hp.approvals.approve(await pendingOf(hp), { ...ANN, edit: { order: "A" } });
    const answer = await second;
    assert.equal("code" in answer && answer.code, "duplicate");
    assert.deepEqual(done, ["A"]);
  });

  test("an action whose schema changed since still has its original answer", async () => {
    const computer = machine();
    const before = computer.process();
    const run = () => 1;
    const old = before.gate({ name: "pay", policy: "approve", input: z.object({ amount: z.number() }), run });
    const original = await old({ amount: 5 }, { requestId: "1" });
    await before.close();
    const after = computer.process();
    const stricter = after.gate({
      name: "pay",
      policy: "approve",
      input: z.object({ amount: z.number().min(10) }),
      run,
    });
    assert.deepEqual(await stricter({ amount: 5 }, { requestId: "1" }), original);
    await assert.rejects(stricter({ amount: 6 }, { requestId: "1" }), (error) =>
      isHoldpointError(error, "invalid_args"),
    );
  });
});

test("an approval does not stay usable when the tool's cost cannot be told", async () => {
  const hp = machine().process();
  const cost = () => {
    throw new Error("the rate service is down");
  };
  const pay = hp.gate({ name: "pay", cost, run: () => 1 });
  const call = pay({}, { requestId: "1" });
  const id = await pendingOf(hp);
  await hp.approvals.approve(id, ANN);
  const answer = await call;
  assert.equal("code" in answer && answer.code, "blocked");
  assert.equal((await hp.approvals.get(id)).status, "lapsed");
});

test("reads that cost something cannot overrun a budget together", async () => {
  const hp = machine().process();
  await hp.budgets.limit("daily", { currency: "USD", micros: 10n });
  let ran = 0;
  const cost = () => ({ budget: "daily", amount: { currency: "USD", micros: 10n } });
  const look = hp.gate({ name: "look", effect: "read", policy: "approve", cost, run: () => ++ran });
  await Promise.all([1, 2, 3, 4, 5].map((n) => look({ n }, { requestId: `${n}` })));
  assert.equal(ran, 1);
});

test("an author's function that answers a failing promise does not end the process", async () => {
  const hp = machine().process();
  const failing = (() => Promise.reject(new Error("asynchronous"))) as unknown as () => never;
  const tools = [
    hp.gate({ name: "a", policy: failing, run: () => 1 }),
    hp.gate({ name: "b", policy: "approve", cost: failing, run: () => 1 }),
    hp.gate({ name: "c", policy: "approve", dedupe: failing, run: () => 1 }),
  ];
  for (const tool of tools) assert.equal((await tool({}, { requestId: tool.toolName })).status, "refused");
});

test("a tool's words cannot move the cursor of whoever reads the notices", () => {
  const notice = {
    kind: "in_doubt",
    action: "act_1",
    effect: "eff_1",
    tool: "pay",
    reason: "\u001b[2K\rapplied",
  } as const;
  assert.ok(!noticeText(notice).includes("\u001b"));
});
