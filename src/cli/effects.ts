/** Commands about effects and agents: in-doubt, resolve, receipt, and `scenarios apply`. */

import type { Action, ActionSummary } from "../effects/contract.ts";
import type { Receipt } from "../effects/rules/receipt.ts";
import { isHoldpointError } from "../kernel/errors.ts";
import { visible } from "../kernel/text.ts";
import {
  type Command,
  CommandError,
  type Context,
  EXIT,
  FULL,
  isOn,
  needed,
  REASON,
  word,
} from "./shell/command.ts";
import { resolveActionId } from "./shell/resolve-id.ts";
import { sectionsOn, valueTree } from "./shell/sections.ts";
import { formatAgo, formatMoment } from "./shell/terminal.ts";

const MOST_DOUBTFUL = 1_000;
type Doubtful = Action & {
  readonly effect: NonNullable<Action["effect"]>;
  readonly outcome: NonNullable<Action["outcome"]>;
};

const isDoubtful = (action: Action): action is Doubtful => action.phase === "in_doubt";

async function readDoubtful({
  hp,
}: Context): Promise<{ readonly doubtful: readonly Doubtful[]; readonly total: number }> {
  const { items } = await hp.actions.list({ phase: "in_doubt", order: "oldest", limit: MOST_DOUBTFUL });
  const actions = await Promise.all(items.map((item) => hp.actions.get(item.id)));
  // One may have been resolved between the list and this read.
  return { doubtful: actions.filter(isDoubtful), total: await hp.actions.count("in_doubt") };
}

function printDoubtful({ terminal, now, full }: Context, action: Doubtful): void {
  const sections = sectionsOn(terminal, full);
  const { effect, outcome } = action;
  terminal.line(`${terminal.paint("bold", effect.id)}  ${terminal.paint("red", visible(action.tool))}`);
  sections.field("since", formatAgo(outcome.at, now));
  sections.field("reason", outcome.reason);
  sections.field("started", formatAgo(effect.startedAt, now));
  sections.field("request id", action.requestId ?? "-");
  for (const late of effect.late)
    sections.field("late report", `${late.epoch}: ${late.status} ${late.reason}`);
  sections.block(valueTree(action.args, full));
  terminal.line();
}

function printAbandoned({ terminal, now }: Context, waiting: readonly ActionSummary[]): void {
  if (waiting.length === 0) return;
  terminal.line(
    terminal.paint("bold", "Started by a process that is gone; the next one that runs takes them over"),
  );
  for (const item of waiting)
    terminal.line(
      `  ${visible(item.id)}  ${visible(item.tool)}  started ${formatAgo(item.startedAt ?? item.proposedAt, now)}`,
    );
}

export const inDoubtCommand: Command = {
  name: "in-doubt",
  words: [],
  summary: "List effects with an unknown outcome",
  details: ["Find out what happened, then: holdpoint resolve <effect> applied|not_applied --reason <text>"],
  flags: { full: FULL },
  async run(context) {
    const { terminal, hp } = context;
    const { doubtful, total } = await readDoubtful(context);
    const abandoned = await hp.actions.abandoned();
    if (context.json) {
      for (const action of doubtful) terminal.json(action);
      for (const item of abandoned) terminal.json({ ...item, abandoned: true });
      return EXIT.ok;
    }
    for (const action of doubtful) printDoubtful(context, action);
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

export const resolveCommand: Command = {
  name: "resolve",
  words: ["<effect>", "applied|not_applied"],
  summary: "State the outcome of an effect in doubt",
  details: [
    "Your word becomes its outcome and is recorded as yours. A program that calls again gets it as the answer.",
  ],
  examples: [`holdpoint resolve eff_01K9ZQ applied --reason "seen in the bank's list"`],
  flags: { reason: REASON },
  async run(context) {
    const { hp, terminal, person: by } = context;
    const id = await resolveActionId(context, word(context));
    const { id: action } = await hp.actions.get(id);
    const status = word(context, 1) === "applied" ? "applied" : "not_applied";
    const state = await hp.actions.resolve(action, { status, by, reason: needed(context, "reason") });
    if (context.json) terminal.json(state);
    else
      terminal.line(
        `Resolved: ${action}, ${visible(state.tool)}, is ${state.phase}, on the word of ${visible(by)}.`,
      );
    return EXIT.ok;
  },
};

const LABEL_WIDTH = 14;

function printReceipt({ terminal }: Context, receipt: Receipt): void {
  const sections = sectionsOn(terminal, true, LABEL_WIDTH);
  terminal.line(terminal.paint("bold", `Receipt: ${receipt.status}`));
  for (const [label, value] of Object.entries(receipt)) {
    const isTime = label === "startedAt" || label === "endedAt";
    const text = Array.isArray(value) ? value.join(", ") : String(value ?? "-");
    sections.field(label, isTime ? formatMoment(Number(value)) : text);
  }
}

export const receiptCommand: Command = {
  name: "receipt",
  words: ["<id>"],
  summary: "Print the receipt of an effect",
  details: ["--signed seals the journal first and prints the receipt with its proof, as JSON."],
  examples: ["holdpoint receipt act_01K9ZQ --signed"],
  flags: { signed: { summary: "signed, with its path to a seal; always JSON" } },
  async run(context) {
    const { hp, terminal } = context;
    const id = await resolveActionId(context, word(context));
    const asked: Promise<Receipt | object> = isOn(context, "signed")
      ? hp.receipts.sign(id)
      : hp.receipts.get(id);
    const found = await asked.catch((error: unknown) => {
      if (!isHoldpointError(error, "wrong_state")) throw error;
      throw new CommandError(
        "no_receipt",
        `There is no receipt for ${id}: nothing was performed, or it still runs.`,
        `See: holdpoint show ${id}`,
      );
    });
    if (context.json || !("tenant" in found)) terminal.json(found);
    else printReceipt(context, found);
    return EXIT.ok;
  },
};

export const scenariosApply: Command = {
  name: "scenarios apply",
  words: ["<file>"],
  summary: "Create the agents and approvers of a scenario file",
  details: [
    "Agents get keys of their own, kept in your configuration folder (holdpoint/scenario-agents.json). Applied again, what is there stays; the intent is sent again unless it has a request_id.",
  ],
  examples: ["holdpoint scenarios apply scenario.yaml"],
  flags: {},
  run: async (context) => (await import("./scenarios.ts")).applyScenario(context),
};
