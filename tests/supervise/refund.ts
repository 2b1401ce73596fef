/** A small refund desk: tools, a policy over them, and models that say what they are told to. */
import { z } from "zod";
import type { Policy } from "../../src/effects/define-tool.ts";
import type { Model, ModelAnswer, ModelFailure, ModelRequest } from "../../src/supervise/models/model.ts";
import type { SuperviseOptions } from "../../src/supervise/options.ts";

import type { Desk } from "../workflows/office.ts";

export const CONTEXT = { kind: "tool", name: "get_refund_context", args: { user_id: 42 } };
export const refund = (amount_usd: number, more: object = { reason: "annual plan" }) => ({
  kind: "tool",
  name: "issue_refund",
  args: { user_id: 42, amount_usd, ...more },
});
export const MAIL = {
  kind: "tool",
  name: "send_refund_email",
  args: { user_id: 42, amount_usd: 800, message: "done" },
};
export const FINAL = { kind: "final", answer: "800 USD were refunded." };

export function toolsOf(desk: Pick<Desk, "gate">, done: string[] = []) {
  return [
    desk.gate({
      name: "get_refund_context",
      description: "Facts about a customer",
      effect: "read",
      policy: "approve",
      input: z.object({ user_id: z.int() }),
      run: ({ user_id }) => ({ user: { id: user_id, name: "Anna" }, billing: { last_charge_usd: 1200 } }),
    }),
    desk.gate({
      name: "issue_refund",
      description: "Pays money back",
      effect: "idempotent",
      policy: "approve",
      input: z.object({ user_id: z.int(), amount_usd: z.number(), reason: z.string().optional() }),
      run: (args) => {
        done.push(`refund ${args.amount_usd} ${args.reason}`);
        return { status: "ok", refund: args };
      },
    }),
    desk.gate({
      name: "send_refund_email",
      description: "Tells the customer",
      effect: "idempotent",
      policy: "approve",
      input: z.object({ user_id: z.int(), amount_usd: z.number(), message: z.string() }),
      run: ({ amount_usd }) => {
        done.push(`mail ${amount_usd}`);
        return { status: "ok" };
      },
    }),
  ];
}

type Args = { readonly amount_usd?: number; readonly reason?: string };

/** The refund rules, as far as they need no history. */
export const POLICY = ((call: { tool: string; args: Args }) => {
  const { amount_usd = 0, reason } = call.args;
  if (call.tool !== "issue_refund")
    return { verdict: "approve", reason: `${call.tool}_is_fine`, rule: "fine" };
  if (amount_usd <= 0) return { verdict: "block", reason: "invalid_refund_amount", rule: "amount" };
  if (amount_usd > 2000)
    return {
      verdict: "revise",
      set: { amount_usd: 2000 },
      reason: "cap_to_remaining_run_budget",
      rule: "cap",
    };
  if (reason === undefined)
    return {
      verdict: "revise",
      set: { reason: "as policy says" },
      reason: "refund_reason_required",
      rule: "reason",
    };
  if (amount_usd > 1000) return { verdict: "escalate", reason: "high_refund_requires_human", rule: "high" };
  return { verdict: "approve", reason: "refund_within_auto_limit", rule: "auto" };
}) as unknown as Policy<never>;

export type Line = object | string | ModelFailure | (() => Promise<ModelAnswer | ModelFailure>);

const isFailure = (line: Line): line is ModelFailure => typeof line === "object" && "failure" in line;

function answerOf(line: Line): ModelAnswer | ModelFailure | Promise<ModelAnswer | ModelFailure> {
  if (typeof line === "function") return line();
  if (isFailure(line)) return line;
  const text = typeof line === "string" ? line : JSON.stringify(line);
  return { text, tokens: { input: 100, output: 10 }, model: "scripted-1", finish: "stop" };
}

/** Says one line after the other. */
export function scripted(...lines: readonly Line[]): Model & { readonly asked: ModelRequest[] } {
  const asked: ModelRequest[] = [];
  return {
    id: "scripted",
    asked,
    async propose(request) {
      asked.push(request);
      const line = lines[asked.length - 1];
      if (line === undefined) throw new Error("the script is over");
      return answerOf(line);
    },
  };
}

/** Says what belongs to the step that the prompt shows it at: asked again after a crash, it says the same. */
export function atStep(...lines: readonly Line[]): Model {
  return {
    id: "by step",
    async propose({ prompt }) {
      const { state_summary: state } = JSON.parse(prompt);
      return answerOf(lines[state.steps_completed] ?? "the script is over");
    },
  };
}

export const GOAL = "Anna (user_id=42) wants a refund for a charge of 1200 USD.";

export const given = (desk: Pick<Desk, "gate">, model: Model, done: string[] = []): SuperviseOptions => ({
  goal: GOAL,
  tools: toolsOf(desk, done),
  policy: POLICY,
  model,
});
