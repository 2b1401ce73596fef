/** Operations of a workflow under attack: each test names what once went wrong. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { z } from "zod";
import type { InputSchema } from "../../src/effects/arguments.ts";
import type { StepContext, WorkflowContext } from "../../src/workflows/definition.ts";
import { journalText } from "../fixtures/runtime.ts";
import { opened } from "./kit.ts";
import { ANN, atRest, type Desk, office, question, reopen, waiting } from "./office.ts";

const completed = (result: unknown) => ({ status: "completed", result });

describe("a gated step runs with the arguments in force", () => {
  const pay = (ctx: WorkflowContext, done: string[]) =>
    ctx.step(
      "pay",
      {
        approvalRequired: true,
        args: { amount: 1_000 },
        undo: (_: unknown, { args }: StepContext<{ amount: number }>) =>
          void done.push(`took back ${args.amount}`),
      },
      ({ args }) => {
        done.push(`paid ${args.amount}`);
        return args.amount;
      },
    );

  test("after a person's edit, and so does its undo", async () => {
    const done: string[] = [];
    const { place, desk, id, end } = await opened(async (ctx) => {
      await pay(ctx, done);
      await ctx.checkpoint("Look");
    });
    await desk.approvals.approve(await question(place, desk), { ...ANN, edit: { amount: 10 } });
    await place.until(async () => (await desk.workflows.get(id)).pending !== null);
    await desk.approvals.reject(await question(place, desk), { ...ANN, reason: "no", final: true });
    await end();
    assert.deepEqual(done, ["paid 10", "took back 10"]);
    await desk.close();
  });

  test("after a revision by the workflow's policy", async () => {
    const policy = ({ args }: { readonly args: { readonly amount: number } }) =>
      args.amount > 20
        ? ({ verdict: "revise", set: { amount: 20 }, reason: "at most 20" } as const)
        : "approve";
    const { desk, end } = await opened(
      (ctx) => ctx.step("pay", { args: { amount: 1_000 } }, ({ args }) => args.amount),
      { policy: policy as never },
    );
    assert.partialDeepStrictEqual(await end(), completed(20));
    await desk.close();
  });

  test("and a plain one has none", async () => {
    const { desk, end } = await opened((ctx) => ctx.step("look", ({ args }) => args));
    assert.partialDeepStrictEqual(await end(), completed({}));
    await desk.close();
  });
});

describe("an operation that fails while the definition awaits another does not end the process", () => {
  const fail = () => {
    throw new Error("no");
  };
  const FAILING: readonly (readonly [string, (ctx: WorkflowContext) => Promise<unknown>])[] = [
    ["a step", (ctx) => ctx.step("fails", fail)],
    ["a gated step", (ctx) => ctx.step("fails", { approvalRequired: true, args: { n: 1n } }, () => 1)],
    ["a sleep", (ctx) => ctx.sleep(-1)],
    ["a sleep until a time", (ctx) => ctx.sleepUntil(Number.NaN)],
    ["a question", (ctx) => ctx.ask("q", "?", { withinMs: -1 })],
    ["branches", (ctx) => ctx.parallel([(own) => own.step("fails", fail)])],
  ];
  for (const [what, begin] of FAILING)
    test(what, async () => {
      const { desk, end } = await opened(async (ctx) => {
        try {
          const early = begin(ctx);
          await ctx.sleep(40);
          await early;
        } catch {
          return "caught";
        }
        return "nothing was thrown";
      });
      assert.partialDeepStrictEqual(await end(), completed("caught"));
      await desk.close();
    });
});

test("a step with a time-out that throws at once is over at once", async () => {
  const { place, desk, end } = await opened(async (ctx) => {
    await ctx.step("parse", { timeoutMs: 300 }, () => JSON.parse("{")).catch(() => undefined);
    await ctx.sleep(10_000);
    return "on";
  });
  assert.partialDeepStrictEqual(await end(), completed("on"));
  await place.pass(1_000);
  await desk.close();
});

test("a child whose schema fills in a default is the same child when its parent comes back", async () => {
  const place = office();
  const setUp = (desk: Desk) => {
    const input = z.object({ a: z.number(), b: z.number().default(1) });
    const child = desk.workflow("child", { input: input as never }, async (ctx, given: object) => {
      await ctx.sleep(5_000);
      return given;
    });
    return desk.workflow("w", {}, (ctx, _: object) => ctx.spawn(child, { a: 1 }));
  };
  const first = place.open();
  const { id } = await setUp(first).start({});
  await atRest(place, first, id);
  const second = await reopen(place, first, setUp);
  assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), completed({ a: 1, b: 1 }));
  await second.close();
});

describe("what a definition logs or is given", () => {
  const LOGS: readonly (readonly [string, string, unknown])[] = [
    ["a text cut in the middle of a character", `${"x".repeat(9_999)}😀 and so on`, null],
    ["half a character", "\ud800", { "\ud800": "\udc00" }],
    ["data that is far too large", "large", "x".repeat(70 * 1024 * 1024)],
    ["what JSON cannot hold", "odd", { nan: Number.NaN, big: 10n }],
  ];
  for (const [what, text, data] of LOGS)
    test(`does not hinder it, nor lose its values: ${what}`, async () => {
      const place = office();
      const given: number[] = [];
      const setUp = (desk: Desk) =>
        desk.workflow("w", {}, async (ctx, _: object) => {
          const chance = ctx.random();
          ctx.log(text, data);
          given.push(chance);
          await ctx.step(`step ${Math.floor(chance * 1e9)}`, () => 1);
          await ctx.sleep(10_000);
          return chance;
        });
      const first = place.open();
      const { id } = await setUp(first).start({});
      await atRest(place, first, id);
      const second = await reopen(place, first, setUp);
      assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), completed(given[0]));
      assert.equal(new Set(given).size, 1);
      await second.close();
    });

  test("keeps its values when the commit that should take them along is refused", async () => {
    const place = office();
    const given: number[] = [];
    const setUp = (desk: Desk) =>
      desk.workflow("w", {}, async (ctx, _: object) => {
        const chance = ctx.random();
        given.push(chance);
        const text = "\ud800";
        const [asked, step] = await Promise.allSettled([
          ctx.ask("q", text),
          ctx.step(`step ${Math.floor(chance * 1e9)}`, () => 1),
        ]);
        await ctx.sleep(10_000);
        return [asked.status, step.status];
      });
    const first = place.open();
    const { id } = await setUp(first).start({});
    await atRest(place, first, id);
    const second = await reopen(place, first, setUp);
    const result = await place.finish(second.workflows.result(id));
    assert.partialDeepStrictEqual(result, completed(["rejected", "fulfilled"]));
    assert.equal(new Set(given).size, 1);
    await second.close();
  });

  const VERSIONS: readonly (readonly [string, number])[] = [
    ["v", Number.NaN],
    ["v", 0],
    ["v", 1.5],
    ["a/b#1", 1],
    ["\ud800", 1],
  ];
  for (const [change, version] of VERSIONS)
    test(`is refused at once: version ${JSON.stringify(change)} ${version}`, async () => {
      const { desk, end } = await opened(async (ctx) => {
        assert.throws(() => ctx.version(change, version), { code: "invalid_input" });
        return ctx.step("a", () => 1);
      });
      assert.partialDeepStrictEqual(await end(), completed(1));
      await desk.close();
    });
});

describe("a checkpoint that asks when a tool was used", () => {
  for (const isLate of [false, true])
    test(`asks when a child used it${isLate ? " that was spawned before the last checkpoint" : ""}`, async () => {
      const place = office();
      const desk = place.open();
      const pay = desk.gate({ name: "pay", policy: "approve", effect: "idempotent", run: () => 1 });
      const child = desk.workflow("child", {}, async (ctx, _: object) => {
        if (isLate) await ctx.sleep(5_000);
        await ctx.call(pay, {});
      });
      const flow = desk.workflow(
        "w",
        {
          checkpoints: [
            { name: "First", requiresApproval: false },
            { name: "Look", when: { tools: ["pay"] } },
          ],
        },
        async (ctx, _: object) => {
          const over = ctx.spawn(child, {});
          if (isLate) await ctx.checkpoint("First");
          await over;
          await ctx.checkpoint("Look");
        },
      );
      const { id } = await flow.start({});
      await question(place, desk);
      assert.equal((await desk.workflows.get(id)).status, "awaiting_approval");
      await place.finish(desk.close());
    });
});

describe("the policy of a workflow holds in its children and theirs", () => {
  const setUp = (desk: Desk, done: string[], policy: "block" | "escalate") => {
    const run = () => void done.push("paid");
    const pay = desk.gate({ name: "pay", policy: "approve", effect: "idempotent", run });
    const grandchild = desk.workflow("grandchild", {}, async (ctx, _: object) => {
      await ctx.step("note", { args: { n: 1 } }, run).catch(() => undefined);
      return (await ctx.call(pay, {})).status;
    });
    const child = desk.workflow("child", {}, (ctx, _: object) => ctx.spawn(grandchild, {}));
    return {
      grandchild,
      parent: desk.workflow("w", { policy }, (ctx, _: object) => ctx.spawn(child, {})),
    };
  };

  test("and blocks what it would block", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const { parent, grandchild } = setUp(desk, done, "block");
    assert.partialDeepStrictEqual(await place.finish(parent.run({})), completed("refused"));
    assert.deepEqual(done, []);
    assert.partialDeepStrictEqual(await place.finish(grandchild.run({})), completed("done"));
    await desk.close();
  });

  test("and a process that does not know that policy asks people", async () => {
    const place = office();
    const first = place.open();
    const slow = (desk: Desk, policy: boolean) => {
      const pay = desk.gate({ name: "pay", policy: "approve", effect: "idempotent", run: () => 1 });
      const child = desk.workflow("child", {}, async (ctx, _: object) => {
        await ctx.sleep(5_000);
        return (await ctx.call(pay, {})).status;
      });
      if (policy) return desk.workflow("w", { policy: "approve" }, (ctx, _: object) => ctx.spawn(child, {}));
      return child;
    };
    const { id } = await slow(first, true).start({});
    await atRest(place, first, id);
    const second = await reopen(place, first, (desk) => slow(desk, false));
    const asked = await question(place, second);
    assert.match((await second.approvals.get(asked)).reason, /policy of the workflow "w"/);
    await place.finish(second.close());
  });
});

describe("an answer that the question's own schema does not let through", () => {
  const even = z.object({ n: z.number().refine((n) => n % 2 === 0, "even") });
  const one: InputSchema<{ n: number }> = {
    "~standard": {
      version: 1,
      vendor: "mine",
      validate: (value) =>
        (value as { n: number }).n === 4
          ? { value: { n: 5 } }
          : { issues: [{ message: "not even 4", path: ["n"] }] },
    },
  };
  for (const [what, answer, expected] of [
    ["a refinement", even as unknown as InputSchema<{ n: number }>, { n: 4 }],
    ["a schema without JSON Schema", one, { n: 5 }],
  ] as const)
    test(`is no answer: ${what}`, async () => {
      const { place, desk, end } = await opened(async (ctx) => {
        const first = await ctx.ask("q", "?", { answer });
        const second = await ctx.ask("q", "again?", { answer });
        return [first, second.answered && second.answer];
      });
      const wrong = await question(place, desk);
      await desk.approvals.approve(wrong, { ...ANN, edit: { n: 3 } });
      const again = await place.until(async () => (await waiting(place, desk)).find((id) => id !== wrong));
      await desk.approvals.approve(again, { ...ANN, edit: { n: 4 } });
      const result = await end();
      assert.partialDeepStrictEqual(result, completed([{ answered: false, why: "invalid" }, expected]));
      assert.match(JSON.stringify(result), /n: (not )?even/);
      await desk.close();
    });
});

describe("ctx.version in a workflow that is new", () => {
  test("answers the new way after a log", async () => {
    const { desk, end } = await opened(async (ctx) => {
      ctx.log("hello");
      await ctx.step("a", () => 1);
      return ctx.version("c", 2);
    });
    assert.partialDeepStrictEqual(await end(), completed(2));
    await desk.close();
  });

  test("answers the new way in branches side by side", async () => {
    const branch = async (ctx: WorkflowContext) => {
      await ctx.step("a", () => 1);
      const version = ctx.version("c", 2);
      await ctx.step("b", () => 1);
      return version;
    };
    const { desk, end } = await opened((ctx) => ctx.parallel([branch, branch, branch]));
    assert.partialDeepStrictEqual(await end(), completed([2, 2, 2]));
    await desk.close();
  });

  test("and the old way in a branch that had ended, or had gone on in branches of its own", async () => {
    const place = office();
    const inner = (ctx: WorkflowContext) => ctx.parallel([(own) => own.step("deep", () => 1)]);
    const setUp = (isNew: boolean) => (desk: Desk) =>
      desk.workflow("w", {}, async (ctx, _: object) => {
        const versions = await ctx.parallel([
          async (own) => {
            await own.step("a", () => 1);
            return isNew ? own.version("after a") : 0;
          },
          async (own) => {
            await own.step("b", () => 1);
            const version = isNew ? own.version("before deep") : 0;
            await inner(own);
            return version;
          },
        ]);
        await ctx.sleep(5_000);
        return [...versions, isNew ? ctx.version("at the end") : 0];
      });
    const first = place.open();
    const { id } = await setUp(false)(first).start({});
    await atRest(place, first, id);
    const second = await reopen(place, first, setUp(true));
    assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), completed([0, 0, 1]));
    await second.close();
  });
});

describe("a secret that was handed to a call stays out of the journal", () => {
  const SECRET = "hunter2-very-secret-value";
  type Parts = {
    readonly pay: Parameters<WorkflowContext["call"]>[0];
    readonly child: Parameters<WorkflowContext["spawn"]>[0];
  };
  const WAYS: readonly (readonly [string, (ctx: WorkflowContext, parts: Parts) => unknown])[] = [
    ["in the input of a child", (ctx, { child }) => ctx.spawn(child, { a: SECRET }).catch(() => undefined)],
    ["in what an agent says", (ctx, { pay }) => ctx.call(pay, {}, { rationale: `it is ${SECRET}` })],
    ["in a log", (ctx) => ctx.log(SECRET, { [SECRET]: SECRET })],
    ["in a log that is cut within it", (ctx) => ctx.log(`${"x".repeat(9_990)}${SECRET}`)],
    [
      "in an error that is cut within it",
      (ctx) =>
        ctx
          .step("s", () => {
            throw new Error(`${"x".repeat(1_990)}${SECRET}`);
          })
          .catch(() => undefined),
    ],
    ["in a question", (ctx) => void ctx.ask("q", SECRET, { suggestion: { a: SECRET } })],
  ];
  for (const [what, say] of WAYS)
    test(what, async () => {
      const place = office();
      const desk = place.open();
      const handle = await desk.putSecret(SECRET);
      const pay = desk.gate({ name: "pay", policy: "approve", effect: "idempotent", run: () => 1 });
      const child = desk.workflow("child", {}, async () => 1);
      const flow = desk.workflow("w", {}, async (ctx, _: object) => {
        await ctx.call(pay, { key: handle });
        await say(ctx, { pay, child } as unknown as Parts);
        await ctx.step("on", () => 1);
        await ctx.sleep(100);
        return 1;
      });
      await place.finish(flow.run({}));
      assert.ok(!(await journalText(desk)).includes(SECRET.slice(0, 9)));
      await desk.close();
    });

  test("and a child is not started with a text in its place", async () => {
    const place = office();
    const desk = place.open();
    const handle = await desk.putSecret(SECRET);
    const pay = desk.gate({ name: "pay", policy: "approve", effect: "idempotent", run: () => 1 });
    const child = desk.workflow("child", {}, async () => assert.fail("it ran"));
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      await ctx.call(pay, { key: handle });
      return ctx.spawn(child, { a: SECRET });
    });
    assert.match(JSON.stringify(await place.finish(flow.run({}))), /secret's value is in the input/);
    await desk.close();
  });
});

test("a request id under stricter terms does not answer the workflow that was started without them", async () => {
  const place = office();
  const desk = place.open();
  const flow = desk.workflow("w", {}, (ctx, _: object) => ctx.sleep(10_000));
  const { id } = await flow.start({}, { requestId: "r" });
  for (const terms of [{ approvalRequired: true }, { budget: "trip" }])
    await assert.rejects(flow.start({}, { requestId: "r", ...terms }), { code: "request_conflict" });
  assert.equal((await flow.start({}, { requestId: "r", approvalRequired: false })).id, id);
  await place.finish(desk.close());
});

describe("refused with a text", () => {
  const getter = (field: string) =>
    Object.defineProperty({}, field, {
      enumerable: true,
      get() {
        throw new Error("x");
      },
    });
  type Case = readonly [
    string,
    (ctx: WorkflowContext, tools: Parameters<Parameters<typeof opened>[0]>[1]) => unknown,
    RegExp,
  ];
  const CASES: readonly Case[] = [
    [
      "retries: null",
      (ctx) => ctx.step("x", { retries: null } as never, () => 1),
      /has retries that are not/,
    ],
    ["undo: 5", (ctx) => ctx.step("x", { undo: 5 } as never, () => 1), /has an undo that is not a function/],
    [
      "a step's approvalRequired: 1",
      (ctx) => ctx.step("x", { approvalRequired: 1 } as never, () => 1),
      /approvalRequired that is not true or false/,
    ],
    [
      "options of a step that are a number",
      (ctx) => ctx.step("x", 5 as never, () => 1),
      /options of the step \\"x\\" are an object/,
    ],
    [
      "rationale: 5",
      (ctx, { book }) => ctx.call(book, { n: 1 }, { rationale: 5 } as never),
      /at most 10000 characters/,
    ],
    [
      "options of a call that are null",
      (ctx, { book }) => ctx.call(book, { n: 1 }, null as never),
      /What ctx.call takes is an object/,
    ],
    [
      "agent person:ann",
      (ctx, { book }) => ctx.call(book, { n: 1 }, { agent: "person:ann" }),
      /An agent is agent:<name>/,
    ],
    [
      "continueInDoubt: yes",
      (ctx, { book }) => ctx.call(book, { n: 1 }, { continueInDoubt: "yes" } as never),
      /continueInDoubt that is not true or false/,
    ],
    [
      "withinMs: text",
      (ctx) => ctx.ask("q", "?", { withinMs: "5" } as never),
      /withinMs that is not a whole number/,
    ],
    [
      "an unknown option of a question",
      (ctx) => ctx.ask("q", "?", { within: 5 } as never),
      /has no field \\"within\\"/,
    ],
    [
      "a schema that throws",
      (ctx) => ctx.ask("q", "?", { answer: getter("~standard") } as never),
      /could not be read: x/,
    ],
    [
      "approvers that throw",
      (ctx) => ctx.ask("q", "?", { approvers: getter("quorum") }),
      /approvers.quorum is computed by a getter/,
    ],
    [
      "a branch that is no function",
      (ctx) => ctx.parallel([1 as never]),
      /parallel takes a list of functions/,
    ],
    ["a checkpoint named start", (ctx) => ctx.checkpoint("start"), /is not named \\"start\\"/],
  ];
  for (const [what, misuse, expected] of CASES)
    test(what, async () => {
      const { desk, done, end } = await opened(async (ctx, tools) => misuse(ctx, tools));
      const result = await end();
      assert.equal(result.status, "failed");
      assert.match(JSON.stringify(result), expected);
      assert.deepEqual(done, []);
      await desk.close();
    });

  test("a declared checkpoint named start", () => {
    const desk = office().open();
    const declare = () => desk.workflow("w", { checkpoints: [{ name: "start" }] }, async () => 1);
    assert.throws(declare, /start/);
  });
});
