/** Code that runs in a definition, in a step, in an effect or in none of these: what a gated call is there, and what is known. */
import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { describe, type TestContext, test } from "node:test";
import {
  type Current,
  type GatedTool,
  type Holdpoint,
  type HoldpointError,
  isHoldpointError,
  type ToolDefinition,
} from "../../src/index.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";
import { machine } from "../fixtures/runtime.ts";
import { until } from "../fixtures/until.ts";

type Outer = Partial<ToolDefinition<object, unknown>>;
type Inner = GatedTool<{ to: string }, string>;

function opened(context: Pick<TestContext, "after">) {
  const hp = temporaryFolder(context).open();
  const sent: string[] = [];
  const mail = hp.gate({
    name: "mail",
    policy: "approve",
    run: ({ to }: { to: string }) => `${sent.push(to)} to ${to}`,
  });
  return { hp, mail, sent };
}

/** What was thrown at the call; undefined where nothing was. */
function thrownBy(call: () => unknown): HoldpointError | undefined {
  try {
    void (call() as Promise<unknown> | undefined)?.catch?.(() => undefined);
    return undefined;
  } catch (error) {
    assert.ok(isHoldpointError(error), String(error));
    return error;
  }
}

async function actionsIn(hp: Pick<Holdpoint, "actions">): Promise<readonly unknown[]> {
  const phases = ["open", "waiting", "running", "applied", "not_applied", "in_doubt", "refused"] as const;
  const pages = await Promise.all(phases.map((phase) => hp.actions.list({ phase })));
  return pages.flatMap(({ items }) => items.map((item) => item["tool"]));
}

const PARTS: Readonly<Record<string, (look: () => void) => Outer>> = {
  "the function of": (look) => ({ policy: "approve", effect: "idempotent", run: look }),
  "the policy of": (look) => ({
    policy: () => {
      look();
      return "approve";
    },
  }),
  "the cost of": (look) => ({
    policy: "approve",
    cost: () => {
      look();
      return { budget: "b", amount: { currency: "USD", micros: 0n } };
    },
  }),
  "the dedupe of": (look) => ({
    policy: "approve",
    dedupe: () => {
      look();
      return "same";
    },
  }),
  "the preview of": (look) => ({ policy: "escalate", preview: async () => look() }),
  "the isDefinite of": (look) => ({
    policy: "approve",
    run: () => Promise.reject(new Error("no")),
    isDefinite: () => {
      look();
      return true;
    },
  }),
  "the verify of": (look) => ({
    policy: "approve",
    effect: "probed",
    run: () => Promise.reject(new Error("no answer")),
    verify: async () => {
      look();
      return { answer: "applied" };
    },
  }),
};

const CALLS: Readonly<Record<string, (hp: Holdpoint, mail: Inner) => unknown>> = {
  "a gated tool": (_hp, mail) => mail({ to: "ann" }),
  "a gated tool under a request id": (_hp, mail) => mail({ to: "ann" }, { requestId: "inner" }),
  "hp.execute by name": (hp) => hp.execute({ requestId: "inner", action: "mail", payload: { to: "ann" } }),
  "hp.execute with a function": (hp) =>
    hp.execute({ requestId: "inner", action: "other", payload: {}, run: () => assert.fail("it ran") }),
};

