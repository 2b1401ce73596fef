import { visible } from "../core/visible.ts";
import { type Command, EXIT, needed, REASON, word } from "./command.ts";
import { approvalId } from "./resolve-id.ts";

export const cancel: Command = {
  name: "cancel",
  words: ["<id>"],
  summary: "take a question back that nobody has decided yet",
  flags: { reason: REASON },
  async run(context) {
    const { hp, terminal, person: by } = context;
    const id = await approvalId(context, word(context));
    await hp.approvals.cancel(id, { by, reason: needed(context, "reason") });
    const approval = await hp.approvals.get(id);
    if (context.json) terminal.json({ approval });
    else terminal.line(`Cancelled: ${id}, ${visible(approval.tool)}. It does not run.`);
    return EXIT.ok;
  },
};
