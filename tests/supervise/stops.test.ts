/** Every reason for which a run can end, by a run that ends for it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { z } from "zod";
import type { Policy, ToolDefinition } from "../../src/effects/define-tool.ts";
import type { Verdict } from "../../src/policy/rules/verdict.ts";
import type { Model } from "../../src/supervise/models/model.ts";
import type { SuperviseOptions } from "../../src/supervise/options.ts";
import { STOP_REASONS } from "../../src/supervise/rules/stop-reason.ts";
import type { SuperviseResult } from "../../src/supervise/rules/turn.ts";
import { parseStopReason } from "../fixtures/stop-reasons.ts";
import { watch } from "../monitor/watching.ts";
import { ANN, type Desk, type Office, office, question } from "../workflows/office.ts";
import { CONTEXT, FINAL, GOAL, given, type Line, refund, scripted } from "./refund.ts";

const reached = new Set<string>();

function check(result: SuperviseResult, stop_reason: string, phase?: string): SuperviseResult {
  assert.equal(result.stop_reason, stop_reason);
  assert.equal(result.phase, phase);
  const parsed = parseStopReason(stop_reason);
  assert.ok(parsed !== undefined, stop_reason);
  reached.add(parsed.pattern);
  return result;
}

type Setting = { readonly place: Office; readonly desk: Desk; readonly done: string[] };

function open(): Setting {
  const place = office();
  return { place, desk: place.open(), done: [] };
}

/** The run of a script, to its end. */
async function run(lines: readonly Line[], more: Partial<SuperviseOptions> = {}): Promise<SuperviseResult> {
  const { place, desk } = open();
  const result = await place.finish(desk.supervise({ ...given(desk, scripted(...lines)), ...more }));
  await desk.close();
  return result;
}

const verdict = (said: Verdict) =>
  ((call: { tool: string }) =>
    call.tool === "get_refund_context" ? { verdict: "approve" } : said) as unknown as Policy<never>;

const blockedBy = (rule: string) => verdict({ verdict: "block", rule, reason: "enough" });