describe("a call inside an effect", () => {
  for (const [part, outer] of Object.entries(PARTS))
    test(`is refused by both names in ${part} a tool, and nothing is written for it`, async () => {
      const { clock, process: start } = machine();
      const hp = start();
      await hp.budgets.limit("b", { currency: "USD", micros: 1n });
      const mail = hp.gate({ name: "mail", policy: "approve", run: () => assert.fail("it ran") });
      const seen: (HoldpointError | undefined)[] = [];
      const look = () => void seen.push(thrownBy(() => mail({})));
      const desk = hp.gate({ name: "desk", run: () => 1, ...outer(look) } as ToolDefinition<object, unknown>);
      await desk({}, { requestId: "outer", waitMs: 0 });
      await clock.advance(60_000);
      assert.ok(seen.length > 0);
      for (const error of seen) {
        assert.equal(error?.code, "nested_call");
        assert.equal(error?.what, `The tool "mail" was called inside ${part} the tool "desk".`);
        assert.equal(error?.data, 'Nothing was written for "mail".');
      }
      assert.deepEqual(await actionsIn(hp), ["desk"]);
      await hp.close();
    });

  for (const [what, inner] of Object.entries(CALLS))
    test(`is refused as ${what}, and the outer one ends as with any other error`, async (context) => {
      const { hp, mail, sent } = opened(context);
      const once = hp.gate({ name: "desk", policy: "approve", run: async () => inner(hp, mail) });
      const answer = await once({}, { requestId: "outer" });
      assert.ok(answer.status === "in_doubt");
      assert.match(
        answer.reason,
        /The tool "(mail|other)" was called inside the function of the tool "desk"/,
      );
      assert.deepEqual(sent, []);
      assert.deepEqual(await actionsIn(hp), ["desk"]);
    });

  test("is refused as a proposal of a tool that is performed here, and not of one that its agent performs", async (context) => {
    const { hp, sent } = opened(context);
    hp.remote.tool({ name: "bank.wire", policy: "approve" });
    const agent = "agent:a";
    const desk = hp.gate({
      name: "desk",
      policy: "approve",
      run: async () => {
        const permit = await hp.remote.propose({ tool: "bank.wire", args: {}, requestId: "wire", agent });
        await assert.rejects(
          hp.remote.propose({ tool: "mail", args: { to: "ann" }, requestId: "inner", agent }),
          /The tool "mail" was called inside the function of the tool "desk"/,
        );
        return permit.status;
      },
    });
    assert.partialDeepStrictEqual(await desk({}, { requestId: "outer" }), { result: "permitted" });
    assert.deepEqual(sent, []);
  });

  test("is refused in a transactional tool, whose transaction is rolled back", async (context) => {
    const { hp, mail, sent } = opened(context);
    const desk = hp.gate({
      name: "desk",
      policy: "approve",
      effect: "transactional",
      runInTransaction: () => void mail({ to: "ann" }),
    });
    const answer = await desk({}, { requestId: "outer" });
    assert.ok("code" in answer && answer.code === "not_applied");
    assert.match(answer.reason, /"mail" was called inside the function of the tool "desk"/);
    assert.deepEqual(sent, []);
  });

  test("is refused in an undo", async (context) => {
    const { hp, mail, sent } = opened(context);
    const book = hp.gate({ name: "book", policy: "approve", run: () => 1, undo: () => mail({ to: "ann" }) });
    const flow = hp.workflow("trip", { rollbackEnabled: true }, async (ctx) => {
      await ctx.call(book, {});
      throw new Error("no flight");
    });
    await flow.start({}, { requestId: "trip" });
    const doubt = await until(async () => (await hp.actions.list({ phase: "in_doubt" })).items[0], "doubt");
    const action = await hp.actions.get(doubt.id);
    assert.ok(action.outcome !== null && action.phase === "in_doubt" && action.tool === "book.undo");
    assert.match(action.outcome.reason, /"mail" was called inside the function of the tool "book.undo"/);
    assert.deepEqual(sent, []);
  });

  test("may start a workflow, which calls what it wants", async (context) => {
    const { hp, mail, sent } = opened(context);
    const flow = hp.workflow("send", async (_ctx, { to }: { to: string }) => (await mail({ to })).status);
    const desk = hp.gate({
      name: "desk",
      policy: "approve",
      run: () => flow.run({ to: "ann" }, { requestId: "send-1" }),
    });
    assert.partialDeepStrictEqual(await desk({}, { requestId: "outer" }), {
      status: "done",
      result: { status: "completed", result: "done" },
    });
    assert.deepEqual(sent, ["ann"]);
  });

  test("is an ordinary call once the function has ended", async (context) => {
    const { hp, mail, sent } = opened(context);
    let go = () => {};
    const stray = new Promise<void>((resolve) => {
      go = resolve;
    });
    let late: Promise<unknown> = Promise.resolve();
    const desk = hp.gate({
      name: "desk",
      policy: "approve",
      run: () => {
        late = stray.then(() => mail({ to: "later" }, { requestId: "later" }));
      },
    });
    await desk({}, { requestId: "outer" });
    go();
    assert.partialDeepStrictEqual(await late, { status: "done" });
    assert.deepEqual(sent, ["later"]);
  });
});

