/** Checkpoints: what is captured and shown, who is asked and when, and what comes back to the definition. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import type { WorkflowOptions } from "../../src/workflows/definition.ts";
import { adaptiveCheckpoints } from "../../src/workflows/rules/checkpoints.ts";
import type { Captured } from "../../src/workflows/rules/snapshot.ts";
import { journalText } from "../fixtures/runtime.ts";
import { ANN, atRest, BOB, type Desk, office, question, reopen, types } from "./office.ts";

/** One checkpoint that is reached with this. */
const once = (desk: Desk, captured: Captured, options: WorkflowOptions<object> = {}) =>
  desk.workflow("w", options, async (ctx, _: object) => ctx.checkpoint("Look", captured as never));

async function reached(captured: Captured, options: WorkflowOptions<object> = {}) {
  const place = office();
  const desk = place.open();
  const { id } = await once(desk, captured, options).start({});
  return { place, desk, id, end: () => place.finish(desk.workflows.result(id)) };
}

describe("what is captured", () => {
  const captured: Captured = {
    agent: "agent:planner",
    summary: "100 pizzas",
    decisionNeeded: "Order them?",
    recommendation: "approve",
    confidence: 0.8,
    artifacts: [{ uri: "file://menu.pdf" }],
    context: { guests: 50 },
    inputs: { budget: 500 },
    outputs: { pizzas: 100 },
    nextSteps: ["order", "pay"],
    confidenceScores: { amount: 0.4 },
    risk: { level: "low" },
    memory: { conversationHistory: ["hello"], factsLearned: { hungry: true }, own: 1 },
    apiCalls: [{ endpoint: "/menu", method: "GET", status: 200, summary: "12 pizzas" }],
    trace: ["two each"],
    resources: { apiCalls: 3, tokensUsed: 900, estimatedCostUsd: 0.02 },
  };

  test("can be read back in three layers, with where it is kept and how large it is", async () => {
    const { place, desk, id } = await reached(captured);
    await question(place, desk);
    const snapshot = await desk.workflows.snapshot(id, "Look");
    assert.partialDeepStrictEqual(snapshot, {
      workflow_id: id,
      checkpoint_name: "Look",
      agent: "agent:planner",
      approval_interface: { summary: "100 pizzas", decision_needed: "Order them?", confidence: 0.8 },
      task_state: { inputs: { budget: 500 }, outputs: { pizzas: 100 }, planned_next_steps: ["order", "pay"] },
      execution_state: {
        agent_memory: { conversation_history: ["hello"], facts_learned: { hungry: true }, own: 1 },
        api_calls: [{ endpoint: "/menu", response_summary: "12 pizzas" }],
        decision_trace: ["two each"],
        resource_consumption: { tokens_used: 900, estimated_cost_usd: 0.02 },
      },
    });
    const { pending } = await desk.workflows.get(id);
    assert.match(pending?.snapshot.uri ?? "", /^x402:\/\/artifacts\/sha256:[0-9a-f]{64}$/);
    assert.equal((snapshot as { artifact_uri: string }).artifact_uri, pending?.snapshot.uri);
    assert.ok((pending?.snapshot.compressedBytes ?? 0) < (pending?.snapshot.bytes ?? 0));
    await desk.close();
  });

  test("is the approver's card: outputs to edit, the summary as what the agent says", async () => {
    const { place, desk } = await reached(captured);
    const asked = await desk.approvals.get(await question(place, desk));
    assert.partialDeepStrictEqual(asked, {
      tool: "Look",
      args: { pizzas: 100 },
      rationale: "100 pizzas",
      about: "checkpoint",
    });
    await desk.close();
  });

  test("holds no secret: neither in the snapshot nor anywhere in the journal", async () => {
    const place = office();
    const desk = place.open();
    const value = "s3cr3t-of-the-house";
    const handle = await desk.putSecret(value);
    const login = desk.gate({ name: "login", policy: "approve", run: () => "in" });
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      await ctx.call(login, { password: handle });
      ctx.log(`logged in with ${value}`, { value });
      await ctx.step("keep", () => ({ value }));
      await ctx.step("fail", () => Promise.reject(new Error(`wrong: ${value}`))).catch(() => undefined);
      await ctx.ask("really", `Use ${value}?`, { suggestion: { value } });
      await ctx.checkpoint("Look", {
        summary: `used ${value}`,
        outputs: { note: `pass ${value}` },
        memory: { word: value },
      });
      return { word: value };
    });
    const { id } = await flow.start({});
    await desk.approvals.approve(await question(place, desk), ANN);
    await place.until(async () => (await desk.workflows.get(id)).pending !== null);
    const asked = await question(place, desk);
    assert.doesNotMatch(JSON.stringify(await desk.workflows.snapshot(id, "Look")), /s3cr3t/);
    await desk.approvals.approve(asked, ANN);
    await place.finish(desk.workflows.result(id));
    assert.ok(!(await journalText(desk)).includes(value), "the journal has it");
    await desk.close();
  });

  test("of several agents says which one speaks", async () => {
    const place = office();
    const desk = place.open();
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      await ctx.checkpoint("Look", { agent: "agent:one", memory: { own: 1 } });
      await ctx.checkpoint("Look", { agent: "agent:two", memory: { own: 2 } });
    });
    const { id } = await flow.start({});
    await desk.approvals.approve(await question(place, desk), ANN);
    await place.until(async () => (await desk.workflows.get(id)).pending?.op.endsWith("#2"));
    const agents = (await desk.entries(id)).flatMap(({ type, body }) =>
      type === "checkpoint.reached" ? [body["agent"]] : [],
    );
    assert.deepEqual(agents, ["agent:one", "agent:two"]);
    assert.partialDeepStrictEqual(await desk.workflows.snapshot(id, "Look"), { agent: "agent:two" });
    await desk.close();
  });
});

