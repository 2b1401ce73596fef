import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ApprovalSummary } from "../index.ts";
import { visible } from "../kernel/text.ts";
import { contentCell } from "./approvals/list.ts";
import { type Command, type Context, EXIT } from "./command.ts";
import { fit, pad } from "./measure.ts";
import { whoStopped } from "./switch-scope.ts";
import { span } from "./times.ts";

const SHOWN = 3;
const HELLO = fileURLToPath(new URL("../../examples/hello.ts", import.meta.url));

type Counts = {
  readonly pending: number;
  readonly inDoubt: number;
  readonly running: number;
  readonly applied: number;
};

type State = {
  readonly counts: Counts;
  readonly oldest: readonly ApprovalSummary[];
  readonly stopped: string | null;
};

async function read(context: Context): Promise<State | undefined> {
  if (!context.hasStore) return undefined;
  const { hp } = context;
  const total = async (phase: "in_doubt" | "running" | "applied") =>
    (await hp.actions.list({ phase, limit: 1 })).total;
  const counts = {
    pending: await hp.approvals.count(),
    inDoubt: await total("in_doubt"),
    running: await total("running"),
    applied: await total("applied"),
  };
  const { items } = await hp.approvals.list({ limit: SHOWN });
  const { stopped } = await hp.stopped();
  return { counts, oldest: items, stopped: stopped ? await whoStopped(context, {}) : null };
}

function rows({ terminal }: Context, title: string, lines: readonly (readonly [string, string])[]): void {
  const width = Math.max(...lines.map(([left]) => left.length)) + 3;
  terminal.line();
  terminal.line(terminal.paint("bold", title));
  for (const [left, right] of lines)
    terminal.line(`  ${pad(left, width)}${terminal.paint("dim", right)}`.trimEnd());
}

function printState(context: Context, { counts, oldest, stopped }: State): void {
  const { terminal, folder, now } = context;
  const { pending, inDoubt, running, applied } = counts;
  terminal.line(`Journal in ${visible(folder)}`);
  terminal.line(
    `  ${pending} waiting for a decision, ${inDoubt} in doubt, ${running} running, ${applied} applied`,
  );
  if (stopped !== null) terminal.line(terminal.paint("red", `  The kill switch is on: ${stopped}`));
  if (oldest.length === 0) return;
  const facts = (item: ApprovalSummary) =>
    `${span(now - Number(item["requestedAt"]))} ago  ${visible(String(item["tool"]))}  ${contentCell(item)}`;
  const room = terminal.columns - 35;
  rows(
    context,
    "Waiting for you",
    oldest.map((item) => [visible(item.id), fit(facts(item), room)] as const),
  );
  if (pending > oldest.length) terminal.line(`  … ${pending - oldest.length} more: npx holdpoint approvals`);
}

function printCommands(context: Context, state: State | undefined): void {
  if (existsSync(HELLO))
    rows(context, "Hello world, in two terminals", [
      ["npx node examples/hello.ts", "asks before it deletes a record, and waits"],
      ["npx holdpoint approvals", "what waits, in the other terminal"],
      ["npx holdpoint approve <id>", "the first terminal goes on, also after a restart"],
    ]);
  const doubt = (state?.counts.inDoubt ?? 0) > 0;
  rows(context, "More", [
    ["npx holdpoint demo pizza", "an agent's mistake, and you catch it"],
    ["npx holdpoint demo refund", "a model proposes, a policy reviews"],
    ["npx holdpoint show <id>", "the whole card before you decide"],
    ["npx holdpoint reject <id> --reason …", "say no, and why"],
    ...(doubt ? [["npx holdpoint in-doubt", "effects that need your word"] as const] : []),
    ["npx holdpoint workflows", "what agents work at, and how far"],
    ["npx holdpoint verify", "check the journal's chains and seals"],
    ["npx holdpoint --help", "every command"],
    ["README.md, docs/", "the guide and the reference"],
  ]);
}

export const welcome: Command = {
  name: "welcome",
  words: [],
  summary: "what is here, and what to try first",
  flags: {},
  storeless: true,
  async run(context) {
    const { terminal, folder } = context;
    const state = await read(context);
    if (context.json) {
      terminal.json({
        folder,
        store: context.hasStore,
        ...(state?.counts ?? {}),
        stopped: state?.stopped ?? null,
      });
      return EXIT.ok;
    }
    terminal.line(terminal.paint("bold", "Holdpoint: agents ask, people decide, the journal remembers."));
    terminal.line();
    if (state === undefined)
      terminal.line("No journal here yet; the first program that asks makes one in .holdpoint.");
    else printState(context, state);
    printCommands(context, state);
    return EXIT.ok;
  },
};
