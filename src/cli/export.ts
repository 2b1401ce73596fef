import { visible } from "../kernel/text.ts";
import { type Command, type Context, EXIT, flag } from "./command.ts";
import { CommandError } from "./failure.ts";
import { writeWholeFile } from "./whole-file.ts";

const CHUNK = 64 * 1024;
const TOLD_EVERY = 10_000;

/** Lines in chunks; counts them aloud where it takes long. */
async function* chunksOf({ hp, terminal }: Context, count: { lines: number }): AsyncGenerator<string> {
  let chunk = "";
  for await (const line of hp.journal.export()) {
    chunk += `${line}\n`;
    if (++count.lines % TOLD_EVERY === 0) terminal.progress(`${count.lines} lines …`);
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = "";
  }
  yield chunk;
}

async function toOutput(context: Context): Promise<number> {
  const { terminal } = context;
  if (terminal.interactive)
    throw new CommandError(
      "usage",
      "An export is for a file or a pipe: its bytes are exact, and whatever agents wrote would reach the terminal.",
      "Write: holdpoint export --out journal.ndjson",
    );
  for await (const chunk of chunksOf(context, { lines: 0 })) {
    await terminal.write(chunk);
    if (terminal.closed.aborted) break;
  }
  return EXIT.ok;
}

export const exportCommand: Command = {
  name: "export",
  words: [],
  summary: "the whole journal as NDJSON, for the offline verifier",
  details: ["Check it anywhere, without Holdpoint: node verifier/verify.mjs journal.ndjson"],
  onlyHere: "the whole journal is read where it is",
  flags: { out: { value: "<file>", summary: "write it there; it appears when it is whole" } },
  async run(context) {
    const out = flag(context, "out");
    if (out === undefined) return toOutput(context);
    const count = { lines: 0 };
    await writeWholeFile(out, chunksOf(context, count));
    context.terminal.progress(null);
    if (context.json) context.terminal.json({ file: out, lines: count.lines });
    else context.terminal.line(`Exported ${count.lines} lines to ${visible(out)}.`);
    return EXIT.ok;
  },
};
