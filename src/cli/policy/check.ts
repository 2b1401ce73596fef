/** `holdpoint policy check`, and `holdpoint policy test`, which finds files with cases and their policies and runs them. */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { visible } from "../../kernel/text.ts";
import {
  isModule,
  type PolicyReading,
  policyFileOf,
  readCases,
  toolsWithoutSchema,
} from "../../policy/read.ts";
import { type CaseResult, runCase } from "../../policy/rules/cases.ts";
import type { CompileOptions } from "../../policy/rules/compile.ts";
import { type KnownTool, mergeNamedTools, namedTools } from "../../policy/rules/tools.ts";
import { CommandError, type Context, EXIT, flag, word } from "../shell/command.ts";
import { hanging, pluralize, type Style } from "../shell/terminal.ts";
import { findingLine, loadPolicy, readPolicyFile, readTextFile, toolsFrom, unusableFile } from "./load.ts";

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

function printReading(
  context: Context,
  file: string,
  read: PolicyReading,
  { from, unchecked }: Against,
): void {
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
  else printReading(context, file, read, { from, unchecked });
  return read.ok ? EXIT.ok : EXIT.refused;
}

const CASES = /\.test\.(ya?ml|json)$/;
const SEARCHED = /\.test\.ya?ml$/;
const LEFT_OUT = new Set(["node_modules", "dist", "coverage"]);
const DEEPEST = 6;

/** A file of cases, and its policy if one was named. */
type CaseFile = { readonly file: string; readonly of?: string };

const casesOf = (policy: string): string =>
  isModule(policy)
    ? policy.replace(/\.[cm]?[jt]s$/, ".test.yaml")
    : policy.replace(/\.(ya?ml|json)$/, ".test.$1");

/** The cases of a policy are in a file next to it. */
function casesFor(given: string): CaseFile {
  if (CASES.test(given)) return { file: given };
  const cases = casesOf(given);
  if (cases !== given && existsSync(cases)) return { file: cases, of: given };
  throw new CommandError(
    "usage",
    `There are no cases beside ${given}.`,
    `Write some into ${cases === given ? "a file that ends in .test.yaml" : cases}.`,
  );
}

function below(folder: string, depth: number): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isFile()) return SEARCHED.test(entry.name) ? [path] : [];
    const isWanted = entry.isDirectory() && !entry.name.startsWith(".") && !LEFT_OUT.has(entry.name);
    return isWanted && depth > 0 ? below(path, depth - 1) : [];
  });
}

const MODULES = [".ts", ".mts", ".js", ".mjs"];

/** The policy next to the cases: the file of the same kind, else a module. If neither exists, the first. */
function besideOf(file: string): string | undefined {
  const beside = policyFileOf(file);
  if (beside === undefined || existsSync(beside)) return beside;
  const modules = MODULES.map((end) => beside.replace(/\.(ya?ml|json)$/, end));
  return modules.find((one) => existsSync(one)) ?? beside;
}

/** A file found by searching may belong to something else. */
function isOfPolicy(file: string): boolean {
  const beside = besideOf(file);
  if (beside !== undefined && existsSync(beside)) return true;
  const read = readCases(readTextFile(file));
  return read.ok && read.cases.policy !== undefined;
}

function caseFiles(given: readonly string[], here: string): readonly CaseFile[] {
  if (given.length > 0)
    return [...new Map(given.map(casesFor).map((one) => [caseFileKey(one), one])).values()];
  const found = below(here, DEEPEST).filter(isOfPolicy);
  if (found.length > 0) return found.map((file) => ({ file: relative(here, file) }));
  throw new CommandError(
    "usage",
    "There are no cases here: files that end in .test.yaml beside a policy.",
    "Name a file: holdpoint policy test <file>",
  );
}

const caseFileKey = ({ file, of }: CaseFile): string => `${file} ${of === undefined ? besideOf(file) : of}`;

/** The policy that the cases name comes first: they were written for it. */
function policyOf(file: string, named: string | undefined, of?: string): string {
  const beside = of ?? besideOf(file);
  const policy = named === undefined ? beside : relative("", resolve(dirname(file), named));
  if (policy !== undefined && existsSync(policy)) return policy;
  throw new CommandError(
    "usage",
    `There is no policy ${policy ?? "beside"} for the cases in ${file}.`,
    "Name it at the head of the cases: policy: <file>",
  );
}

type Ran = CaseResult & { readonly file: string; readonly line: number };

async function runFile(
  context: Context,
  { file, of }: CaseFile,
  tools: readonly KnownTool[] | null,
): Promise<readonly Ran[]> {
  const read = readCases(readTextFile(file));
  if (!read.ok) {
    const next = "Correct the file: cases: [{ name, given, when: { tool, args }, then: { verdict } }]";
    const what = `The cases in ${file} cannot be read`;
    throw unusableFile(context, read.findings, { file, what, next });
  }
  const { policy } = await loadPolicy(context, policyOf(file, read.cases.policy, of));
  return read.cases.cases.map((one, index) => ({
    ...runCase(policy, one, tools),
    file,
    line: read.lines[index] ?? 1,
  }));
}

const isOk = ({ differences }: Ran): boolean => differences.length === 0;

function printCase({ terminal }: Context, ran: Ran): void {
  const mark = isOk(ran) ? terminal.paint("green", "ok    ") : terminal.paint("red", "failed");
  terminal.line(`${mark}  ${visible(`${ran.file}:${ran.line}`)}  ${terminal.strange(visible(ran.name))}`);
  for (const line of ran.differences) terminal.line(`          ${terminal.strange(visible(line))}`);
}

export async function runTest(context: Context): Promise<number> {
  const { terminal, hp, words } = context;
  const given = flag(context, "tools");
  const tools = given === undefined ? null : await toolsFrom(hp, given);
  const all: Ran[] = [];
  for (const one of caseFiles(words, process.cwd())) all.push(...(await runFile(context, one, tools)));
  const failed = all.filter((ran) => !isOk(ran)).length;
  if (context.json) for (const ran of all) terminal.json({ ok: isOk(ran), ...ran });
  else {
    for (const ran of all) printCase(context, ran);
    const style = failed === 0 ? "green" : "red";
    terminal.line(terminal.paint(style, `${pluralize(all.length, "case")}, ${failed} failed`));
  }
  return failed === 0 ? EXIT.ok : EXIT.refused;
}
