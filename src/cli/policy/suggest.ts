import { DEFAULT_MIN_DECISIONS } from "../../runtime/settings.ts";
import { type Command, EXIT } from "../command.ts";
import { countOf, SINCE, sinceOf } from "./since.ts";

export const policySuggest: Command = {
  name: "policy suggest",
  words: [],
  summary: "rules and grants that people's decisions support, each with what it would have let through",
  details: [
    "Grouped by tool and agent, and as narrow as what was approved: numbers between the lowest and the highest, and below everything that was not; texts among those that were; no other arguments. What is too different each time is left open, and named.",
  ],
  onlyHere: "it goes over the whole journal",
  flags: {
    since: SINCE,
    min: {
      value: "<n>",
      summary: `how many approvals a suggestion takes; ${DEFAULT_MIN_DECISIONS} unless set`,
    },
  },
  async run(context) {
    const { terminal, hp } = context;
    const min = countOf(context, "min", 1) ?? DEFAULT_MIN_DECISIONS;
    const found = await hp.policies.suggest({
      ...sinceOf(context),
      min,
      progress: (done, total) =>
        terminal.progress(`${Math.floor((done / Math.max(1, total)) * 100)} % of the journal …`),
    });
    terminal.progress(null);
    if (context.json) terminal.json(found);
    else (await import("./print-suggestions.ts")).printSuggestions(context, found, min);
    return EXIT.ok;
  },
};
