import { visible } from "../core/visible.ts";
import { type Command, EXIT, word } from "./command.ts";
import { approvalId } from "./resolve-id.ts";

export const comment: Command = {
  name: "comment",
  words: ["<id>", "<text>"],
  summary: "ask for more before you decide",
  details: [
    "It is kept with the approval, shown on its card, and told to whoever asked. It decides nothing. Only people who may decide it comment, and the agent that asked.",
  ],
  flags: {},
  async run(context) {
    const { hp, terminal, person: by } = context;
    const id = await approvalId(context, word(context));
    await hp.approvals.comment(id, { by, text: word(context, 1), via: "cli" });
    const approval = await hp.approvals.get(id);
    if (context.json) terminal.json({ approval });
    else terminal.line(`It stands with ${id} now, and ${visible(approval.agent)} can read it.`);
    return EXIT.ok;
  },
};
