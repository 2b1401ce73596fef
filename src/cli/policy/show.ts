import type { Command } from "../command.ts";

export const policyShow: Command = {
  name: "policy show",
  words: ["<name or digest>"],
  summary: "a policy's document: the version put in force last, or the one with that digest",
  details: ["A digest may be shortened to its beginning, at least six digits."],
  flags: {},
  run: async (context) => (await import("./run-show.ts")).runShow(context),
};
