import { visible } from "../../kernel/text.ts";
import { type PolicyReading, toolsWithoutSchema } from "../../policy/read.ts";
import type { CompileOptions } from "../../policy/rules/compile.ts";
import { type KnownTool, mergeNamedTools, namedTools } from "../../policy/rules/tools.ts";
import { type Context, EXIT, flag, word } from "../shell/command.ts";
import { hanging, pluralize, type Style } from "../shell/terminal.ts";
import { findingLine, readPolicyFile, toolsFrom } from "./load.ts";

/** What a policy was checked against. */
type Basis = {
  readonly from: "given" | "journal" | "nowhere";
  /** The tools to check a document against; null: no tool is known. */
  readonly toolsFor: (named: readonly KnownTool[]) => readonly KnownTool[] | null;
};

async function basisOf(context: Context): Promise<Basis> {
  const given = flag(context, "tools");
  if (given !== undefined) {
    const tools = await toolsFrom(context.hp, given);
    return { from: "given", toolsFor: () => tools };
  }
  if (!context.hasStore) return { from: "nowhere", toolsFor: () => null };
  const recorded = await context.hp.policies.tools();
  return { from: "journal", toolsFor: (named) => mergeNamedTools(recorded, named) };
}

/** The people of the store. Without a store, roles and groups cannot be resolved. */
async function peopleIn({ hasStore, hp }: Context): Promise<CompileOptions> {
  if (!hasStore) return {};
  const all = await hp.people.list();
  const members = new Map(all.map(({ suspended: _out, ...one }) => [one.person, one]));
  const suspended = all.filter((one) => one.suspended).map(({ person }) => person);
  return { roster: { suspended, members } };
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

type Against = Pick<Basis, "from"> & { readonly unchecked: readonly string[] };

/** Folded for people; in a pipe a finding is one line, as editors expect. */
function say({ terminal }: Context, line: string, style: Style = []): void {
  for (const part of hanging(line, terminal)) terminal.line(terminal.paint(style, part));
}

function print(context: Context, file: string, read: PolicyReading, { from, unchecked }: Against): void {
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
  const { from, toolsFor } = await basisOf(context);
  let unchecked: readonly string[] = [];
  const toolsOf = (document: unknown) => {
    const named = namedTools(document);
    const tools = toolsFor(named);
    unchecked = tools === null ? named.map(({ name }) => name) : toolsWithoutSchema(tools, named);
    return tools;
  };
  const { read } = await readPolicyFile(file, toolsOf, await peopleIn(context));
  const named = read.ok ? { name: read.policy.name, digest: read.policy.digest } : { looked: read.looked };
  if (context.json)
    context.terminal.json({ file, ok: read.ok, ...named, findings: read.findings, from, unchecked });
  else print(context, file, read, { from, unchecked });
  return read.ok ? EXIT.ok : EXIT.refused;
}
