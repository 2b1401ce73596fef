import { existsSync } from "node:fs";
import { validatorFor } from "../../policy/backtest/recorded-tools.ts";
import type { Told } from "../../policy/backtest/replay-journal.ts";
import { explain } from "../../policy/backtest/rules/explain.ts";
import { callKindOfTool, type KnownTool } from "../../policy/rules/tools.ts";
import type { PolicyInput } from "../../policy/rules/verdict.ts";

import { type Context, EXIT, flag, word } from "../command.ts";
import { actionId } from "../resolve-id.ts";
import { actionIn } from "./action-input.ts";
import { toolsFrom } from "./known-tools.ts";
import { printExplanation } from "./print-explanation.ts";
import { noStore, policiesFor } from "./which-policy.ts";

type Asked = {
  readonly input: PolicyInput;
  /** Undefined where nobody knows the tool. */
  readonly tool: KnownTool | undefined;
  readonly told: Told | null;
};

/** Those that were given come before those that the journal has met. */
async function knownTools(context: Context): Promise<readonly KnownTool[]> {
  const given = flag(context, "tools");
  const own = given === undefined ? [] : await toolsFrom(context.hp, given);
  return context.hasStore ? [...own, ...(await context.hp.policies.tools())] : own;
}

async function askedOf(context: Context): Promise<Asked> {
  const given = word(context);
  const known = await knownTools(context);
  if (existsSync(given)) {
    const input = actionIn(given, context.now, known);
    return { input, tool: known.find(({ name }) => name === input.tool), told: null };
  }
  if (!context.hasStore) throw noStore(context.folder, `Nor is there a file ${given}.`);
  const told = await context.hp.policies.told(await actionId(context, given));
  return { input: told.input, tool: known.find(({ name }) => name === told.input.tool), told };
}

export async function runExplain(context: Context): Promise<number> {
  const { input, tool, told } = await askedOf(context);
  const { chosen, gone } = await policiesFor(context, told);
  const validate = await validatorFor(tool?.schema ?? null);
  const asked = told?.asked ?? callKindOfTool(input.tool);
  for (const [index, { policy, document, by, words }] of chosen.entries()) {
    const { name, digest } = policy;
    const explained = {
      policy: { name, digest },
      by,
      input,
      recorded: told?.said ?? null,
      isWhole: told?.isWhole ?? true,
      hasSchema: tool?.schema != null,
      gone,
      ...explain(document, policy, { input, asked }, validate),
    };
    if (context.json) context.terminal.json(explained);
    else printExplanation(context, explained, { words, number: index + 1, count: chosen.length });
  }
  return EXIT.ok;
}
