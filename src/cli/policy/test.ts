import type { Command } from "../command.ts";

export const policyTest: Command = {
  name: "policy test",
  words: ["[file…]"],
  summary: "run the cases beside policies: given, when, then",
  details: [
    "Of refunds.yaml, or of refunds.ts, they stand in refunds.test.yaml. Without a file, all that are found in this folder and below it.",
  ],
  onlyHere: "it reads files of this machine",
  flags: {
    tools: {
      value: "<file>",
      summary: "a program whose default export declares tools, or a list of them in JSON",
    },
  },
  storeless: true,
  tenantless: true,
  run: async (context) => (await import("./run-test.ts")).runTest(context),
};
