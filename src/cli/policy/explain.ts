import { existsSync } from "node:fs";
import { explain } from "../../core/backtest/explain.ts";
import type { JsonObject } from "../../core/json.ts";
import { type CompiledPolicy, compilePolicy } from "../../core/policy/compile.ts";
import type { PolicyDocument } from "../../core/policy/document.ts";
import type { PolicyInput } from "../../core/verdict.ts";
import { validatorFor } from "../../engine/backtest/candidate.ts";
import type { Told } from "../../engine/backtest/told.ts";
import { type Command, type Context, EXIT, flag, word } from "../command.ts";
import { CommandError } from "../failure.ts";
import { actionId } from "../resolve-id.ts";
import { actionIn } from "./action-input.ts";
import { loadPolicy } from "./load.ts";
import { printExplanation } from "./print-explanation.ts";

type Asked = { readonly input: PolicyInput; readonly schema: JsonObject | null; readonly told: Told | null };

function noStore(folder: string, what: string): CommandError {
  return new CommandError("no_store", `There is no store at ${folder}.`, what);
}

async function askedOf(context: Context): Promise<Asked> {
  const given = word(context);
  if (existsSync(given)) {
    const input = actionIn(given, context.now);
    const known = context.hasStore ? await context.hp.policies.tools() : [];
    return { input, schema: known.find(({ name }) => name === input.tool)?.schema ?? null, told: null };
  }
  if (!context.hasStore) throw noStore(context.folder, `Nor is there a file ${given}.`);
  const told = await context.hp.policies.told(await actionId(context, given));
  const known = (await context.hp.policies.tools()).find(({ name }) => name === told.input.tool);
  return { input: told.input, schema: known?.schema ?? null, told };
}

/** The one that was put in force last, of all names. */
async function inForce(context: Context): Promise<CompiledPolicy> {
  if (!context.hasStore) throw noStore(context.folder, "Name a policy's file: --policy <file>");
  const versions = await context.hp.policies.list();
  const newest = versions
    .filter(({ until }) => until === null)
    .toSorted((a, b) => a.at - b.at)
    .at(-1);
  if (newest === undefined)
    throw new CommandError(
      "usage",
      "No policy document is in force in this store.",
      "Name a file: --policy <file>",
    );
  const { document, name } = await context.hp.policies.get(newest.name);
  const made = compilePolicy(document as never, null);
  if (made.ok) return made.policy;
  throw new CommandError(
    "usage",
    `The policy "${name}" in force cannot be read here.`,
    "Name a file: --policy <file>",
  );
}

export const policyExplain: Command = {
  name: "policy explain",
  words: ["<action>"],
  summary: "why a policy says what it says of an action: every rule, and what it looked at",
  details: [
    'A file with the action, { "tool", "args", "agent", "workflow", "history", "now" }, or the id of one in the journal: then with what its policy was told at that time.',
  ],
  flags: { policy: { value: "<file>", summary: "the policy; the one in force in the store unless set" } },
  storeless: true,
  async run(context) {
    const file = flag(context, "policy");
    const { input, schema, told } = await askedOf(context);
    const policy = file === undefined ? await inForce(context) : loadPolicy(context, file);
    const document = policy.document as unknown as PolicyDocument;
    const explanation = explain(document, policy, input, await validatorFor(schema));
    const { name, digest } = policy;
    const about = {
      policy: { name, digest },
      input,
      recorded: told?.said ?? null,
      isWhole: told?.isWhole ?? true,
    };
    if (context.json) context.terminal.json({ ...about, ...explanation });
    else printExplanation(context, { ...about, ...explanation });
    return EXIT.ok;
  },
};
