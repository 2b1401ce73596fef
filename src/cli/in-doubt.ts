import type { Action, ActionSummary } from "../index.ts";
import { visible } from "../kernel/text.ts";
import { type Command, type Context, EXIT, FULL } from "./command.ts";
import { readable } from "./readable.ts";
import { sectionsOn } from "./sections.ts";
import { ago } from "./times.ts";

const MOST = 1_000;
type Doubtful = Extract<Action, { phase: "in_doubt" }>;

async function read({
  hp,
}: Context): Promise<{ readonly doubtful: readonly Doubtful[]; readonly total: number }> {
  const { items, total } = await hp.actions.list({ phase: "in_doubt", limit: MOST });
  const actions = await Promise.all(items.map((item) => hp.actions.get(item.id)));
  // One may have been resolved between the list and the look.
  return { doubtful: actions.filter((action) => action.phase === "in_doubt"), total };
}

function print({ terminal, now, full }: Context, action: Doubtful): void {
  const sections = sectionsOn(terminal, full);
  const { effect, outcome } = action;
  terminal.line(`${terminal.paint("bold", effect.id)}  ${terminal.paint("red", visible(action.tool))}`);
  sections.field("since", ago(outcome.at, now));
  sections.field("reason", outcome.reason);
  sections.field("started", ago(effect.startedAt, now));
  sections.field("request id", action.requestId ?? "-");
  for (const late of effect.late)
    sections.field("late report", `${late.epoch}: ${late.status} ${late.reason}`);
  sections.block(readable(action.args, full));
  terminal.line();
}

function printAbandoned({ terminal, now }: Context, waiting: readonly ActionSummary[]): void {
  if (waiting.length === 0) return;
  terminal.line(
    terminal.paint("bold", "Started by a process that is gone; the next one that runs takes them over"),
  );
  for (const item of waiting)
    terminal.line(
      `  ${visible(item.id)}  ${visible(String(item["tool"]))}  started ${ago(Number(item["startedAt"]), now)}`,
    );
}

export const inDoubt: Command = {
  name: "in-doubt",
  words: [],
  summary: "effects that may or may not have happened, and those whose process is gone",
  details: ["Find out what happened, then: holdpoint resolve <effect> applied|not_applied --reason <text>"],
  flags: { full: FULL },
  async run(context) {
    const { terminal, hp } = context;
    const { doubtful, total } = await read(context);
    const abandoned = await hp.actions.abandoned();
    if (context.json) {
      for (const action of doubtful) terminal.json(action);
      for (const item of abandoned) terminal.json({ ...item, abandoned: true });
      return EXIT.ok;
    }
    for (const action of doubtful) print(context, action);
    if (total > doubtful.length) terminal.line(`… ${total - doubtful.length} more`);
    printAbandoned(context, abandoned);
    if (doubtful.length + abandoned.length === 0) terminal.line("Nothing is in doubt.");
    else if (doubtful.length > 0)
      terminal.line(
        `Find out what happened, then: npx holdpoint resolve <effect> applied|not_applied --reason "…"`,
      );
    return EXIT.ok;
  },
};
