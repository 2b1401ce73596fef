import type { Command } from "../command.ts";

export const policyCheck: Command = {
  name: "policy check",
  words: ["<file>"],
  summary: "what is wrong with a policy's file, by line and column",
  details: [
    "YAML or JSON, or a module in TypeScript whose default export is the document. Quorums are checked against the people that the store knows.",
    "Expressions are checked against the tools' schemas: those of --tools, else those that the journal kept when it asked people.",
  ],
  flags: {
    tools: {
      value: "<file>",
      summary: "a program whose default export declares tools, or a list of them in JSON",
    },
  },
  storeless: true,
  run: async (context) => (await import("./run-check.ts")).runCheck(context),
};
