/** A suggestion as a command line that gives the grant. */

import { moneyText } from "../../kernel/money.ts";
import { visible } from "../../kernel/text.ts";
import { GRANTED_DAYS, type SuggestedGrant } from "../../policy/backtest/suggestion-text.ts";

/** One word for a POSIX shell, whatever is in it. */
function shellWord(text: string): string {
  return /^[\w.:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function limitWords(limit: SuggestedGrant["limit"]): readonly string[] {
  if (limit === null) return [];
  return ["--total", shellWord(moneyText(limit.total)), "--amount", shellWord(limit.amount)];
}

/** `where`: the flags that name the store. */
export function grantLine({ tool, agent, when, uses, limit, reason }: SuggestedGrant, where: string): string {
  const words = [
    ...["npx", "holdpoint", "grants", "give"],
    ...["--tool", shellWord(visible(tool)), "--agent", shellWord(visible(agent))],
    ...(when === "" ? [] : ["--when", shellWord(when)]),
    ...["--uses", String(uses), ...limitWords(limit)],
    ...["--for", `${GRANTED_DAYS}d`, "--reason", shellWord(reason)],
  ];
  return `${words.join(" ")}${where}`;
}