describe("what comes back", () => {
  test("are the outputs as captured when they are approved, with the note", async () => {
    const { place, desk, end } = await reached({ outputs: { n: 1 } });
    await desk.approvals.approve(await question(place, desk), { ...ANN, note: "go on" });
    assert.partialDeepStrictEqual(await end(), {
      result: { decision: "approved", outputs: { n: 1 }, by: ["person:ann"], note: "go on" },
    });
    await desk.close();
  });

  test("are the outputs as a person changed them, also for a process that comes later", async () => {
    const place = office();
    const first = place.open();
    const captured: Captured = { outputs: { n: 1, kept: true } };
    const { id } = await once(first, captured).start({});
    await atRest(place, first, id);
    first.crash();
    const people = place.open({ agent: "people" });
    await people.approvals.approve(await question(place, people), { ...ANN, edit: { n: 2 } });
    const second = await reopen(place, first, (desk) => once(desk, captured));
    assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), {
      result: { decision: "modified", outputs: { n: 2, kept: true }, by: ["person:ann"] },
    });
    await Promise.all([people.close(), second.close()]);
  });
});

describe("who is asked", () => {
  test("two people where two are needed: one is not enough, and one who says it twice is one", async () => {
    const { place, desk, id, end } = await reached(
      {},
      { checkpoints: [{ name: "Look", approvers: { quorum: 2 } }] },
    );
    const asked = await question(place, desk);
    await desk.approvals.approve(asked, ANN);
    await desk.approvals.approve(asked, ANN);
    await place.pass(2_000);
    assert.equal((await desk.workflows.get(id)).status, "awaiting_approval");
    await desk.approvals.approve(asked, BOB);
    assert.partialDeepStrictEqual(await end(), {
      result: { decision: "approved", by: ["person:ann", "person:bob"] },
    });
    await desk.close();
  });

  test("only those who are named", async () => {
    const checkpoints = [{ name: "Look", approvers: { from: ["person:bob"] } }];
    const { place, desk, id, end } = await reached({}, { checkpoints });
    const asked = await question(place, desk);
    await assert.rejects(desk.approvals.approve(asked, ANN), (error) =>
      isHoldpointError(error, "not_eligible"),
    );
    assert.equal((await desk.workflows.get(id)).status, "awaiting_approval");
    await desk.approvals.approve(asked, BOB);
    assert.partialDeepStrictEqual(await end(), { status: "completed" });
    await desk.close();
  });
});

