import { visible } from "../../kernel/text.ts";
import { type PolicyReading, parseYaml, readPolicyFile } from "../../policy/read.ts";
import type { CompileOptions } from "../../policy/rules/compile.ts";
import { type KnownTool, mergeNamedTools, namedTools } from "../../policy/rules/tools.ts";
import { type Context, EXIT, flag, word } from "../shell/command.ts";
import { hanging, pluralize, type Style } from "../shell/terminal.ts";
import { documentIn, findingLine, isModule, readModuleDocument, readTextFile, toolsFrom } from "./load.ts";

type CheckBasis = {
  /** null: no tool is known. */
  readonly tools: readonly KnownTool[] | null;
  readonly from: "given" | "journal" | "nowhere";
  /** Tools that the policy names but whose schemas are unknown. */
  readonly unchecked: readonly string[];
};

function fromJournal(recorded: readonly KnownTool[], named: readonly KnownTool[]): CheckBasis {
  const tools = mergeNamedTools(recorded, named);
  const spoken = new Set(named.map(({ name }) => name));
  const blind = tools.filter(({ name, schema }) => schema === null && spoken.has(name));
  return { tools, from: "journal", unchecked: blind.map(({ name }) => name) };
}

async function checkBasisOf(context: Context, named: readonly KnownTool[]): Promise<CheckBasis> {
  const given = flag(context, "tools");
  if (given !== undefined) {
    const tools = await toolsFrom(context.hp, given);
    const spoken = new Set(named.map(({ name }) => name));
    const blind = tools.filter(({ name, schema }) => schema === null && spoken.has(name));
    return { tools, from: "given", unchecked: blind.map(({ name }) => name) };
  }
  if (context.hasStore) return fromJournal(await context.hp.policies.tools(), named);
  return { tools: null, from: "nowhere", unchecked: named.map(({ name }) => name) };
}

/** The people of the store. Without a store, roles and groups cannot be resolved. */
async function peopleIn({ hasStore, hp }: Context): Promise<CompileOptions> {
  if (!hasStore) return {};
  const all = await hp.people.list();
  const members = new Map(all.map(({ suspended: _out, ...one }) => [one.person, one]));
  const suspended = all.filter((one) => one.suspended).map(({ person }) => person);
  return { roster: { suspended, members } };
}

type Checked = { readonly ground: CheckBasis; readonly read: PolicyReading };

async function checked(context: Context, file: string): Promise<Checked> {
  const around = await peopleIn(context);
  if (!isModule(file)) {
    const ground = await checkBasisOf(context, namedTools(parseYaml(readTextFile(file)).value));
    return { ground, read: readPolicyFile(file, ground.tools, around) };
  }
  const document = await documentIn(file);
  const ground = await checkBasisOf(context, namedTools(document));
  return { ground, read: readModuleDocument(document, ground.tools, around) };
}

const AGAINST = {
  given: "Checked against the tools that were given.",
  journal: "Checked against the tools that the journal knows; --tools gives others.",
  nowhere:
    "No tools are known here: names of tools and of their arguments were not checked. Give them with --tools.",
} as const;

const MORE = {
  text: "There may be more: the rest is looked at once the file is YAML.",
  shape: "There may be more: rules and expressions are looked at once every key and value is in its place.",
} as const;

/** Folded for people; in a pipe a finding is one line, as editors expect. */
function say({ terminal }: Context, line: string, style: Style = []): void {
  for (const part of hanging(line, terminal)) terminal.line(terminal.paint(style, part));
}

function print(context: Context, file: string, read: PolicyReading, { from, unchecked }: CheckBasis): void {
  const { terminal } = context;
  for (const finding of read.findings)
    say(context, findingLine(file, finding), finding.severity === "fault" ? "red" : "yellow");
  const faults = read.findings.filter(({ severity }) => severity === "fault").length;
  const warnings = pluralize(read.findings.length - faults, "warning");
  terminal.line(
    read.ok
      ? `${terminal.paint("green", "Fine:")} ${visible(read.policy.name)} ${read.policy.digest.slice(0, 12)}, ${warnings}.`
      : `Not usable: ${pluralize(faults, "fault")}, ${warnings}.`,
  );
  if (!read.ok && read.looked !== "whole") {
    say(context, MORE[read.looked]);
    return;
  }
  say(context, AGAINST[from]);
  if (from !== "nowhere" && unchecked.length > 0)
    say(context, `Arguments not checked, for want of a schema: ${unchecked.map(visible).join(", ")}.`);
}

export async function runCheck(context: Context): Promise<number> {
  const file = word(context);
  const { ground, read } = await checked(context, file);
  const { from, unchecked } = ground;
  const named = read.ok ? { name: read.policy.name, digest: read.policy.digest } : { looked: read.looked };
  if (context.json)
    context.terminal.json({ file, ok: read.ok, ...named, findings: read.findings, from, unchecked });
  else print(context, file, read, ground);
  return read.ok ? EXIT.ok : EXIT.refused;
}
