// Anna wants 1200 USD back. A model proposes, policy.yaml reviews each step, and over 1000 USD a person decides. Kill it
// while it waits, decide with `npx holdpoint approve <id>`, run it again: the same run goes on, and the money moves once.
// With OPENAI_API_KEY or ANTHROPIC_API_KEY set it runs on the real service, else on a script that needs none.
import { join } from "node:path";
import { holdpoint } from "holdpoint";
import { goalOf, scriptedModel } from "./script.ts";
import { fileOutside, refundTools } from "./tools.ts";

const { OPENAI_API_KEY, ANTHROPIC_API_KEY, ANTHROPIC_MODEL = "claude-sonnet-4-5" } = process.env;

function model() {
  if (OPENAI_API_KEY) return "openai";
  return ANTHROPIC_API_KEY ? `anthropic/${ANTHROPIC_MODEL}` : scriptedModel;
}

const hp = holdpoint({ policy: join(import.meta.dirname, "policy.yaml") });
const result = await hp.supervise({
  id: "anna-1",
  name: "refund",
  goal: goalOf(1200),
  tools: refundTools(hp, fileOutside("outside.log")),
  model: model(),
});
console.log(JSON.stringify(result, null, 2));
await hp.close();