describe("a call inside a step", () => {
  for (const options of [{}, { effect: "idempotent" } as const])
    test(`is refused by the names of the step and the tool: ${"effect" in options ? "gated" : "plain"}`, async (context) => {
      const { hp, mail, sent } = opened(context);
      const seen: (HoldpointError | undefined)[] = [];
      const flow = hp.workflow("w", (ctx) =>
        ctx.step("notify", options, () => void seen.push(thrownBy(() => mail({ to: "ann" })))),
      );
      assert.partialDeepStrictEqual(await flow.run({}), { status: "completed" });
      assert.equal(seen[0]?.code, "nested_call");
      assert.equal(seen[0]?.what, 'The tool "mail" was called inside the function of the step "notify".');
      assert.match(seen[0]?.next ?? "", /in the definition/);
      assert.deepEqual(sent, []);
    });

  test("goes through hp.execute, whose request id a step that runs again uses again", async (context) => {
    const { hp, sent } = opened(context);
    const flow = hp.workflow("w", (ctx) =>
      ctx.step("notify", { retries: { attempts: 2, backOffMs: 0 } }, async ({ attempt }) => {
        const answer = await hp.execute({ requestId: "once", action: "mail", payload: { to: "ann" } });
        if (attempt === 1) throw new Error("again");
        return answer.status;
      }),
    );
    assert.partialDeepStrictEqual(await flow.run({}), { status: "completed", result: "done" });
    assert.deepEqual(sent, ["ann"]);
  });
});

describe("in a definition", () => {
  test("hp.execute is a call apart from the workflow, under its request id", async (context) => {
    const { hp, sent } = opened(context);
    const flow = hp.workflow("w", async () => {
      const answer = await hp.execute({ requestId: "apart", action: "mail", payload: { to: "ann" } });
      return answer.status;
    });
    assert.partialDeepStrictEqual(await flow.run({}), { result: "done" });
    assert.equal((await hp.actions.get("apart")).tool, "mail");
    assert.deepEqual(sent, ["ann"]);
  });

  const STARTS: Readonly<Record<string, (hp: Holdpoint, requestId?: string) => Promise<unknown>>> = {
    "a workflow": (hp, requestId) => starting(hp, requestId),
    "a workflow by its name": (hp, requestId) => hp.workflows.start("other", {}, optional(requestId)),
    "a proposal": (hp, requestId) =>
      hp.remote.propose({ tool: "mail", args: { to: "ann" }, agent: "agent:a", ...optional(requestId) }),
    "an intent": (hp, requestId) =>
      hp.intents.send({ intentType: "task", toAgent: "agent://doer", payload: {}, ...optional(requestId) }),
  };
  const optional = (requestId: string | undefined) => (requestId === undefined ? {} : { requestId });
  const others = new WeakMap<Holdpoint, ReturnType<Holdpoint["workflow"]>>();
  const starting = async (hp: Holdpoint, requestId: string | undefined) =>
    others.get(hp)?.start({}, optional(requestId));
  for (const [what, start] of Object.entries(STARTS))
    test(`${what} without a request id is refused, since each replay would do it again`, async (context) => {
      const { hp } = opened(context);
      others.set(
        hp,
        hp.workflow("other", async () => 1),
      );
      const flow = hp.workflow("w", async () => {
        await assert.rejects(start(hp), /without a request id in the definition of the workflow "w"/);
        return (await start(hp, "mine")) !== undefined;
      });
      assert.partialDeepStrictEqual(await flow.run({}), { status: "completed", result: true });
    });

  for (const what of ["a workflow", "a workflow by its name", "an intent"])
    test(`${what} without a request id is refused in a step, which may run again`, async (context) => {
      const { hp } = opened(context);
      const start = STARTS[what] ?? assert.fail();
      others.set(
        hp,
        hp.workflow("other", async () => 1),
      );
      const flow = hp.workflow("w", async (ctx) =>
        ctx.step("s", async () => {
          await assert.rejects(start(hp), /without a request id in the step "s"/);
          return (await start(hp, "mine")) !== undefined;
        }),
      );
      assert.partialDeepStrictEqual(await flow.run({}), { status: "completed", result: true });
    });
});

