/** Commands for the first steps: the overview without a command, `init` (files of examples/starter) and `demo`. */

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { ApprovalSummary } from "../approvals/contract.ts";
import { visible } from "../kernel/text.ts";
import { contentText } from "./approvals/list.ts";
import { whoPaused } from "./kill-switch.ts";
import {
  type Command,
  CommandError,
  type Context,
  EXIT,
  fileError,
  REFUND_FLAGS,
  version,
  word,
} from "./shell/command.ts";
import { fit, formatSpan, pad } from "./shell/terminal.ts";

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
  const counts = {
    pending: await hp.approvals.count(),
    inDoubt: await hp.actions.count("in_doubt"),
    running: await hp.actions.count("running"),
    applied: await hp.actions.count("applied"),
  };
  const { items } = await hp.approvals.list({ limit: SHOWN });
  const { paused: stopped } = await hp.paused();
  return { counts, oldest: items, stopped: stopped ? await whoPaused(context, {}) : null };
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
    `${formatSpan(now - Number(item["requestedAt"]))} ago  ${visible(String(item["tool"]))}  ${contentText(item)}`;
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
  summary: "Show what is in this folder and what to try first",
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

const STARTER = fileURLToPath(new URL("../../examples/starter", import.meta.url));

/** Source and target names: in the examples folder some target names would affect the packer or the tests. */
const FILES: readonly (readonly [string, string])[] = [
  ["workflow.ts", "workflow.ts"],
  ["workflow-test.ts", "workflow.test.ts"],
  ["holdpoint.json", "holdpoint.json"],
  ["readme.md", "README.md"],
  ["gitignore", ".gitignore"],
];

function manifest(name: string): string {
  const fields = {
    name,
    version: "0.0.0",
    private: true,
    type: "module",
    engines: { node: ">=24" },
    scripts: { start: "holdpoint run", test: "node --test" },
    dependencies: { holdpoint: `^${version()}` },
  };
  return `${JSON.stringify(fields, null, 2)}\n`;
}

function checkName(name: string): void {
  if (/^[a-z0-9][a-z0-9._-]{0,100}$/.test(name) && name !== "node_modules") return;
  throw new CommandError(
    "usage",
    `"${name}" is not a project's name.`,
    "Small letters, digits and . _ - after a first letter or digit; it becomes a folder here.",
  );
}

function checkFree(folder: string): void {
  if (!existsSync(folder)) return;
  let isEmpty = false;
  try {
    isEmpty = readdirSync(folder).length === 0;
  } catch {
    // A file of that name blocks it like a folder with content.
  }
  if (!isEmpty)
    throw new CommandError("usage", `There is something at ${folder} already.`, "Choose another name.");
}

function write(folder: string, name: string): readonly string[] {
  const texts = FILES.map(([from, to]) => {
    const text = readFileSync(join(STARTER, from), "utf8");
    return [to, text.replaceAll("{{name}}", name)] as const;
  });
  const files = [["package.json", manifest(name)] as const, ...texts];
  mkdirSync(folder, { recursive: true });
  // `wx`: never overwrites a file that appeared meanwhile.
  for (const [file, text] of files) writeFileSync(join(folder, file), text, { flag: "wx" });
  return files.map(([file]) => file);
}

function writeProject(folder: string, name: string): readonly string[] {
  try {
    return write(folder, name);
  } catch (error) {
    throw fileError(folder, error);
  }
}

export const init: Command = {
  name: "init",
  words: ["<name>"],
  summary: "Create a project: a workflow, a test, and how to run them",
  details: ["Makes a folder of that name here. What is there already is never overwritten."],
  examples: ["holdpoint init my-agent"],
  onlyHere: "it makes a project in this folder",
  flags: {},
  storeless: true,
  tenantless: true,
  async run({ terminal, json, words }) {
    const name = word({ words });
    checkName(name);
    const folder = resolve(name);
    checkFree(folder);
    const files = writeProject(folder, name);
    if (json) terminal.json({ name, folder, files });
    else {
      terminal.line(`${visible(folder)} is ready: ${files.join(", ")}`);
      terminal.line();
      for (const line of [`cd ${name}`, "npm install", "npm test", "npx holdpoint run"])
        terminal.line(`  ${line}`);
    }
    return EXIT.ok;
  },
};

export const demo: Command = {
  name: "demo",
  words: ["pizza|trade|deploy|legal|refund|all"],
  summary: "Play a demo: an agent makes a mistake, a person catches it",
  details: [
    "A real workflow on a store in a temporary folder, or in --data. You decide at its checkpoint: approve, modify or reject.",
    "`demo all` plays those four, and counts what it saved.",
    "`demo refund`: a model proposes, a policy file reviews, and over 1000 USD a person decides, from a second terminal or played.",
  ],
  examples: ["holdpoint demo pizza", "holdpoint demo refund --approve-cap 800"],
  onlyHere: "it plays in a store of its own",
  flags: {
    without: { summary: "no person looks: the mistake happens" },
    with: { summary: "a person looks, and it is corrected (unless another is chosen)" },
    reject: { summary: "a person says no for good: what was done is undone" },
    yes: { summary: "play the person's part as well; needed where there is no terminal" },
    ...REFUND_FLAGS,
  },
  storeless: true,
  tenantless: true,
  run: async (context) => (await import("../../examples/demos/demo.ts")).playDemo(context),
};
