/** Commands on one approval other than deciding it, as data: the library's method, its input, and the output. */

import { timeText } from "../../approvals/card-sections.ts";
import type { Approval, Approvals } from "../../approvals/contract.ts";
import { visible } from "../../kernel/text.ts";
import {
  type Command,
  type Context,
  EXIT,
  type Flags,
  flag,
  needed,
  REASON,
  usage,
  word,
} from "../shell/command.ts";
import { parseDuration, parseTime } from "../shell/parse.ts";
import { resolveId } from "../shell/resolve-id.ts";
import { richText } from "../shell/sections.ts";
import { runCancelWorkflow } from "../workflows/operate.ts";
import { statusWords } from "../workflows/story.ts";

type Verb = "comment" | "delegate" | "takeBack" | "extend" | "revoke" | "cancel";
type Verbs = { readonly [name in Verb]: (id: string, input: never) => Promise<unknown> };

/** Defaults: the id is the only word, and the reason the only flag. */
type Act<Name extends Verb> = Pick<Command, "name" | "summary" | "details" | "examples"> & {
  readonly words?: readonly string[];
  readonly flags?: Flags;
  readonly verb: Name;
  /** Reads words and flags before the approval is looked up. The person at the terminal is added. */
  readonly input: (context: Context) => Omit<Parameters<Approvals[Name]>[1], "by">;
  readonly says: (approval: Approval, context: Context) => string | Promise<string>;
};

const act = <Name extends Verb>({ verb, input, says, ...command }: Act<Name>): Command => ({
  words: ["<id>"],
  flags: { reason: REASON },
  ...command,
  async run(context) {
    const { hp, terminal, person: by } = context;
    const verbs: Verbs = hp.approvals;
    const given = { by, ...input(context) };
    const id = await resolveId(context, "apr", word(context));
    await verbs[verb](id, given as never);
    const approval = await hp.approvals.get(id);
    if (context.json) terminal.json({ approval });
    else terminal.line(await says(approval, context));
    return EXIT.ok;
  },
});

const via = "cli";
const reason = (context: Context) => ({ reason: needed(context, "reason") });

/** The contract refuses invalid values by name. */
const flagsGiven = (context: Context, flags: Flags): object =>
  Object.fromEntries(
    Object.keys(flags).flatMap((name) => {
      const value = flag(context, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );

const COMMENT_FLAGS: Flags = {
  category: { value: "<text>", summary: "what kind of comment it is: question, answer, concern, note" },
};

const comment = act({
  name: "comment",
  words: ["<id>", "<text>"],
  summary: "Ask for more before you decide",
  details: [
    "It is kept with the approval, shown on its card, and sent to the requester. It decides nothing. Only people who may decide it and the agent that asked can comment.",
  ],
  examples: ['holdpoint comment apr_01K9ZQ "Which invoice is this?" --category question'],
  flags: COMMENT_FLAGS,
  verb: "comment",
  input: (context) => ({ text: word(context, 1), ...flagsGiven(context, COMMENT_FLAGS), via }),
  says: ({ id, agent }) => `It is kept with ${id}, and ${visible(agent)} can read it.`,
});

const deputy = (context: Context): string => {
  const given = word(context, 1);
  return given.includes(":") ? given : `person:${given}`;
};

const delegate = act({
  name: "delegate",
  words: ["<id>", "<person>"],
  summary: "Let another person decide in your place",
  details: [
    "Only a person who may decide it now can do so, and only for the stage that is asked now. From then on the other person decides and you do not, until you take it back.",
  ],
  examples: ['holdpoint delegate apr_01K9ZQ bob --reason "on leave"'],
  verb: "delegate",
  input: (context) => ({ ...reason(context), to: deputy(context), via }),
  says: ({ id, tool }, context) =>
    `${visible(deputy(context))} decides ${id} in your place: ${visible(tool)}.`,
});

const takeBack = act({
  name: "take-back",
  summary: "Take a delegated decision back",
  examples: ['holdpoint take-back apr_01K9ZQ --reason "back at work"'],
  verb: "takeBack",
  input: (context) => ({ ...reason(context), via }),
  says: ({ id, tool }) => `You decide ${id} yourself again: ${visible(tool)}.`,
});

function moreTime(given: string): { readonly byMs: number } | { readonly until: number } {
  const byMs = parseDuration(given);
  if (byMs !== undefined && byMs > 0) return { byMs };
  const until = parseTime(given);
  if (until !== undefined) return { until };
  throw usage(
    `"${given}" is neither a length of time nor a time.`,
    "Such as 30min, 2h, 1d, or 2026-05-04T18:00:00Z.",
  );
}

const extend = act({
  name: "extend",
  words: ["<id>", "<duration>"],
  summary: "Give people more time to decide",
  details: [
    "The duration is added to the deadline: 45s, 30min, 2h, 1d, 1h30min. A time such as 2026-05-04T18:00:00Z is the new deadline.",
    "Only a person who may decide it now can do so. Votes that were cast stay.",
  ],
  examples: ["holdpoint extend apr_01K9ZQ 2h"],
  flags: {},
  verb: "extend",
  input: (context) => ({ ...moreTime(word(context, 1)), via }),
  says: ({ id, tool, decideBy }, { now }) =>
    `Extended: ${id}, ${visible(tool)}. Decide by ${richText(timeText(decideBy), now)}.`,
});

const revoke = act({
  name: "revoke",
  summary: "Revoke an approval that was not used yet",
  examples: ['holdpoint revoke apr_01K9ZQ --reason "price changed"'],
  verb: "revoke",
  input: reason,
  says: ({ id, tool }) => `Revoked: ${id}, ${visible(tool)}. It does not run.`,
});

async function cancelled({ about, intent, workflow: id }: Approval, { hp }: Context): Promise<string> {
  if (intent !== null) return `Those who wait for ${intent} are told so.`;
  if (about === "action" || id === null) return "It does not run.";
  const workflow = `The workflow ${visible(id)}`;
  if (about === "question") return `${workflow} is told that there is no answer.`;
  const { status } = await hp.workflows.get(id);
  return `${workflow} is ${statusWords(status)}; what it did stays done.`;
}

const cancelApproval = act({
  name: "cancel",
  summary: "Withdraw a pending question, or cancel a workflow",
  examples: ['holdpoint cancel wf_01K9ZQ --reason "no longer needed"'],
  details: [
    "A workflow whose checkpoint is cancelled fails. What a workflow did stays done: to have it undone, `holdpoint rollback <workflow> --fail` instead.",
  ],
  verb: "cancel",
  input: reason,
  says: async (approval, context) =>
    `Cancelled: ${approval.id}, ${visible(approval.tool)}. ${await cancelled(approval, context)}`,
});

const cancel: Command = {
  ...cancelApproval,
  run: (context) =>
    word(context).trim().startsWith("apr_") ? cancelApproval.run(context) : runCancelWorkflow(context),
};

/** In the order of the overview. */
export const ACTS: readonly Command[] = [comment, cancel, revoke, extend, delegate, takeBack];
