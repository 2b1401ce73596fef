import type { JournalRecord } from "../index.ts";
import { canonicalJson } from "../kernel/canonical-json.ts";
import { visible, visiblePreview } from "../kernel/text.ts";
import { type Command, type Context, EXIT, FULL, word } from "./command.ts";
import { cut, fold, missing } from "./measure.ts";
import { anyId } from "./resolve-id.ts";
import { moment } from "./times.ts";

const MOST_BODY = 300;
const INDENT = "    ";

function bodyText({ body }: JournalRecord, full: boolean): string {
  if (body === null) return "(erased; the chain still holds)";
  const { text, left } = cut(canonicalJson(body), full ? Number.POSITIVE_INFINITY : MOST_BODY);
  return visiblePreview(text) + (left === 0 ? "" : missing(left, "character"));
}

function print({ terminal, full }: Context, record: JournalRecord): void {
  const { at, stream, seq, type } = record;
  const [time, name, kind] = [moment(at), visible(stream), visible(type)];
  const body = bodyText(record, full);
  if (terminal.interactive) {
    terminal.line(`${terminal.paint("dim", time)}  ${name} ${seq}  ${terminal.paint("bold", kind)}`);
    for (const line of fold(body, terminal.columns - INDENT.length))
      terminal.line(INDENT + terminal.strange(line));
  } else terminal.line([time, name, seq, kind, body].join("\t"));
}

export const journal: Command = {
  name: "journal",
  words: ["<id>"],
  summary: "every entry about an approval, an action or a workflow, in the order of commits",
  details: [
    "Of a workflow: its own entries and those of its actions, approvals and children.",
    "In a pipe each line is tab-separated: time, stream, number in the stream, type, body.",
  ],
  flags: { full: FULL },
  async run(context) {
    for (const record of await context.hp.journal.read(await anyId(context, word(context)))) {
      if (context.json) context.terminal.json(record);
      else print(context, record);
    }
    return EXIT.ok;
  },
};
