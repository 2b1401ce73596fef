/** Gated tools that a workflow calls. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { NotApplied } from "../../src/effects/run-tool.ts";
import type { WorkflowCallOptions } from "../../src/workflows/definition.ts";
import { ANN, atRest, type Desk, office, question, reopen, types } from "./office.ts";

type Made = Parameters<Desk["gate"]>[0];

/** One call of one tool; answers what the definition was told. */
function calling(desk: Desk, tool: Partial<Made>, options: WorkflowCallOptions = {}) {
  const gated = desk.gate({ name: "wire", policy: "approve", run: () => "done", ...tool } as never);
  return desk.workflow("w", {}, (ctx, _: object) => ctx.call(gated, { amount: 5 } as never, options));
}

async function told(tool: Partial<Made>) {
  const place = office();
  const desk = place.open();
  const result = await place.finish(calling(desk, tool).run({}));
  assert.equal(result.status, "completed");
  await desk.close();
  return result.status === "completed" ? result.result : undefined;
}

describe("a call that is not run", () => {
  test("by a policy that blocks it is answered as such, and the workflow goes on", async () => {
    assert.partialDeepStrictEqual(
      await told({ policy: { verdict: "block", reason: "never" }, run: () => assert.fail("it ran") }),
      {
        status: "refused",
        code: "blocked",
        reason: "never",
      },
    );
  });

  test("because nothing happened is answered as such", async () => {
    const run = () => {
      throw new NotApplied("no such account");
    };
    assert.partialDeepStrictEqual(await told({ run }), { status: "failed", code: "not_applied" });
  });

  test("because people rejected it is answered with their reason; the workflow was executing all the while", async () => {
    const place = office();
    const desk = place.open();
    const { id } = await calling(desk, { policy: "escalate" }).start({});
    const state = await atRest(place, desk, id);
    assert.equal(state.status, "executing");
    assert.deepEqual(
      state.waits.map(({ kind }) => kind),
      ["approval"],
    );
    await desk.approvals.reject(await question(place, desk), { ...ANN, reason: "too much" });
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), {
      status: "completed",
      result: { status: "refused", code: "rejected", reason: "too much" },
    });
    await desk.close();
  });

  test("because nobody decided in time is answered as expired", async () => {
    const place = office();
    const desk = place.open();
    const { id } = await calling(desk, { policy: { verdict: "escalate", decideWithinMs: 60_000 } }).start({});
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), {
      status: "completed",
      result: { status: "refused", code: "expired" },
    });
    await desk.close();
  });

  test("with arguments that do not fit throws at the definition, which may ask again", async () => {
    const place = office();
    const desk = place.open();
    const gated = desk.gate({
      name: "wire",
      policy: "approve",
      input: {
        "~standard": {
          version: 1,
          vendor: "test",
          validate: (value: unknown) =>
            (value as { n?: unknown }).n === 1
              ? { value: value as { n: number } }
              : { issues: [{ message: "n is 1" }] },
        },
      } as never,
      run: ({ n }: { n: number }) => n,
    });
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      const first = await ctx.call(gated, { n: 2 }).catch((error: Error) => error.message);
      const second = await ctx.call(gated, { n: 1 });
      return [String(first), second.status];
    });
    const result = await place.finish(flow.run({}));
    assert.match(JSON.stringify(result), /n is 1/);
    assert.match(JSON.stringify(result), /"done"\]/);
    await desk.close();
  });
});

