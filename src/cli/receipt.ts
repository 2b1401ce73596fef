import type { Receipt } from "../index.ts";
import { type Command, type Context, EXIT, isOn, word } from "./command.ts";
import { CommandError } from "./failure.ts";
import { actionId } from "./resolve-id.ts";
import { sectionsOn } from "./sections.ts";
import { moment } from "./times.ts";

const LABELS = 14;

function print({ terminal }: Context, receipt: Receipt): void {
  const sections = sectionsOn(terminal, true, LABELS);
  terminal.line(terminal.paint("bold", `Receipt: ${receipt.status}`));
  for (const [label, value] of Object.entries(receipt)) {
    const isTime = label === "startedAt" || label === "endedAt";
    const text = Array.isArray(value) ? value.join(", ") : String(value ?? "-");
    sections.field(label, isTime ? moment(Number(value)) : text);
  }
}

export const receipt: Command = {
  name: "receipt",
  words: ["<id>"],
  summary: "the record of an effect's outcome",
  details: ["--signed seals the journal first and prints the receipt with its proof, as JSON."],
  flags: { signed: { summary: "signed, with its path to a seal; always JSON" } },
  async run(context) {
    const { hp, terminal } = context;
    const id = await actionId(context, word(context));
    const found = isOn(context, "signed") ? await hp.receipts.signed(id) : await hp.receipts.get(id);
    if (found === undefined)
      throw new CommandError(
        "no_receipt",
        `There is no receipt for ${id}: nothing was performed, or it still runs.`,
        `See: holdpoint show ${id}`,
      );
    if (context.json || !("tenant" in found)) terminal.json(found);
    else print(context, found);
    return EXIT.ok;
  },
};