describe("a run ends", () => {
  test("with success", async () => {
    const result = check(await run([CONTEXT, FINAL]), "success");
    assert.equal(result.status, "ok");
  });

  test("with max_steps and a final answer that was asked for in plain text and reviewed", async () => {
    const { place, desk } = open();
    const model = scripted(CONTEXT, "Nothing was refunded.");
    const result = await place.finish(desk.supervise({ ...given(desk, model), limits: { steps: 1 } }));
    check(result, "max_steps");
    assert.equal(result.status, "ok");
    assert.equal(result.answer, "Nothing was refunded.");
    assert.deepEqual(result.trace.at(-1), {
      step: 2,
      tool: "final",
      supervisor_decision: "approve",
      executed_from: "original",
      ok: true,
    });
    assert.equal(model.asked[1]?.format, "text");
    assert.equal(JSON.parse(model.asked[1]?.prompt ?? "{}").history.length, 1);
    await desk.close();
  });

  test("with max_tool_calls, which the answer does not count for", async () => {
    const ones = [1, 2, 3].map((amount) => refund(amount));
    const limits = { toolCalls: 2 };
    const result = check(await run(ones, { limits }), "max_tool_calls", "execution");
    assert.deepEqual(
      result.trace.map(({ ok }) => ok),
      [true, true, false],
    );
    assert.equal((await run([...ones.slice(1), FINAL], { limits })).stop_reason, "success");
  });

  test("with max_seconds for time in the model", async () => {
    const { place, desk } = open();
    const slow = async () => {
      await place.clock.set(place.clock.now() + 31_000);
      return { text: JSON.stringify(CONTEXT) };
    };
    const model = scripted(slow, FINAL);
    check(await place.finish(desk.supervise(given(desk, model))), "max_seconds");
    assert.equal(model.asked.length, 1);
    await desk.close();
  });

  for (const effect of ["once", "read"] as const)
    test(`with max_seconds for time in a tool of class ${effect}`, async () => {
      const { place, desk } = open();
      const run = async () => {
        await place.clock.set(place.clock.now() + 31_000);
        return { slow: true };
      };
      const tools = [{ name: "slow", policy: "approve", effect, run }];
      const model = scripted({ kind: "tool", name: "slow", args: {} }, FINAL);
      check(await place.finish(desk.supervise({ goal: GOAL, tools, model })), "max_seconds");
      await desk.close();
    });

  const tool = (name: string, args: object) => ({ kind: "tool", name, args });
  const INVALID: { readonly [suffix: string]: Line } = {
    too_large: "x".repeat(1_048_577),
    non_json: "certainly!",
    not_object: "[]",
    bad_kind: { kind: "approve" },
    extra_keys_final: { ...FINAL, approved: true },
    bad_final_answer: { kind: "final", answer: "" },
    extra_keys_tool: { ...refund(5), approved: true },
    bad_tool_name: { kind: "tool", name: 7 },
    bad_tool_args: { kind: "tool", name: "issue_refund", args: "all" },
    "unknown_tool:drop_table": tool("drop_table", {}),
    "extra_tool_args:issue_refund": refund(5, { reason: "x", approved: true }),
    "missing_required_arg:issue_refund:amount_usd": tool("issue_refund", { user_id: 42 }),
    "bad_arg_type:issue_refund:amount_usd": tool("issue_refund", { user_id: 42, amount_usd: "5" }),
  };
  for (const [suffix, line] of Object.entries(INVALID))
    test(`with invalid_action:${suffix}, which is in the trace, and nothing ran`, async () => {
      const { place, desk, done } = open();
      const model = scripted(CONTEXT, line);
      const result = await place.finish(desk.supervise(given(desk, model, done)));
      check(result, `invalid_action:${suffix}`, "worker");
      assert.equal(result.status, "stopped");
      assert.notEqual(result.raw_action, undefined);
      assert.deepEqual(result.trace[1], {
        step: 2,
        tool: "invalid",
        stop_reason: result.stop_reason,
        ok: false,
      });
      assert.equal(result.history.length, 1);
      assert.deepEqual(done, []);
      await desk.close();
    });

  test("with supervisor_block", async () => {
    const result = check(await run([refund(-1)]), "supervisor_block:invalid_refund_amount", "supervisor");
    assert.deepEqual(result.action, refund(-1));
    assert.partialDeepStrictEqual(result.trace[0], {
      supervisor_decision: "block",
      executed_from: "original",
      ok: false,
    });
    assert.deepEqual(result.history, []);
  });

  test("with supervisor_block for an answer that policy does not let through", async () => {
    const policy = ((call: { tool: string }) =>
      call.tool === "final"
        ? { verdict: "block", reason: "final_requires_context" }
        : "approve") as unknown as Policy<never>;
    const result = check(
      await run([FINAL], { policy }),
      "supervisor_block:final_requires_context",
      "supervisor",
    );
    assert.equal(result.answer, undefined);
    assert.deepEqual(result.action, FINAL);
    assert.equal(result.trace[0]?.tool, "final");
  });

  const RULES = {
    "tools:not_allowed": "tool_denied:issue_refund",
    "limit:calls": "loop_detected:per_tool_limit",
    "limit:repeats": "loop_detected:signature_repeat",
  };
  for (const [rule, stop] of Object.entries(RULES))
    test(`with ${stop} where the policy's rule ${rule} blocks`, async () => {
      check(await run([CONTEXT, refund(5)], { policy: blockedBy(rule) }), stop, "execution");
    });

  test("with tool_bad_args where the policy's own revision does not fit the tool", async () => {
    const policy = verdict({ verdict: "revise", set: { amount_usd: "much" }, reason: "more" });
    check(await run([refund(5)], { policy }), "tool_bad_args:issue_refund", "supervisor");
  });

  const one = (more: Partial<ToolDefinition<unknown, unknown>>) => [
    { name: "act", policy: "approve", run: () => ({}), ...more } as {
      name: string;
      [field: string]: unknown;
    },
  ];
  const ACT = { kind: "tool", name: "act", args: {} };

  test("with tool_error where the tool says that nothing happened", async () => {
    const tools = one({
      isDefinite: () => true,
      run: () => {
        throw new Error("no such user");
      },
    });
    const result = check(await run([ACT], { tools }), "tool_error:act", "execution");
    assert.equal(result.trace[0]?.ok, false);
  });

  test("with tool_bad_result where what the tool returned cannot be kept", async () => {
    const knot: { self?: unknown } = {};
    knot.self = knot;
    check(await run([ACT], { tools: one({ run: () => knot }) }), "tool_bad_result:act", "execution");
  });

  test("with in_doubt, where that ends a run: nobody says that it failed", async () => {
    const run_ = () => {
      throw new Error("the line broke");
    };
    const tools = one({ run: run_ });
    const result = check(await run([ACT], { tools, onDoubt: "stop" }), "in_doubt:act", "execution");
    assert.equal(result.trace[0]?.executed_from, "original");
  });

  test("with success after a doubt that a person ended", async () => {
    const { place, desk } = open();
    const tools = one({
      run: () => {
        throw new Error("the line broke");
      },
    });
    const running = desk.supervise({ goal: GOAL, tools, model: scripted(ACT, FINAL) });
    const [doubt] = await place.until(async () => {
      const { items } = await desk.actions.list({ phase: "in_doubt" });
      return items.length > 0 && items;
    });
    await place.clock.set(place.clock.now() + 86_400_000);
    const effect = String(doubt?.id).replace("act_", "eff_");
    await desk.actions.resolve(effect, { ...ANN, status: "applied", reason: "the bank says so" });
    const result = check(await place.finish(running), "success");
    assert.deepEqual(result.history[0]?.observation, { result: null });
    await desk.close();
  });

  test("with duplicate", async () => {
    const tools = one({ dedupe: () => "the same" });
    check(await run([ACT, ACT], { tools }), "duplicate:act", "execution");
  });

  test("with over_budget", async () => {
    const { place, desk } = open();
    await desk.budgets.limit("week", { currency: "USD", micros: 5n });
    const tools = one({ cost: () => ({ budget: "week", amount: { currency: "USD", micros: 3n } }) });
    const model = scripted(ACT, { ...ACT, args: { another: true } });
    check(await place.finish(desk.supervise({ goal: GOAL, tools, model })), "over_budget", "execution");
    await desk.close();
  });

  for (const onRefusal of ["stop", "continue"] as const)
    test(`with stopped while the kill switch is on, and the model is not asked (onRefusal: ${onRefusal})`, async () => {
      const { place, desk, done } = open();
      await desk.switch.pause({ ...ANN, reason: "enough" });
      const model = scripted(refund(5));
      const result = await place.finish(desk.supervise({ ...given(desk, model, done), onRefusal }));
      check(result, "stopped", "worker");
      assert.deepEqual(done, []);
      assert.equal(model.asked.length, 0);
      await desk.close();
    });

  test("with stopped where the kill switch comes while the model thinks: the action is given up for good", async () => {
    const { place, desk, done } = open();
    const model = scripted(async () => {
      await desk.switch.pause({ ...ANN, reason: "enough" });
      return { text: JSON.stringify(refund(5)) };
    });
    const result = check(
      await place.finish(desk.supervise(given(desk, model, done))),
      "stopped",
      "execution",
    );
    await desk.switch.resume({ ...ANN, reason: "go on" });
    await place.pass(40_000);
    assert.deepEqual(done, []);
    assert.deepEqual((await desk.actions.list({ phase: "open" })).items, []);
    assert.equal(result.trace[0]?.stop_reason, "stopped");
    await desk.close();
  });

  test("not while it is to wait for the kill switch, or for a budget", async () => {
    const { place, desk, done } = open();
    await desk.switch.pause({ ...ANN, reason: "enough" });
    const running = desk.supervise({ ...given(desk, scripted(refund(5), FINAL), done), onHeld: "wait" });
    await place.pass(5_000);
    assert.deepEqual(done, []);
    await desk.switch.resume({ ...ANN, reason: "go on" });
    check(await place.finish(running), "success");
    assert.equal(done.length, 1);
    await desk.close();
  });
});

