/** A model that needs no key: it reads the same prompt as a real one, and proposes what a sensible one would. */
import type { Model } from "../../src/index.ts";

/** Anna's case. `amount` is what is to be proposed, in USD. */
export const goalOf = (amount: number): string =>
  [
    "Anna (user_id=42) wants back the 1200 USD of her annual plan, paid 10 days ago.",
    `Read her case, propose a refund of ${amount} USD, and confirm by e-mail what was paid.`,
    "Then answer shortly: the amount in USD, whether a person had to approve it, and the reason that the policy gave.",
  ].join(" ");

type Values = { readonly [name: string]: unknown };
type Call = { readonly kind?: string; readonly name?: string; readonly args?: Values };
type Step = {
  readonly action?: Call;
  readonly supervisor?: { readonly decision: string; readonly reason: string };
  readonly executed_action?: Call | null;
  readonly observation?: Values;
};
type Seen = { readonly goal: string; readonly history?: readonly Step[]; readonly state_summary?: Summary };
type Summary = { readonly supervisor_decisions: readonly string[]; readonly last_step: Step | null };

const tool = (name: string, args: Values) => ({ kind: "tool", name, args });
const final = (answer: string) => ({ kind: "final", answer });

const AMOUNT = /propose a refund of ([\d.]+) USD/;
/** The policy's reason, as the message to the customer carries it from one step to the next. */
const POLICY = /\(policy: ([^)]*)\)/;

function answerOf(amount: unknown, wasAsked: boolean, reason: string): string {
  const person = wasAsked ? "A person had to approve it" : "No person had to approve it";
  return `Anna was refunded ${amount} USD. ${person} (policy: ${reason}).`;
}

/** What comes after a step that was done. */
function follow(step: Step, wasAsked: boolean, amount: number): Values {
  const { executed_action: done, supervisor, observation } = step;
  const { amount_usd, message } = done?.args ?? {};
  if (observation?.["error"] !== undefined) return final(`Nothing was refunded: ${observation["error"]}.`);
  switch (done?.name) {
    case "get_refund_context":
      return tool("issue_refund", {
        user_id: 42,
        amount_usd: amount,
        reason: "Annual plan, paid 10 days ago",
      });
    case "issue_refund":
      return tool("send_refund_email", {
        user_id: 42,
        amount_usd,
        message: `We have refunded ${amount_usd} USD to you (policy: ${supervisor?.reason}).`,
      });
    default: {
      const [, reason = ""] = POLICY.exec(String(message)) ?? [];
      return final(`${answerOf(amount_usd, wasAsked, reason)} She has been told by e-mail.`);
    }
  }
}

function propose({ goal, state_summary: summary }: Seen): Values {
  const last = summary?.last_step ?? null;
  if (last === null) return tool("get_refund_context", { user_id: 42 });
  if (last.executed_action == null)
    return final(`Nothing more could be done: ${last.observation?.["reason"]}.`);
  const wasAsked = summary?.supervisor_decisions.includes("escalate") ?? false;
  return follow(last, wasAsked, Number(AMOUNT.exec(goal)?.[1]));
}

/** Asked for plain text when the steps are used up: from the whole history. */
function conclude({ history = [] }: Seen): string {
  const paid = history.findLast((step) => step.executed_action?.name === "issue_refund");
  const wasAsked = history.some((step) => step.supervisor?.decision === "escalate");
  if (paid === undefined) return "Nothing was refunded.";
  return answerOf(paid.executed_action?.args?.["amount_usd"], wasAsked, paid.supervisor?.reason ?? "");
}

/** The text for a prompt: one proposal as JSON, or a last answer. */
export function textFor(prompt: string, format: "json" | "text"): string {
  const seen = JSON.parse(prompt) as Seen;
  return format === "text" ? conclude(seen) : JSON.stringify(propose(seen));
}

export const scriptedModel: Model = {
  id: "script/refund",
  propose: async ({ prompt, format }) => ({ text: textFor(prompt, format) }),
};
