/** Runs side by side, sent back, closed in the middle, and other odd turns. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Policy } from "../../src/effects/define-tool.ts";
import type { Model } from "../../src/supervise/models/model.ts";
import { loadPackage } from "../../src/supervise/models/open-model.ts";

import { ANN, office, question, waiting } from "../workflows/office.ts";
import { atStep, CONTEXT, FINAL, GOAL, given, scripted } from "./refund.ts";

test("a model that fails in a word of its own ends the run for a reason of the list", async () => {
  const place = office();
  const desk = place.open();
  const model = {
    id: "odd",
    propose: async () => ({ failure: "exploded", message: "x" }),
  } as unknown as Model;
  const result = await place.finish(desk.supervise({ goal: GOAL, tools: [], model }));
  assert.partialDeepStrictEqual(result, { status: "stopped", stop_reason: "llm_error" });
  await desk.close();
});

describe("supervised runs", () => {
  test("of one name side by side keep their own model, policy and tools, also after they waited", async () => {
    const place = office();
    const desk = place.open();
    const ran: string[] = [];
    const policy = "escalate" as Policy<never>;
    const running = ["a", "b"].map((name) =>
      desk.supervise({
        goal: name,
        tools: [{ name: `act_${name}`, run: () => void ran.push(name) }],
        policy,
        model: atStep({ kind: "tool", name: `act_${name}`, args: {} }, { kind: "final", answer: name }),
      }),
    );
    const seen = new Set<string>();
    const decide = async () => {
      for (const id of await waiting(place, desk)) {
        if (!seen.has(id)) await desk.approvals.approve(id, ANN);
        seen.add(id);
      }
      return seen.size >= 4;
    };
    await place.until(decide);
    const results = await place.finish(Promise.all(running));
    assert.deepEqual(
      results.map(({ stop_reason, answer }) => `${stop_reason} ${answer}`),
      ["success a", "success b"],
    );
    assert.deepEqual(ran.toSorted(), ["a", "b"]);
    await desk.close();
  });

  test("that was sent back undoes what it did, begins again, and tells only of its last attempt", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const act = (n: number) => ({ kind: "tool", name: "act", args: { n } });
    const tools = [
      {
        name: "act",
        policy: ({ args }: { args: { n: number } }) => (args.n > 1 ? "escalate" : "approve"),
        run: ({ n }: { n: number }) => void done.push(`do ${n}`),
        undo: ({ n }: { n: number }) => void done.push(`undo ${n}`),
      },
    ];
    const model = scripted(act(1), act(2), act(0), FINAL);
    const running = desk.supervise({ goal: GOAL, tools, model, limits: { toolCalls: 2 } });
    await question(place, desk);
    const { items } = await desk.workflows.list();
    await desk.workflows.rollback(items[0]?.id ?? "", { ...ANN, reason: "not so" });
    const result = await place.finish(running);
    assert.equal(result.stop_reason, "success");
    assert.deepEqual(done, ["do 1", "undo 1", "do 0"]);
    assert.deepEqual(
      result.history.map(({ step, action }) => ({ step, action })),
      [
        { step: 1, action: act(0) },
        { step: 2, action: FINAL },
      ],
    );
    await desk.close();
  });

  test("whose instance is closed while the model thinks goes on in the next one", async () => {
    const place = office();
    const first = place.open();
    let asked = 0;
    const model = {
      id: "slow",
      propose: ({ signal }: { signal: AbortSignal }) =>
        new Promise<never>((_, reject) => {
          asked++;
          signal.addEventListener("abort", () => reject(new Error("aborted")));
        }),
    };
    const running = first.supervise({ ...given(first, model), id: "c" });
    running.catch(() => undefined);
    await place.until(async () => asked > 0);
    await place.finish(first.close());
    await assert.rejects(running, { code: "closed" });
    const next = place.open();
    const result = await place.finish(next.supervise({ ...given(next, atStep(CONTEXT, FINAL)), id: "c" }));
    assert.equal(result.stop_reason, "success");
    await next.close();
  });

  test("under an id that another goal has are a conflict", async () => {
    const place = office();
    const desk = place.open();
    const options = { goal: GOAL, tools: [], id: "x", model: scripted(FINAL) };
    await place.finish(desk.supervise(options));
    await assert.rejects(place.finish(desk.supervise({ ...options, goal: "another" })), {
      code: "request_conflict",
    });
    await desk.close();
  });

  test("have their answer edited by a person, or revised by policy", async () => {
    const place = office();
    const desk = place.open();
    const policy = ((call: { args: { answer: string } }) =>
      call.args.answer.endsWith("!")
        ? { verdict: "escalate", reason: "loud" }
        : {
            verdict: "revise",
            set: { answer: `${call.args.answer}!` },
            reason: "louder",
          }) as unknown as Policy<never>;
    const running = desk.supervise({
      goal: GOAL,
      tools: [],
      policy,
      model: scripted({ kind: "final", answer: "done" }),
    });
    await desk.approvals.approve(await question(place, desk), { ...ANN, edit: { answer: "done, I think!" } });
    const result = await place.finish(running);
    assert.equal(result.answer, "done, I think!");
    assert.partialDeepStrictEqual(result.trace[0], {
      tool: "final",
      executed_from: "human_revised",
      human_approved: true,
    });
    assert.partialDeepStrictEqual(result.history[0], {
      action: { kind: "final", answer: "done" },
      supervisor: { decision: "escalate", reason: "loud", revised: [{ reason: "louder", rule: "policy" }] },
      executed_action: { kind: "final", answer: "done, I think!" },
      observation: { status: "final" },
    });
    await desk.close();
  });

  test("carry proposals and observations of a megabyte, and show the model no more than their beginning", async () => {
    const place = office();
    const desk = place.open();
    const large = "x".repeat(900_000);
    const tools = [
      { name: "echo", policy: "approve", run: ({ text }: { text: string }) => ({ status: "ok", text }) },
    ];
    const model = scripted({ kind: "tool", name: "echo", args: { text: large } }, FINAL);
    const result = await place.finish(desk.supervise({ goal: GOAL, tools, model }));
    assert.equal(result.stop_reason, "success");
    assert.deepEqual(result.history[0]?.observation, { status: "ok", text: large });
    assert.ok((model.asked[1]?.prompt.length ?? 0) < 200_000);
    assert.equal(JSON.parse(model.asked[1]?.prompt ?? "{}").state_summary.last_step.observation.cut, true);
    await desk.close();
  });

  test("take the definition of a tool again, but not the name of another's tool, of a workflow or of the answer", async () => {
    const place = office();
    const desk = place.open();
    desk.gate({ name: "theirs", run: () => null });
    desk.workflow("taken", {}, async () => null);
    const mine = () => ({ name: "mine", policy: "approve", run: () => ({}) });
    const common = { goal: GOAL, tools: [mine()] };
    const run = (more: object) =>
      place.finish(desk.supervise({ ...common, model: scripted(FINAL), ...more }));
    await run({});
    await run({});
    const theirs = { name: "theirs", run: () => null };
    await assert.rejects(run({ tools: [theirs] }), { code: "tool_conflict" });
    await assert.rejects(run({ name: "taken" }), { code: "tool_conflict" });
    await assert.rejects(run({ tools: [{ name: "final", run: () => null }] }), { code: "invalid_input" });
    await assert.rejects(run({ tools: [mine(), mine()] }), { code: "invalid_input" });
    await desk.close();
  });

  test("are refused with what is wrong about their options", async () => {
    const desk = office().open();
    const common = { goal: GOAL, tools: [], model: scripted() };
    const wrong = [
      { goal: " " },
      { tools: {} },
      { model: null },
      { limits: { steps: 0 } },
      { limits: { seconds: Number.NaN } },
      { limits: { minutes: 1 } },
      { onRefusal: "ask" },
      { agent: "person:ann" },
      { maxOutputTokens: 1.5 },
      { polcy: "approve" },
      { policy: "aprove" },
      { name: "a/b" },
      { id: "" },
    ];
    for (const more of wrong)
      await assert.rejects(
        desk.supervise({ ...common, ...more } as never),
        { code: "invalid_input" },
        JSON.stringify(more),
      );
    await desk.close();
  });
});

test("a package that is not there is named, with the command that installs it", async () => {
  const load = () => Promise.reject(new Error("ERR_MODULE_NOT_FOUND"));
  await assert.rejects(loadPackage("@ai-sdk/openai", load), {
    code: "package_missing",
    message: /npm install ai @ai-sdk\/openai/,
  });
});
