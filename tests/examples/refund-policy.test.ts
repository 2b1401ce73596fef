/** Every verdict reason of the refund policy, straight from its file: no engine, no model. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parse } from "yaml";
import {
  emailed,
  fileOutside,
  refundContext,
  refunded,
  refundTools,
} from "../../examples/demos/refund-tools.ts";
import { defineTool, type ToolDefinition } from "../../src/effects/define-tool.ts";
import type { Holdpoint } from "../../src/index.ts";
import type { Json, JsonObject } from "../../src/kernel/json.ts";
import { readCases } from "../../src/policy/read.ts";
import { runCase } from "../../src/policy/rules/cases.ts";
import { compilePolicy } from "../../src/policy/rules/compile.ts";
import type { PolicyText } from "../../src/policy/rules/document.ts";
import { type Review, reviewAction } from "../../src/policy/rules/review.ts";
import type { PastCall } from "../../src/policy/rules/verdict.ts";
import { ROOT } from "../e2e/program.ts";

/** What the example gates, as definitions. */
function definitions(): ReadonlyMap<string, ReturnType<typeof defineTool>["rules"]> {
  const all: ToolDefinition<never, unknown>[] = [];
  const gate = (definition: ToolDefinition<never, unknown>) => all.push(definition);
  refundTools({ gate } as unknown as Holdpoint, { once: () => undefined });
  return new Map(all.map((definition) => [definition.name, defineTool(definition).rules]));
}

const TOOLS = definitions();
const KNOWN = [...TOOLS.values()].map(({ name, effectClass, schemaText }) => ({
  name,
  effectClass,
  schema: JSON.parse(schemaText ?? "null") as JsonObject,
}));

const text = readFileSync(join(ROOT, "examples/refund/policy.yaml"), "utf8");
const compiled = compilePolicy(parse(text) as PolicyText, KNOWN);
assert.ok(compiled.ok, JSON.stringify(compiled));
const { policy, warnings } = compiled;

function past(tool: string, args: Json, result: Json, status: PastCall["status"] = "applied"): PastCall {
  return { action: "act_1", tool, args, status, result, generation: 1, undone: false, at: 0 };
}
const read = (user_id = 42) =>
  past("get_refund_context", { user_id }, refundContext(user_id) as unknown as Json);
const paid = (amount_usd: number) => {
  const args = { user_id: 42, amount_usd, reason: "r" };
  return past("issue_refund", args, refunded(args) as unknown as Json);
};

function review(tool: string, args: Json, history: readonly PastCall[] = []): Review {
  const rules = TOOLS.get(tool) ?? { ...defineTool({ name: tool, effect: "read", run: () => 0 }).rules };
  const who = { agent: "agent:refunds", requester: ["agent:refunds"], requestId: null, now: 0 };
  const workflow = { id: "wf_1", name: "refund", generation: 1 };
  const input = { tool, effectClass: rules.effectClass, args, history, workflow, ...who };
  return reviewAction({ ...rules, policy: (one) => policy.judge(one) }, input);
}
const refund = (
  amount_usd: number,
  history: readonly PastCall[] = [read()],
  more: object = { reason: "r" },
) => review("issue_refund", { user_id: 42, amount_usd, ...more }, history);
const email = (history: readonly PastCall[]) =>
  review("send_refund_email", { user_id: 42, amount_usd: 1000, message: "m" }, history);

/** Verdict, rule and reason, which are one word for the same. */
function says({ verdict, rule, reason }: Review, expected: string): void {
  assert.equal(rule, reason);
  assert.equal(`${verdict} ${rule}`, expected);
}

