import type { Command } from "./command.ts";
import { REFUND_FLAGS } from "./demos/refund-flags.ts";

export const demo: Command = {
  name: "demo",
  words: ["pizza|trade|deploy|legal|refund|all"],
  summary: "watch an agent make a mistake, and a person catch it",
  details: [
    "A real workflow on a store in a temporary folder, or in --data. You decide at its checkpoint: approve, modify or reject.",
    "`demo all` plays those four, and counts what it saved.",
    "`demo refund`: a model proposes, a policy file reviews, and over 1000 USD a person decides, from a second terminal or played.",
  ],
  onlyHere: "it plays in a store of its own",
  flags: {
    without: { summary: "nobody looks: the mistake happens" },
    with: { summary: "a person looks, and it is corrected (unless another is chosen)" },
    reject: { summary: "a person says no for good: what was done is undone" },
    yes: { summary: "play the person's part as well; needed where there is no terminal" },
    ...REFUND_FLAGS,
  },
  storeless: true,
  tenantless: true,
  run: async (context) => (await import("./demos/demo.ts")).playDemo(context),
};
