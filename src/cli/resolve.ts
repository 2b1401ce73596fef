import { visible } from "../kernel/text.ts";
import { type Command, EXIT, needed, REASON, word } from "./command.ts";
import { actionId } from "./resolve-id.ts";

export const resolve: Command = {
  name: "resolve",
  words: ["<effect>", "applied|not_applied"],
  summary: "say what became of an effect in doubt",
  details: [
    "Your word becomes its outcome and is recorded as yours. A program that calls again gets it as the answer.",
  ],
  flags: { reason: REASON },
  async run(context) {
    const { hp, terminal, person: by } = context;
    const id = await actionId(context, word(context));
    const { id: action } = await hp.actions.get(id);
    const status = word(context, 1) === "applied" ? "applied" : "not_applied";
    const state = await hp.actions.resolve(action, { status, by, reason: needed(context, "reason") });
    if (context.json) terminal.json({ ...state, id: action });
    else
      terminal.line(
        `Resolved: ${action}, ${visible(state.tool)}, is ${state.phase}, on the word of ${visible(by)}.`,
      );
    return EXIT.ok;
  },
};
