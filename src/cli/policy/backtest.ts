import { type Command, type Context, EXIT, flag, word } from "../command.ts";
import { countOf, SINCE, sinceOf } from "./since.ts";

const DEFAULT_LIMIT = 20;

function amountOf(context: Context): { readonly amount?: string } {
  const given = flag(context, "amount");
  return given === undefined ? {} : { amount: given.replace(/^args\./, "") };
}

export const policyBacktest: Command = {
  name: "policy backtest",
  words: ["<file>"],
  summary: "a policy on trial: every recorded action whose verdict it would change",
  details: [
    "Plays the journal again: arguments as proposed, agent, time, and the workflow's history as it stood then. Nothing is written.",
    "First comes what people rejected or changed and the policy would let through without asking.",
    "It stands in the place of the document of its name, else of the instance's. Other documents that were asked, as those of supervised runs, are asked beside it, and the stricter counts. What is in code cannot be asked.",
  ],
  onlyHere: "it goes over the whole journal",
  flags: {
    since: SINCE,
    limit: {
      value: "<n>",
      summary: `how many changes are listed; ${DEFAULT_LIMIT} unless set; all are counted`,
    },
    "fail-over": { value: "<n>", summary: "exit with 1 if more than so many would change" },
    amount: { value: "<argument>", summary: "a number among the arguments, such as amount_usd, to sum up" },
  },
  async run(context) {
    const { terminal, hp } = context;
    const limit = countOf(context, "limit", 0) ?? DEFAULT_LIMIT;
    const most = countOf(context, "fail-over", 0);
    const options = { ...sinceOf(context), ...amountOf(context), limit };
    const { loadPolicy } = await import("./load.ts");
    const { document } = await loadPolicy(context, word(context));
    const report = await hp.policies.backtest(document, {
      ...options,
      progress: (done, total) =>
        terminal.progress(`${Math.floor((done / Math.max(1, total)) * 100)} % of the journal …`),
    });
    terminal.progress(null);
    if (context.json) terminal.json(report);
    else (await import("./print-backtest.ts")).printBacktest(terminal, report, options.amount);
    return most !== undefined && report.changed > most ? EXIT.refused : EXIT.ok;
  },
};
