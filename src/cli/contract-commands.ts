/** Made from the contracts by `npm run generate`: help and the parser load no schema. */
import type { Flags } from "./shell/command.ts";

export const CONTRACT_COMMANDS = {
  grants: {
    name: "grants",
    group: "Limit what agents may do",
    words: ["[list|give|show|revoke]", "[id]"],
    summary: "List, give, show and revoke standing grants",
    details: [
      "grants (or grants list) lists what can be used now; --all also what cannot any more.",
      "grants show <id> shows every use; grants revoke <id> --reason <text> ends it.",
      "In a pipe each line is tab-separated: id, status, tool, agent, uses, total, expiry, owner, condition.",
    ],
    examples: [
      'holdpoint grants give --tool payments.refund --when "args.amount_usd <= 100" --uses 50 --total "500 USD" --amount args.amount_usd --for 7d --reason "small refunds"',
    ],
    flags: {
      tool: {
        value: "<name>",
        summary: "give: the tool",
      },
      when: {
        value: "<expression>",
        summary: "give: which arguments, such as args.amount <= 100; any unless set",
      },
      agent: {
        value: "<name>",
        summary: "give: which agent; any unless set",
      },
      uses: {
        value: "<n>",
        summary: "give: how often",
      },
      total: {
        value: "<money>",
        summary: 'give: what all uses may come to, together with amount, such as "500 USD"',
      },
      amount: {
        value: "<expression>",
        summary: "give: what one use comes to, such as args.amount",
      },
      for: {
        value: "<span>",
        summary: "give: how long, at most 90 days, such as 12h or 7d",
      },
      reason: {
        value: "<text>",
        summary: "give and revoke: why; it is recorded",
      },
      all: {
        summary: "list: also what cannot be used any more",
      },
      limit: {
        value: "<n>",
        summary: "list: how many to show; 50 unless set",
      },
      full: {
        summary: "show: long values in full",
      },
    },
  },
} as const;

/** Fields that a comment can do without. */
export const COMMENT_FLAGS: Flags = {
  category: {
    value: "<text>",
    summary: "what kind of comment it is: question, answer, concern, note",
  },
};
