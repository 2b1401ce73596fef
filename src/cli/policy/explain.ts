import type { Command } from "../command.ts";

export const policyExplain: Command = {
  name: "policy explain",
  words: ["<action>"],
  summary: "why a policy says what it says of an action: every rule, and what it looked at",
  details: [
    'A file with the action, { "tool", "args", "agent", "workflow", "history", "now" }, or the id of one in the journal: then with what its policy was told at that time, by the version that its verdict names.',
  ],
  flags: {
    policy: { value: "<file>", summary: "by this policy" },
    now: { summary: "by the policy in force now, whatever decided at the time; so is a file's action" },
    tools: {
      value: "<file>",
      summary: "a program whose default export declares tools, or a list of them in JSON",
    },
  },
  storeless: true,
  run: async (context) => (await import("./run-explain.ts")).runExplain(context),
};
