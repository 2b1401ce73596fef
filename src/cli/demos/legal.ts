import type { Outcome, Scenario } from "./scenario.ts";
import { resultOf, workflowNameOf } from "./scenario.ts";

type Clause = { readonly clause: string; readonly liability: string };

const CHECKPOINT = "Review the contract";
const UNLIMITED = "unlimited";

export const legal: Scenario = {
  name: "legal",
  title: "A clause without a limit",
  task: "Draft the supply contract with Acme, and send it for signature.",
  mistake: "The agent took over the other side's clause: our liability has no limit.",
  input: { party: "Acme" },
  hint: 'modify, and set liability to "limited to 12 months of fees"',
  corrects: [
    {
      kind: "modify",
      edit: { liability: "limited to 12 months of fees" },
      note: "We never sign without a limit.",
    },
  ],
  rejects: { kind: "reject", reason: "We do not contract with Acme any more.", final: true },
  define(hp, { supervised, say }) {
    const draft = hp.gate({
      name: "document.create",
      policy: "approve",
      undo: ({ title }) => say(`The draft "${title}" is deleted.`),
      run: ({ title }: { title: string }) => {
        say(`The draft "${title}" is in the shared folder.`);
        return { document: "D-1" };
      },
    });
    const send = hp.gate({
      name: "contract.send",
      policy: "approve",
      run: ({ party, clause, liability }: Clause & { party: string }) => {
        say(`The contract is sent to ${party}. Clause ${clause}, our liability: ${liability}.`);
        return { signed: true };
      },
    });
    const options = { checkpoints: [{ name: CHECKPOINT, requiresApproval: supervised }] };
    return hp.workflow(workflowNameOf("legal", supervised), options, async (ctx, input): Promise<Outcome> => {
      const { party } = input as { party: string };
      await ctx.call(draft, { title: `Supply contract ${party}` });
      const clause = await ctx.step(
        "draft the clauses",
        (): Clause => ({ clause: "9", liability: UNLIMITED }),
      );
      const summary = `${party} sent clause 9 as they like it. I kept it, so that they sign soon.`;
      const { outputs } = await ctx.checkpoint(CHECKPOINT, { outputs: clause, summary, confidence: 0.6 });
      resultOf(await ctx.call(send, { party, ...outputs }));
      return { costUsd: null, told: `signed; our liability is ${outputs.liability}` };
    });
  },
};