describe("a call in doubt", () => {
  const doubtful = (ran: string[]): Partial<Made> => ({
    run: () => {
      ran.push("sent");
      throw new Error("connection reset");
    },
  });

  for (const status of ["applied", "not_applied"] as const)
    test(`holds the workflow until somebody resolves it as ${status}, also over a restart`, async () => {
      const place = office();
      const ran: string[] = [];
      const first = place.open();
      const { id } = await calling(first, doubtful(ran)).start({});
      const state = await atRest(place, first, id);
      assert.deepEqual(
        state.waits.map(({ kind }) => kind),
        ["doubt"],
      );
      assert.ok(!types(await first.entries(id)).includes("call.settled"));
      const second = await reopen(place, first, (desk) => calling(desk, doubtful(ran)));
      await place.pass(10_000);
      await second.actions.resolve(state.waits[0]?.on ?? "", { status, ...ANN, reason: "the bank says so" });
      const expected = status === "applied" ? { status: "done" } : { status: "failed", code: "not_applied" };
      assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), {
        status: "completed",
        result: expected,
      });
      assert.deepEqual(ran, ["sent"]);
      await second.close();
    });

  test("with continueInDoubt is told to the definition, which goes on", async () => {
    const place = office();
    const ran: string[] = [];
    const desk = place.open();
    const { id } = await calling(desk, doubtful(ran), { continueInDoubt: true }).start({});
    const result = await place.finish(desk.workflows.result(id));
    assert.partialDeepStrictEqual(result, { status: "completed", result: { status: "in_doubt" } });
    await desk.close();
  });

  test("after its process died while it was sent", async () => {
    const place = office();
    const ran: string[] = [];
    const hangs: Partial<Made> = {
      run: () => {
        ran.push("sent");
        return new Promise(() => undefined);
      },
    };
    const first = place.open();
    const { id } = await calling(first, hangs).start({});
    await place.until(async () => ran.length === 1);
    const second = await reopen(place, first, (desk) => calling(desk, hangs));
    const state = await atRest(place, second, id);
    assert.equal(state.waits[0]?.kind, "doubt");
    await second.actions.resolve(state.waits[0]?.on ?? "", {
      status: "applied",
      ...ANN,
      reason: "it arrived",
    });
    assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), {
      result: { status: "done" },
    });
    assert.deepEqual(ran, ["sent"]);
    await second.close();
  });
});

describe("a call", () => {
  test("that people edit runs with what they wrote, also when it is decided where the tool is not known", async () => {
    const place = office();
    const ran: unknown[] = [];
    const first = place.open();
    const tool: Partial<Made> = { policy: "escalate", run: (args) => void ran.push(args) };
    const { id } = await calling(first, tool).start({});
    await atRest(place, first, id);
    const people = place.open({ agent: "people" });
    await people.approvals.approve(await question(place, people), { ...ANN, edit: { amount: 3 } });
    assert.partialDeepStrictEqual(await place.finish(people.workflows.result(id)), {
      result: { status: "done" },
    });
    assert.deepEqual(ran, [{ amount: 3 }]);
    await Promise.all([first.close(), people.close()]);
  });

  test("names the agent that makes it, who is then not asked about it", async () => {
    const place = office();
    const desk = place.open();
    const { id } = await calling(
      desk,
      { policy: "escalate" },
      { agent: "agent:second", rationale: "please" },
    ).start({});
    const asked = await desk.approvals.get(await question(place, desk));
    assert.partialDeepStrictEqual(asked, {
      agent: "agent:second",
      requester: ["agent:second", "agent:tester"],
      rationale: "please",
    });
    await desk.approvals.approve(asked.id, ANN);
    await place.finish(desk.workflows.result(id));
    await desk.close();
  });

  test("with approvalRequired asks although its policy would not", async () => {
    const place = office();
    const desk = place.open();
    const { id } = await calling(desk, {}, { approvalRequired: true }).start({});
    await desk.approvals.approve(await question(place, desk), ANN);
    assert.partialDeepStrictEqual(await place.finish(desk.workflows.result(id)), {
      result: { status: "done" },
    });
    await desk.close();
  });

  for (const [policy, own, expected] of [
    ["block", "approve", "blocked"],
    ["approve", "block", "blocked"],
  ] as const)
    test(`is governed by the stricter of the workflow's policy (${policy}) and the tool's (${own})`, async () => {
      const place = office();
      const desk = place.open();
      const gated = desk.gate({ name: "wire", policy: own, run: () => assert.fail("it ran") });
      const flow = desk.workflow("w", { policy }, (ctx, _: object) => ctx.call(gated, {}));
      assert.partialDeepStrictEqual(await place.finish(flow.run({})), {
        result: { status: "refused", code: expected },
      });
      await desk.close();
    });
});
