import { visible } from "../core/visible.ts";
import { type Command, EXIT, needed, REASON, word } from "./command.ts";
import { approvalId } from "./resolve-id.ts";

const personOf = (given: string): string => (given.includes(":") ? given : `person:${given}`);

export const delegate: Command = {
  name: "delegate",
  words: ["<id>", "<person>"],
  summary: "have somebody else decide in your place",
  details: [
    "Only somebody who may decide it now can do so, and only for the stage that is asked now. From then on the other person decides and you do not, until you take it back.",
  ],
  flags: { reason: REASON },
  async run(context) {
    const { hp, terminal, person: by } = context;
    const id = await approvalId(context, word(context));
    const to = personOf(word(context, 1));
    await hp.approvals.delegate(id, { by, to, reason: needed(context, "reason"), via: "cli" });
    const approval = await hp.approvals.get(id);
    if (context.json) terminal.json({ approval });
    else terminal.line(`${visible(to)} decides ${id} in your place: ${visible(approval.tool)}.`);
    return EXIT.ok;
  },
};

export const takeBack: Command = {
  name: "take-back",
  words: ["<id>"],
  summary: "decide yourself after all, while nobody has in your place",
  flags: { reason: REASON },
  async run(context) {
    const { hp, terminal, person: by } = context;
    const id = await approvalId(context, word(context));
    await hp.approvals.takeBack(id, { by, reason: needed(context, "reason"), via: "cli" });
    const approval = await hp.approvals.get(id);
    if (context.json) terminal.json({ approval });
    else terminal.line(`You decide ${id} yourself again: ${visible(approval.tool)}.`);
    return EXIT.ok;
  },
};