describe("two instances in one process", () => {
  test("a tool of another instance is called in a definition under a request id only", async (context) => {
    const a = opened(context);
    const b = opened(context);
    const flow = a.hp.workflow("w", async () => {
      assert.throws(
        () => b.mail({ to: "ann" }),
        /"mail" of another instance was called without a request id/,
      );
      const answer = await b.mail({ to: "ann" }, { requestId: "named", waitMs: 0 });
      return [answer.status, b.hp.current() ?? null, a.hp.current()?.kind];
    });
    assert.partialDeepStrictEqual(await a.hp.workflows.result((await flow.start({})).id), {
      status: "completed",
      result: ["done", null, "workflow"],
    });
    assert.deepEqual([a.sent, b.sent], [[], ["ann"]]);
    assert.equal((await b.hp.actions.get("named")).tool, "mail");
  });

  test("a tool of another instance is refused inside an effect like any other", async (context) => {
    const a = opened(context);
    const b = opened(context);
    const desk = a.hp.gate({ name: "desk", policy: "approve", run: () => b.mail({ to: "ann" }) });
    const answer = await desk({}, { requestId: "outer" });
    assert.ok(answer.status === "in_doubt");
    assert.match(answer.reason, /"mail" was called inside the function of the tool "desk"/);
    assert.deepEqual(b.sent, []);
  });
});

test("hp.current() says what the code runs in, in each situation", async (context) => {
  const { hp } = opened(context);
  const seen: Record<string, Current | undefined> = { outside: hp.current() };
  const see = (where: string) => {
    seen[where] = hp.current();
  };
  const book = hp.gate({
    name: "book",
    policy: () => {
      see("policy");
      return "approve";
    },
    run: async () => {
      await Promise.resolve();
      see("effect");
    },
    undo: () => see("undo"),
  });
  const flow = hp.workflow("trip", { rollbackEnabled: true }, async (ctx) => {
    see("definition");
    assert.ok(seen["definition"]?.kind === "workflow" && seen["definition"].ctx === ctx);
    await ctx.call(book, {});
    await ctx.step("look", () => see("step"));
    await ctx.step("gated", { effect: "idempotent" }, () => see("gated step"));
    await ctx.parallel([async () => see("branch")]);
    throw new Error("enough");
  });
  const end = await flow.run({}, { requestId: "trip" });
  assert.equal(end.status, "failed");
  const { workflow } = end;
  const { ctx: _ctx, ...definition } = seen["definition"] as Extract<Current, { kind: "workflow" }>;
  assert.deepEqual(definition, { kind: "workflow", workflow, name: "trip" });
  assert.equal(seen["branch"]?.kind, "workflow");
  assert.equal(seen["outside"], undefined);
  const op = `${workflow}/1//look#1`;
  assert.deepEqual(seen["step"], { kind: "step", workflow, step: "look", attempt: 1, idempotencyKey: op });
  assert.deepEqual(seen["policy"], { kind: "check", tool: "book", part: "policy" });
  const { effect, action, ...rest } = seen["effect"] as Extract<Current, { kind: "effect" }>;
  const requestId = `${workflow}/1//book#1`;
  assert.deepEqual(rest, { kind: "effect", tool: "book", requestId, idempotencyKey: effect, attempt: 1 });
  assert.equal((await hp.actions.get(requestId)).id, action);
  assert.partialDeepStrictEqual(seen["undo"], { kind: "effect", tool: "book.undo", attempt: 1 });
  assert.partialDeepStrictEqual(seen["gated step"], { kind: "effect", tool: "trip.gated", attempt: 1 });
  assert.equal(hp.current(), undefined);
});

