import type { BudgetSummary } from "../index.ts";
import { moneyText } from "../kernel/money.ts";
import { visible } from "../kernel/text.ts";
import { type Command, type Context, EXIT } from "./command.ts";
import { plain } from "./plain.ts";
import { DEFAULT_LIMIT, type Found, readLimit, readList } from "./read-list.ts";
import { printTable } from "./table.ts";

const HEADS = ["NAME", "LIMIT", "SPENT", "RESERVED", "EFFECTS"];

/** Columns as documented in the reference. */
function cellsOf({ name, limit, spent, reserved, effects }: BudgetSummary): readonly string[] {
  const { currency } = limit;
  const amounts = [limit.micros, spent, reserved].map((micros) => moneyText({ currency, micros }));
  return [name, ...amounts, String(effects)].map(visible);
}

function print({ terminal }: Context, { items, isAll }: Found<BudgetSummary>): void {
  const say = terminal.interactive ? terminal.line : terminal.note;
  if (items.length === 0) say("No budget was opened.");
  else if (terminal.interactive) printTable(terminal, HEADS, items.map(cellsOf));
  else for (const budget of items) terminal.line(cellsOf(budget).join("\t"));
  if (!isAll) say(`… more (use --limit ${items.length * 2})`);
}

export const budgets: Command = {
  name: "budgets",
  words: [],
  summary:
    "the budgets that were opened: limit, what was spent, and what effects hold that are under way or in doubt",
  details: [
    "In a pipe each line is tab-separated: name, limit, spent, reserved, how many effects hold a part of it.",
  ],
  flags: { limit: { value: "<n>", summary: `how many to show; ${DEFAULT_LIMIT} unless set` } },
  async run(context) {
    const found = await readList(readLimit(context), (cursor) => context.hp.budgets.list(cursor));
    if (context.json) for (const budget of found.items) context.terminal.json(plain(budget));
    else print(context, found);
    return EXIT.ok;
  },
};