describe("a run that waits for a person ends", () => {
  const asking = (more: object = {}) => verdict({ verdict: "escalate", reason: "look", ...more });

  async function waiting(more: object = {}) {
    const setting = open();
    const options = {
      ...given(setting.desk, scripted(refund(5), FINAL), setting.done),
      policy: asking(more),
      id: "w",
    };
    const running = setting.desk.supervise(options);
    return { ...setting, running, approval: await question(setting.place, setting.desk) };
  }

  test("with human_rejected", async () => {
    const { place, desk, running, approval, done } = await waiting();
    await desk.approvals.reject(approval, { ...ANN, reason: "too much" });
    const result = check(await place.finish(running), "human_rejected", "human_approval");
    assert.deepEqual(result.action, refund(5));
    assert.partialDeepStrictEqual(result.trace[0], {
      supervisor_decision: "escalate",
      human_approved: false,
      ok: false,
    });
    assert.deepEqual(done, []);
    await desk.close();
  });

  test("with human_expired, which is not a rejection", async () => {
    const { place, desk, running } = await waiting({ decideWithinMs: 5_000 });
    const result = check(await place.finish(running), "human_expired", "human_approval");
    assert.equal(result.trace[0]?.human_approved, undefined);
    await desk.close();
  });

  test("with approval_cancelled where the question is withdrawn", async () => {
    const { place, desk, running, approval } = await waiting();
    await desk.approvals.cancel(approval, { ...ANN, reason: "not now" });
    check(await place.finish(running), "approval_cancelled", "human_approval");
    await desk.close();
  });

  test("with cancelled where the workflow is", async () => {
    const { place, desk, running } = await waiting();
    const { items } = await desk.workflows.list();
    await desk.workflows.cancel(items[0]?.id ?? "", { ...ANN, reason: "not needed any more" });
    const result = check(await place.finish(running), "cancelled");
    assert.equal(result.status, "stopped");
    assert.equal(result.trace[0]?.ok, false, "what was waited for has not happened");
    await desk.close();
  });

  test("with cancelled while the model thinks, which is told to stop", async () => {
    const { place, desk } = open();
    const told = Promise.withResolvers<void>();
    let isAsked = false;
    const model: Model = {
      id: "slow",
      propose: ({ signal }) => {
        isAsked = true;
        signal.addEventListener("abort", () => told.resolve());
        return new Promise(() => undefined);
      },
    };
    const running = desk.supervise(given(desk, model));
    await place.until(async () => isAsked);
    const { items } = await desk.workflows.list();
    await desk.workflows.cancel(items[0]?.id ?? "", { ...ANN, reason: "not needed any more" });
    check(await place.finish(running), "cancelled");
    await place.finish(told.promise);
    await desk.close();
  });

  test("with stopped where the kill switch is on when it was approved: the approval lapses", async () => {
    const { place, desk, running, approval, done } = await waiting();
    await desk.switch.pause({ ...ANN, reason: "enough" });
    await desk.approvals.approve(approval, ANN);
    const result = check(await place.finish(running), "stopped", "execution");
    assert.deepEqual(done, []);
    assert.equal(result.trace[0]?.human_approved, true);
    assert.equal((await desk.approvals.get(approval)).status, "lapsed");
    await desk.close();
  });

  test("with rolled_back where somebody rolls it back for good", async () => {
    const { place, desk, running } = await waiting();
    const { items } = await desk.workflows.list();
    await desk.workflows.rollback(items[0]?.id ?? "", { ...ANN, reason: "undo it", after: "fail" });
    check(await place.finish(running), "rolled_back");
    await desk.close();
  });

  test("with human_rejected and no phase where a person says no for good at a checkpoint that a monitor raised", async () => {
    const { place, desk, done } = open();
    await watch(desk, [{ kind: "resources", name: "long", operations: 1, raise: "checkpoint" }]);
    const slow = async () => {
      await place.until(async () => (await desk.approvals.count("pending")) > 0);
      return { text: JSON.stringify(refund(5)) };
    };
    const running = desk.supervise(given(desk, scripted(CONTEXT, slow), done));
    const approval = await question(place, desk);
    await desk.approvals.reject(approval, { ...ANN, reason: "enough", final: true });
    const result = check(await place.finish(running), "human_rejected");
    assert.equal(result.status, "stopped");
    assert.deepEqual(done, []);
    await place.finish(desk.close());
  });

  /** Its process dies; somebody else decides meanwhile; another process asks for it with perhaps other tools. */
  async function diedWaiting(
    meanwhile: (people: Desk, approval: string, place: Office) => Promise<unknown>,
    more: object = {},
    tools?: SuperviseOptions["tools"],
  ) {
    const { place, desk, approval, running } = await waiting(more);
    void running.catch(() => undefined);
    desk.crash();
    const people = place.open({ agent: "people" });
    await meanwhile(people, approval, place);
    const next = place.open();
    const common = { goal: GOAL, id: "w", model: scripted(FINAL), policy: asking(more) };
    const options =
      tools === undefined ? { ...given(next, scripted(FINAL)), ...common } : { ...common, tools };
    const { id } = (await people.workflows.list()).items[0] ?? assert.fail("no workflow");
    void next.supervise(options);
    const ended = await place.finish(people.workflows.result(id));
    assert.equal(ended.status, "completed");
    return ended.status === "completed" ? (ended.result as SuperviseResult) : assert.fail();
  }

  test("with approval_lapsed where it was approved and not started in time", async () => {
    const result = await diedWaiting(
      async (people, approval, place) => {
        await people.approvals.approve(approval, ANN);
        await place.clock.set(place.clock.now() + 3_600_000);
      },
      { executeWithinMs: 60_000, decideWithinMs: 60_000 },
    );
    check(result, "approval_lapsed", "human_approval");
  });

  test("with approval_revoked where the decision was taken back", async () => {
    const result = await diedWaiting(async (people, approval) => {
      await people.approvals.approve(approval, ANN);
      await people.approvals.revoke(approval, { ...ANN, reason: "I was wrong" });
    });
    check(result, "approval_revoked", "human_approval");
  });

  test("with tool_changed where the tool is another one by then", async () => {
    const input = z.object({
      user_id: z.int(),
      amount_usd: z.number(),
      reason: z.string(),
      to: z.string().optional(),
    });
    const tools = [{ name: "issue_refund", input, effect: "idempotent", run: () => ({}) }];
    const approve = (people: Desk, approval: string) => people.approvals.approve(approval, ANN);
    check(await diedWaiting(approve, {}, tools), "tool_changed:issue_refund", "execution");
  });
});