describe("the refund policy", () => {
  test("compiles against the tools' schemas, with nothing to warn of", () => {
    assert.deepEqual(warnings, []);
    assert.deepEqual(policy.limits, { steps: 8, toolCalls: 5, seconds: 30 });
  });

  test("approves the read", () =>
    says(review("get_refund_context", { user_id: 42 }), "approve read_only_context"));

  test("blocks an amount that is not positive, whatever else may be said of it", () => {
    for (const amount of [0, -0.01, -5000]) says(refund(amount, [read()], {}), "block invalid_refund_amount");
  });

  test("approves exactly 1000 USD and asks a person from the first cent on", () => {
    says(refund(0.01), "approve refund_within_auto_limit");
    says(refund(1000), "approve refund_within_auto_limit");
    says(refund(1000.01), "escalate high_refund_requires_human");
    says(refund(2000), "escalate high_refund_requires_human");
  });

  test("caps what is asked to the rest of the run's 2000 USD, and reviews that again", () => {
    const all = refund(2000.01);
    assert.deepEqual(
      [all.args, all.revisions[0]?.rule],
      [{ user_id: 42, amount_usd: 2000, reason: "r" }, "cap_to_remaining_run_budget"],
    );
    says(all, "escalate high_refund_requires_human");
    const rest = refund(1200, [read(), paid(1199.9)]);
    assert.deepEqual(rest.args, { user_id: 42, amount_usd: 800.1, reason: "r" });
    says(rest, "approve refund_within_auto_limit");
    says(refund(1, [read(), paid(1200), paid(800)]), "block refund_budget_exhausted");
  });

  test("counts a refund whose outcome nobody knows, and not one that the tool declined or that was refused", () => {
    const args = { user_id: 42, amount_usd: 1200, reason: "r" };
    for (const status of ["running", "in_doubt"] as const)
      assert.equal(
        (refund(1000, [past("issue_refund", args, null, status)]).args as JsonObject)["amount_usd"],
        800,
      );
    for (const one of [past("issue_refund", args, null, "refused"), paid(1500)])
      says(refund(1000, [read(), one]), "approve refund_within_auto_limit");
  });

  test("fills a missing reason in, and then decides", () => {
    for (const more of [{}, { reason: "  " }]) {
      const { args, revisions, ...rest } = refund(500, [read()], more);
      assert.deepEqual(args, { user_id: 42, amount_usd: 500, reason: "The customer asked for it" });
      assert.deepEqual(
        revisions.map(({ rule, reason }) => [rule, reason]),
        [["refund_reason_required", "refund_reason_required"]],
      );
      says({ args, revisions, ...rest } as Review, "approve refund_within_auto_limit");
    }
    says(refund(1200, [read()], {}), "escalate high_refund_requires_human");
  });

  test("lets an e-mail go only after a refund that was paid", () => {
    says(email([read()]), "block email_before_refund");
    says(email([read(), paid(5000)]), "block email_before_refund");
    says(
      email([past("issue_refund", { user_id: 42, amount_usd: 1 }, null, "in_doubt")]),
      "block email_before_refund",
    );
    says(email([read(), paid(1000)]), "approve email_after_refund");
  });

  test("lets nobody answer before the case was read", () => {
    const final = (history: readonly PastCall[]) => review("final", { answer: "done" }, history);
    says(final([]), "block final_requires_context");
    says(final([read(99)]), "block final_requires_context");
    says(final([paid(1000)]), "block final_requires_context");
    says(final([read()]), "approve final_with_context");
  });

  test("blocks a tool that it does not know, by name", () => {
    const { verdict, rule, reason } = review("delete_account", { user_id: 42 });
    assert.deepEqual([verdict, rule], ["block", "unknown_tool_for_supervisor"]);
    assert.equal(reason, "unknown_tool_for_supervisor:delete_account");
  });

  test("scores risk", () => {
    const scoreOf = ({ risk }: Review) => [risk?.score, risk?.level, risk?.conditions];
    assert.deepEqual(scoreOf(refund(1000)), [0, "low", []]);
    assert.deepEqual(scoreOf(refund(1200)), [60, "high", ["over_auto_limit", "whole_charge"]]);
    assert.deepEqual(scoreOf(refund(100, [read(), paid(100)])), [20, "low", ["refunded_before"]]);
    const max = review("issue_refund", { user_id: 7, amount_usd: 49, reason: "r" }, [read(7)]);
    assert.deepEqual(scoreOf(max), [50, "medium", ["whole_charge", "after_refund_window"]]);
  });

  test("counts calls: five in all, three reads, two refunds, two e-mails, the same read twice", () => {
    const rule = ({ verdict, rule: id }: Review) => `${verdict} ${id}`;
    const context = (user_id: number, ...history: PastCall[]) =>
      rule(review("get_refund_context", { user_id }, history));
    assert.equal(context(42, read()), "approve read_only_context");
    assert.equal(context(42, read(), read()), "block limit:repeats");
    assert.equal(context(1, read(), read(), read(7)), "block limit:calls");
    assert.equal(rule(refund(3, [paid(1), paid(2)])), "block limit:calls");
    assert.equal(rule(refund(2, [paid(2)])), "block limit:repeats");
    const five = [read(), read(), read(7), paid(1), past("send_refund_email", {}, {})];
    assert.equal(rule(refund(2, five)), "block limit:tool_calls");
  });
});