describe("when a checkpoint asks", () => {
  const usd = (micros: bigint) => ({ currency: "USD", micros });
  const CASES: readonly (readonly [string, WorkflowOptions<object>["checkpoints"], Captured, boolean])[] = [
    ["it is declared without conditions", [{ name: "Look" }], {}, true],
    ["nobody declared it", [{ name: "Other" }], {}, true],
    ["it needs no approval", [{ name: "Look", requiresApproval: false }], {}, false],
    ["the confidence is low", [{ name: "Look", when: { confidenceBelow: 0.9 } }], { confidence: 0.8 }, true],
    [
      "the confidence is high",
      [{ name: "Look", when: { confidenceBelow: 0.9 } }],
      { confidence: 0.95 },
      false,
    ],
    ["no confidence is captured", [{ name: "Look", when: { confidenceBelow: 0.9 } }], {}, true],
    [
      "it cost much",
      [{ name: "Look", when: { costAbove: usd(1_000_000n) } }],
      { resources: { estimatedCostUsd: 1.5 } },
      true,
    ],
    [
      "it cost little",
      [{ name: "Look", when: { costAbove: usd(1_000_000n) } }],
      { resources: { estimatedCostUsd: 0.5 } },
      false,
    ],
    ["a tool was called", [{ name: "Look", when: { tools: ["mail"] } }], {}, true],
    ["no such tool was called", [{ name: "Look", when: { tools: ["wire"] } }], {}, false],
    [
      "its function says so",
      [{ name: "Look", when: ({ captured }) => captured.risk === "high" }],
      { risk: "high" },
      true,
    ],
    [
      "its function says not",
      [{ name: "Look", when: ({ captured }) => captured.risk === "high" }],
      { risk: "low" },
      false,
    ],
    [
      "its function fails",
      [
        {
          name: "Look",
          when: () => {
            throw new Error("oops");
          },
        },
      ],
      {},
      true,
    ],
  ];
  for (const [what, checkpoints, captured, asks] of CASES)
    test(`${what}: people are ${asks ? "asked" : "not asked, and it counts as approved"}`, async () => {
      const place = office();
      const desk = place.open();
      const mail = desk.gate({ name: "mail", policy: "approve", run: () => 1 });
      const flow = desk.workflow(
        "w",
        checkpoints === undefined ? {} : { checkpoints },
        async (ctx, _: object) => {
          await ctx.call(mail, {});
          return (await ctx.checkpoint("Look", captured as never)).decision;
        },
      );
      const { id } = await flow.start({});
      if (asks) await desk.approvals.approve(await question(place, desk), ANN);
      const result = await place.finish(desk.workflows.result(id));
      assert.partialDeepStrictEqual(result, { result: asks ? "approved" : "passed" });
      const { passed } = await desk.workflows.get(id);
      assert.deepEqual(
        passed.map(({ name }) => name),
        ["Look"],
      );
      await desk.close();
    });

  test("a tool that was called before the last checkpoint no longer counts", async () => {
    const place = office();
    const desk = place.open();
    const mail = desk.gate({ name: "mail", policy: "approve", run: () => 1 });
    const checkpoints = [
      { name: "One", requiresApproval: false },
      { name: "Two", when: { tools: ["mail"] } },
    ];
    const flow = desk.workflow("w", { checkpoints }, async (ctx, _: object) => {
      await ctx.call(mail, {});
      await ctx.checkpoint("One");
      return (await ctx.checkpoint("Two")).decision;
    });
    assert.partialDeepStrictEqual(await place.finish(flow.run({})), { result: "passed" });
    await desk.close();
  });
});

describe("adaptive sets", () => {
  const all = ["One", "Two", "Three", "Four"].map((name) => ({ name }));
  for (const [complexity, asked] of [
    ["simple", ["Four"]],
    ["medium", ["Two", "Four"]],
    ["complex", ["One", "Two", "Three", "Four"]],
  ] as const)
    test(`of a ${complexity} task ask at ${asked.join(", ")}; the others are captured and passed`, async () => {
      const place = office();
      const desk = place.open();
      const options = {
        checkpoints: adaptiveCheckpoints(all),
        complexity: (input: { as: typeof complexity }) => input.as,
      };
      const flow = desk.workflow("w", options, async (ctx, _: { as: typeof complexity }) => {
        for (const { name } of all) await ctx.checkpoint(name);
      });
      const { id } = await flow.start({ as: complexity });
      const seen: string[] = [];
      for (const name of asked) {
        const one = await question(place, desk);
        seen.push((await desk.approvals.get(one)).tool);
        assert.equal(seen.at(-1), name);
        await desk.approvals.approve(one, ANN);
      }
      await place.finish(desk.workflows.result(id));
      const kinds = types(await desk.entries(id));
      assert.equal(kinds.filter((type) => type === "checkpoint.passed").length, 4 - asked.length);
      const { escrow } = await desk.workflows.get(id);
      assert.equal(escrow?.micros, complexity === "simple" ? "50000000" : "100000000");
      await desk.close();
    });
});