test("what a program keeps in an AsyncLocalStorage of its own is there in steps, tools and previews", async (context) => {
  const { hp } = opened(context);
  const trace = new AsyncLocalStorage<string>();
  const seen: Record<string, [string | undefined, string | undefined]> = {};
  const see = (where: string) => {
    seen[where] = [trace.getStore(), hp.current()?.kind];
  };
  const tool = (name: string) => hp.gate({ name, policy: "approve", run: async () => see(name) });
  const [called, direct] = [tool("called"), tool("direct")];
  const row = hp.gate({
    name: "row",
    policy: "approve",
    effect: "transactional",
    runInTransaction: () => see("row"),
  });
  const asked = hp.gate({ name: "asked", preview: async () => see("preview"), run: () => see("asked") });
  const flow = hp.workflow("w", (ctx) =>
    trace.run("request 7", async () => {
      see("definition");
      await ctx.step("plain", () => see("plain"));
      await ctx.step("timed", { timeoutMs: 60_000 }, async () => see("timed"));
      await ctx.step("gated", { effect: "idempotent" }, () => see("gated"));
      await ctx.call(called, {});
      await ctx.call(row, {});
      await direct({});
      await asked({});
      await trace.run("request 8", () => ctx.parallel([(own) => own.step("branch", () => see("branch"))]));
    }),
  );
  const { id } = await flow.start({});
  await hp.approvals.approve(await pendingApproval(hp), { by: "person:ann" });
  assert.partialDeepStrictEqual(await hp.workflows.result(id), { status: "completed" });
  assert.deepEqual(seen, {
    definition: ["request 7", "workflow"],
    plain: ["request 7", "step"],
    timed: ["request 7", "step"],
    gated: ["request 7", "effect"],
    called: ["request 7", "effect"],
    row: ["request 7", "effect"],
    direct: ["request 7", "effect"],
    preview: ["request 7", "check"],
    asked: ["request 7", "effect"],
    branch: ["request 8", "step"],
  });
});

test("the functions of a tool see the async context of their own caller, also where commits are grouped", async (context) => {
  const { hp } = opened(context);
  await hp.budgets.limit("b", { currency: "USD", micros: 0n });
  const request = new AsyncLocalStorage<string>();
  const strangers: string[] = [];
  const see = (part: string, { from }: { readonly from: string }) => {
    if (request.getStore() !== from) strangers.push(`${part} of ${from} in ${request.getStore()}`);
  };
  const row = hp.gate({
    name: "row",
    effect: "transactional",
    policy: ({ args }: { args: { from: string } }) => {
      see("policy", args);
      return "approve" as const;
    },
    cost: (args) => {
      see("cost", args);
      return { budget: "b", amount: { currency: "USD", micros: 0n } };
    },
    dedupe: (args) => {
      see("dedupe", args);
      return args.from;
    },
    runInTransaction: (args) => see("function", args),
  });
  const callers = Array.from({ length: 5 }, (_, index) => `request ${index}`);
  const calls = callers.map((from) => request.run(from, () => row({ from }, { requestId: from })));
  for (const answer of await Promise.all(calls)) assert.equal(answer.status, "done");
  assert.deepEqual(strangers, []);
});

test("an effect that is recovered does not see the async context of the call that opened the instance", async () => {
  const { clock, process: start } = machine();
  const request = new AsyncLocalStorage<string>();
  const seen: (string | undefined)[] = [];
  const began = Promise.withResolvers<void>();
  const dies = start();
  const never = new Promise<void>(() => undefined);
  const tool = { name: "slow", policy: "approve", effect: "idempotent" } as const;
  const first = dies.gate({
    ...tool,
    run: () => {
      began.resolve();
      return never;
    },
  });
  void request.run("request of bob", () => first({}, { requestId: "bob" })).catch(() => undefined);
  await began.promise;
  dies.crash();
  const next = start();
  next.gate({ ...tool, run: () => void seen.push(request.getStore()) });
  const other = next.gate({ name: "other", policy: "approve", run: () => 1 });
  await request.run("request of alice", () => other({}, { requestId: "alice" }));
  for (let round = 0; seen.length === 0 && round < 100; round++) await clock.advance(10_000);
  assert.deepEqual(seen, [undefined]);
  await next.close();
});
