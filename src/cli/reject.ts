import { visible } from "../core/visible.ts";
import { type Command, EXIT, needed, REASON, word } from "./command.ts";
import { approvalId } from "./resolve-id.ts";

export const reject: Command = {
  name: "reject",
  words: ["<id>"],
  summary: "say no, as the operating system's user; the program is told the reason",
  flags: { reason: REASON },
  async run(context) {
    const { hp, terminal, person: by } = context;
    const id = await approvalId(context, word(context));
    const { binding } = await hp.approvals.get(id);
    const reason = needed(context, "reason");
    const decided = await hp.approvals.reject(id, { by, binding, reason, via: "cli" });
    const approval = await hp.approvals.get(id);
    if (context.json) terminal.json({ kind: decided.kind, approval });
    else {
      if (decided.kind === "same") terminal.line("You had rejected it before; nothing changed.");
      const end =
        approval.status === "pending" ? "Your vote is recorded; it still waits" : `It is ${approval.status}`;
      terminal.line(`${end}: ${id}, ${visible(approval.tool)}, asked by ${visible(approval.agent)}.`);
    }
    return EXIT.ok;
  },
};