test("a run ends with tool_missing where the process that takes it up does not have the tool", async () => {
  const place = office();
  let facts = 0;
  const desk: Desk = place.open({
    reach: (point) => {
      if (point !== "after_fact" || ++facts > 1) return undefined;
      desk.crash();
      return new Promise(() => undefined);
    },
  });
  void desk.supervise({ ...given(desk, scripted(refund(5))), id: "r" }).catch(() => undefined);
  await place.until(async () => facts > 0);
  const next = place.open();
  const result = next.supervise({ ...given(next, scripted()), tools: [], id: "r" });
  const { trace } = check(await place.finish(result), "tool_missing:issue_refund", "execution");
  const row = { step: 1, tool: "issue_refund", stop_reason: "tool_missing:issue_refund", ok: false };
  assert.deepEqual(trace, [row], "what was proposed and never called has not happened");
  await next.close();
});

describe("a run ends for its model", () => {
  const failing = (
    failure: "overloaded" | "unreachable" | "timeout" | "refused" | "empty",
    retryAfterMs?: number,
  ) => ({
    failure,
    message: `it is ${failure}`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });

  test("with llm_overloaded after four tries, each recorded, and not before the provider allows it", async () => {
    const { place, desk } = open();
    const lines = [1, 2, 3, 4, 5].map(() => failing("overloaded", 20_000));
    const model = scripted(...lines);
    const begun = place.clock.now();
    const result = check(await place.finish(desk.supervise(given(desk, model))), "llm_overloaded", "worker");
    assert.equal(model.asked.length, 4);
    assert.ok(place.clock.now() - begun >= 60_000);
    const records = await desk.journal.read(result.workflow);
    const steps = records.filter(({ type }) => type === "step.completed");
    assert.equal(steps.length, 4);
    assert.match(JSON.stringify(steps[0]?.body), /it is overloaded/);
    await desk.close();
  });

  test("not when the overload passes", async () => {
    const { place, desk } = open();
    const model = scripted(failing("overloaded"), failing("unreachable"), FINAL);
    const result = await place.finish(desk.supervise(given(desk, model)));
    assert.equal(result.stop_reason, "success");
    assert.equal(result.trace.length, 1);
    await desk.close();
  });

  test("with llm_timeout where it cannot be reached", async () => {
    const lines = [1, 2, 3, 4].map(() => failing("unreachable"));
    check(await run(lines), "llm_timeout", "worker");
  });

  test("with llm_timeout where it does not answer in time, and what it says later is not heard", async () => {
    const { place, desk } = open();
    const late = Promise.withResolvers<{ text: string }>();
    const model: Model = { ...scripted(() => late.promise), timeoutMs: 2_000 };
    const result = await place.finish(desk.supervise(given(desk, model)));
    check(result, "llm_timeout", "worker");
    late.resolve({ text: JSON.stringify(refund(5)) });
    assert.deepEqual(result.trace, []);
    await desk.close();
  });

  test("with llm_empty, also for the final answer", async () => {
    check(await run(["   "]), "llm_empty", "worker");
    check(await run([CONTEXT, " "], { limits: { steps: 1 } }), "llm_empty", "finalize");
  });

  test("with llm_error where it refuses or breaks", async () => {
    check(await run([failing("refused")]), "llm_error", "worker");
    check(await run([() => Promise.reject(new Error("boom"))]), "llm_error", "worker");
    check(await run([() => Promise.resolve({ text: 7 } as never)]), "llm_error", "worker");
  });
});

test("a run ends with error where the store fails for good while it works", async () => {
  const { place, desk } = open();
  const { read } = desk.store;
  const store = desk.store as { read: typeof read };
  let isBroken = false;
  const slow = async () => {
    isBroken = true;
    return { text: JSON.stringify(CONTEXT) };
  };
  store.read = (...args) =>
    isBroken && args[1].kind === "action" ? Promise.reject(new Error("the disk is gone")) : read(...args);
  const options = { ...given(desk, scripted(slow, FINAL)), id: "e" };
  await assert.rejects(place.finish(desk.supervise(options)), /the disk is gone/);
  isBroken = false;
  check(await place.finish(desk.supervise(options)), "error");
  await desk.close();
});

test("there is no reason that no run ends for", () => {
  assert.deepEqual(
    STOP_REASONS.filter((pattern) => !reached.has(pattern)),
    [],
  );
});