describe("the cases beside the policy", () => {
  const reading = readCases(readFileSync(join(ROOT, "examples/refund/policy.test.yaml"), "utf8"));
  assert.ok(reading.ok, JSON.stringify(reading));
  const ran = reading.cases.cases.map((one) => runCase(policy, one, KNOWN));

  for (const { name, differences } of ran) test(name, () => assert.deepEqual(differences, []));

  test("are decided by every rule there is, between them", () => {
    const rules = ran.flatMap(({ review: one }) => [one.rule, ...one.revisions.map(({ rule }) => rule)]);
    const written = (policy.document["rules"] as readonly { readonly id: string }[]).map(({ id }) => id);
    assert.deepEqual(new Set(rules), new Set(written));
  });
});

test("the guide has every rule with its verdict, and no other", () => {
  const guide = readFileSync(join(ROOT, "docs/guide/refund.md"), "utf8");
  const told = [...guide.matchAll(/^\| `(\w+)` \| (approve|revise|block|escalate) \|/gm)];
  type Written = { readonly id: string; readonly verdict: string };
  const rules = policy.document["rules"] as unknown as readonly Written[];
  assert.deepEqual(
    told.map(([, id, verdict]) => `${id} ${verdict}`),
    rules.map(({ id, verdict }) => `${id} ${verdict}`),
  );
});

describe("the refund tools", () => {
  test("answer errors as values", () => {
    assert.deepEqual(refundContext(99), { error: "context_not_found_for_user:99" });
    assert.deepEqual(refunded({ user_id: 99, amount_usd: 1, reason: "r" }), {
      status: "error",
      error: "refund_user_not_found:99",
    });
    assert.deepEqual(refunded({ user_id: 42, amount_usd: 0, reason: "r" }), {
      status: "error",
      error: "refund_amount_must_be_positive",
    });
    assert.deepEqual(refunded({ user_id: 7, amount_usd: 49.01, reason: "r" }), {
      status: "error",
      error: "refund_exceeds_last_charge",
      max_refund_usd: 49,
    });
    assert.deepEqual(emailed({ user_id: 99, amount_usd: 1, message: "m" }), {
      status: "error",
      error: "email_user_not_found:99",
    });
  });

  test("do outside what they are told under one key once, whatever else the file says", () => {
    const folder = mkdtempSync(join(tmpdir(), "holdpoint-refund-"));
    const file = join(folder, "outside.log");
    const outside = fileOutside(file);
    for (const key of ["eff_1", "eff_1", "eff_12", "eff_1"]) outside.once(key, { text: '{"key":"eff_3",' });
    outside.once("eff_3", { amount_usd: 1 });
    const keys = readFileSync(file, "utf8").trimEnd().split("\n");
    rmSync(folder, { recursive: true, force: true });
    assert.deepEqual(
      keys.map((line) => (JSON.parse(line) as { readonly key: string }).key),
      ["eff_1", "eff_12", "eff_3"],
    );
  });

  test("know nobody by a name of the object's own, such as constructor", () => {
    assert.deepEqual(refundContext("constructor" as unknown as number), {
      error: "context_not_found_for_user:constructor",
    });
  });
});
