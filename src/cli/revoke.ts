import { visible } from "../core/visible.ts";
import { type Command, EXIT, needed, REASON, word } from "./command.ts";
import { approvalId } from "./resolve-id.ts";

export const revoke: Command = {
  name: "revoke",
  words: ["<id>"],
  summary: "take an approval back that was not used yet",
  flags: { reason: REASON },
  async run(context) {
    const { hp, terminal, person: by } = context;
    const id = await approvalId(context, word(context));
    await hp.approvals.revoke(id, { by, reason: needed(context, "reason") });
    const approval = await hp.approvals.get(id);
    if (context.json) terminal.json({ approval });
    else terminal.line(`Revoked: ${id}, ${visible(approval.tool)}. It does not run.`);
    return EXIT.ok;
  },
};
