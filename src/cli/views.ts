import { type Command, EXIT } from "./command.ts";

export const views: Command = {
  name: "views",
  words: ["rebuild"],
  summary: "fold the lists again from the journal",
  details: ["Lists are only a view; the journal is never changed by this."],
  onlyHere: "it is an operation of the store",
  flags: {},
  async run(context) {
    const { hp, terminal } = context;
    const { streams, left } = await hp.journal.rebuildViews((done, total) =>
      terminal.progress(`${done} of ${total} streams …`),
    );
    terminal.progress(null);
    if (context.json) terminal.json({ streams, left });
    else terminal.line(`Rebuilt the views of ${streams - left} streams.`);
    if (!context.json && left > 0)
      terminal.line(`${left} were left as they were: their events are newer, or their bodies were erased.`);
    return EXIT.ok;
  },
};
