import { type Command, EXIT, needed, word } from "./command.ts";
import { workflowId } from "./resolve-id.ts";
import { whereFlags } from "./where-flags.ts";
import { goesOnWords, quotedName } from "./workflow-words.ts";

export const fork: Command = {
  name: "fork",
  words: ["<workflow>"],
  summary: "a new workflow that begins where this one passed a checkpoint",
  details: [
    "What was done until there is taken as done and not done again; everything after it happens anew, effects included. The first workflow is not touched.",
    "The command only says so; a process that has the definition does it.",
  ],
  onlyHere: "whoever runs the definition does it",
  flags: { at: { value: "<checkpoint>", summary: "a checkpoint it has passed", required: true } },
  async run(context) {
    const { hp, terminal } = context;
    const id = await workflowId(context, word(context));
    const made = await hp.workflows.fork(id, { at: needed(context, "at") });
    const workflow = await hp.workflows.get(made);
    if (context.json) {
      terminal.json({ workflow });
      return EXIT.ok;
    }
    terminal.line(
      `Forked: ${made}, ${quotedName(workflow.name)}, begins where ${id} passed ${quotedName(workflow.fork?.checkpoint ?? "")}.`,
    );
    terminal.line(goesOnWords(workflow.name));
    terminal.line(`  npx holdpoint show ${made}${whereFlags(context)}`);
    return EXIT.ok;
  },
};
