/** Commands about effects and agents: in-doubt, resolve, receipt, and `scenarios apply`. */

import type { Action, ActionSummary } from "../effects/contract.ts";
import type { Receipt } from "../effects/rules/receipt.ts";
import { isHoldpointError } from "../kernel/errors.ts";
import { visible } from "../kernel/text.ts";
import { listing, resourceCommand } from "./resource.ts";
import {
  type Command,
  CommandError,
  type Context,
  EXIT,
  isOn,
  needed,
  REASON,
  word,
} from "./shell/command.ts";
import { readList } from "./shell/lists.ts";
import { resolveActionId } from "./shell/resolve-id.ts";
import { sectionsOn } from "./shell/sections.ts";
import { formatMoment, formatSpan } from "./shell/terminal.ts";

type Doubtful = Action & {
  readonly effect: NonNullable<Action["effect"]>;
  readonly outcome: NonNullable<Action["outcome"]>;
};
/** Started by a process that is gone. */
type Abandoned = ActionSummary & { readonly abandoned: true };

const isDoubtful = (action: Action): action is Doubtful => action.phase === "in_doubt";

/** Oldest first. One may have been resolved between the list and the second read. */
async function readUnknown({ hp }: Context): Promise<readonly (Doubtful | Abandoned)[]> {
  const { items } = await readList(Number.POSITIVE_INFINITY, async (cursor) => {
    const page = await hp.actions.list({ phase: "in_doubt", order: "oldest", ...cursor });
    return { ...page, items: await Promise.all(page.items.map(({ id }) => hp.actions.get(id))) };
  });
  const abandoned = await hp.actions.abandoned();
  return [...items.filter(isDoubtful), ...abandoned.map((item) => ({ ...item, abandoned: true }) as const)];
}

const since = (item: Doubtful | Abandoned): number =>
  "abandoned" in item ? (item.startedAt ?? item.proposedAt) : item.outcome.at;

const list = listing<Doubtful | Abandoned>({
  read: readUnknown,
  columns: [
    ["ID", (item) => ("abandoned" in item ? item.id : item.effect.id)],
    ["AGE", (item, now) => formatSpan(now - since(item))],
    ["TITLE", ({ title }) => ({ escaped: title })],
    ["REASON", (item) => ("abandoned" in item ? "its process is gone" : item.outcome.reason)],
  ],
  piped: [
    ...["ID", ({ phase }: Doubtful | Abandoned) => phase],
    (item) => ({ at: since(item) }),
    ...[({ tool }: Doubtful | Abandoned) => tool, ({ requestId }: Doubtful | Abandoned) => requestId ?? "-"],
    ...["TITLE", "REASON"],
  ],
  empty: "Nothing is in doubt.",
  next: (items) => [
    ...(items.some((item) => !("abandoned" in item))
      ? ['Find out what happened, then: npx holdpoint resolve <effect> applied|not_applied --reason "…"']
      : []),
    ...(items.some((item) => "abandoned" in item)
      ? ["An effect whose process is gone is taken over by the next one that runs."]
      : []),
  ],
});

export const inDoubtCommand = resourceCommand({
  name: "in-doubt",
  summary: "List effects with an unknown outcome",
  details: [
    "One in full: holdpoint show <id>",
    "Find out what happened, then: holdpoint resolve <effect> applied|not_applied --reason <text>",
    "In a pipe each line is tab-separated: effect, or action where a process left it behind; in_doubt or running; since; tool; request id or -; title; reason.",
  ],
  flags: {},
  parts: { list },
});

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
