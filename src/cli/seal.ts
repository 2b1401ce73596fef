import { visible } from "../kernel/text.ts";
import { type Command, EXIT, flag } from "./command.ts";
import { CommandError } from "./failure.ts";
import { jsonText } from "./terminal.ts";
import { writeWholeFile } from "./whole-file.ts";

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}

export const seal: Command = {
  name: "seal",
  words: [],
  summary: "seal the journal now and print the seal, for keeping elsewhere",
  details: [
    "A seal fixes everything before it. Kept where nobody who can write the store can reach it, it shows later whether the journal was cut or written anew: holdpoint verify --seal <file>",
  ],
  onlyHere: "the key that signs is where the store is",
  flags: { out: { value: "<file>", summary: "write it there instead of printing it" } },
  async run(context) {
    const { hp, terminal } = context;
    const saved = await hp.journal.savedSeal();
    if (saved === undefined)
      throw new CommandError(
        "nothing_to_seal",
        "The journal has no entries yet.",
        "Seal it after something happened.",
      );
    const out = flag(context, "out");
    if (out === undefined) {
      terminal.json(saved);
      return EXIT.ok;
    }
    await writeWholeFile(out, once(`${jsonText(saved)}\n`));
    if (context.json) terminal.json({ file: out });
    else terminal.line(`Sealed; the seal is in ${visible(out)}. Keep it away from this machine.`);
    return EXIT.ok;
  },
};
