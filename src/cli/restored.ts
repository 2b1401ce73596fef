import type { Acknowledged, Restored } from "../index.ts";
import { visible } from "../kernel/text.ts";
import { type Command, type Context, EXIT, flag, isOn } from "./command.ts";
import { CommandError } from "./failure.ts";
import { fold } from "./measure.ts";
import { sectionsOn } from "./sections.ts";
import { moment } from "./times.ts";

/** On standard error, after what was asked for: reading goes on in a store that nobody may execute in. */
export async function noteRestored({ hp, terminal }: Context, command: Pick<Command, "name">): Promise<void> {
  if (command.name === "restored") return;
  // A store that cannot be read has been told about by the command itself, and one that is not there by `welcome`.
  const { why } = await hp.restored().catch(() => ({ why: null }));
  if (why !== null)
    terminal.note(
      `Note: this store was restored or copied: ${visible(why)}. Nothing starts until a person has looked: npx holdpoint restored`,
    );
}

const point = (one: { readonly n: number; readonly at: number } | null): string =>
  one === null ? "none" : `${one.n}, at ${moment(one.at)}`;

function print({ terminal, folder }: Context, found: Restored): void {
  const sections = sectionsOn(terminal, true);
  const { why, open, lastEntryAt } = found;
  sections.field("store", visible(folder));
  sections.field("incarnation", visible(found.incarnation));
  sections.field("last entry", lastEntryAt === null ? "not known" : moment(lastEntryAt));
  sections.field("last seal", point(found.lastSeal));
  sections.field("seen here", `${point(found.witness)} (the last seal that this machine saw of it)`);
  sections.field(
    "open",
    `${open.running} running, ${open.approved} approved and not used, ${open.open} not started, ${open.waiting} waiting for people`,
  );
  if (why === null) {
    terminal.line("Nothing tells that this store was restored or copied.");
    return;
  }
  terminal.line(terminal.paint("red", `This store was restored or copied: ${visible(why)}.`));
  for (const text of ADVICE) for (const line of fold(text, terminal.columns)) terminal.line(line);
}

const ADVICE = [
  "Nothing starts in it. What was done after its last entry is not in it, and the request ids of that time are unknown: a program that uses one again does it again. Compare with the outside world from that time on. Then:",
  '  npx holdpoint restored --acknowledge --reason "…"',
  "puts what was running in doubt, and refuses what was approved or about to start, since it may have been done. Workflows end, unless they wait at a checkpoint, and standing grants are revoked. Questions that nobody had answered stay: look before you approve one.",
];

function printDone({ terminal }: Context, done: Acknowledged): void {
  terminal.line("Acknowledged: programs may execute in this store again.");
  const { inDoubt, refused, waiting, workflows, epochs, grants } = done;
  terminal.line(
    `  ${inDoubt} put in doubt, ${refused} refused, ${waiting} still wait for people, ${workflows} workflows and ${epochs} epochs ended, ${grants} standing grants revoked`,
  );
  if (inDoubt > 0) terminal.line("  npx holdpoint in-doubt lists what needs your word.");
}

async function acknowledge(context: Context): Promise<number> {
  const reason = flag(context, "reason");
  if (reason === undefined)
    throw new CommandError("usage", "--acknowledge needs --reason <text>.", "Say why; it is recorded.");
  const { hp, terminal, person: by } = context;
  const done = await hp.acknowledgeRestore({ by, reason, anyway: isOn(context, "anyway") });
  if (context.json) terminal.json(done);
  else printDone(context, done);
  return EXIT.ok;
}

export const restored: Command = {
  name: "restored",
  words: [],
  summary: "whether the store was restored or copied; take it on as it is",
  details: [
    "A store that is not the one its history was last written in lets nothing start until a person has acknowledged that. Without --acknowledge nothing is changed.",
  ],
  onlyHere: "only somebody at the store can know",
  flags: {
    acknowledge: { summary: "programs may execute again; what was open is in doubt or refused" },
    reason: { value: "<text>", summary: "why, with --acknowledge; it is recorded" },
    anyway: { summary: "also when nothing tells that it was restored" },
  },
  async run(context) {
    if (isOn(context, "acknowledge")) return acknowledge(context);
    const lost = ["reason", "anyway"].find((name) => isOn(context, name));
    if (lost !== undefined)
      throw new CommandError("usage", `--${lost} goes with --acknowledge.`, "Add it, or leave both out.");
    const found = await context.hp.restored();
    if (context.json) context.terminal.json(found);
    else print(context, found);
    return found.why === null ? EXIT.ok : EXIT.refused;
  },
};
