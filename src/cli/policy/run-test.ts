import { visible } from "../../kernel/text.ts";
import { readCases } from "../../policy/read.ts";
import { type CaseResult, runCase } from "../../policy/rules/cases.ts";
import type { KnownTool } from "../../policy/rules/tools.ts";
import { type Context, EXIT, flag } from "../command.ts";
import { counted } from "../counted.ts";
import { type CaseFile, caseFiles, policyOf } from "./case-files.ts";
import { toolsFrom } from "./known-tools.ts";
import { loadPolicy, unusable } from "./load.ts";
import { textOf } from "./text-of.ts";

type Ran = CaseResult & { readonly file: string; readonly line: number };

async function runFile(
  context: Context,
  { file, of }: CaseFile,
  tools: readonly KnownTool[] | null,
): Promise<readonly Ran[]> {
  const read = readCases(textOf(file));
  if (!read.ok) {
    const next = "Correct the file: cases: [{ name, given, when: { tool, args }, then: { verdict } }]";
    const what = `The cases in ${file} cannot be read`;
    throw unusable(context, read.findings, { file, what, next });
  }
  const { policy } = await loadPolicy(context, policyOf(file, read.cases.policy, of));
  return read.cases.cases.map((one, index) => ({
    ...runCase(policy, one, tools),
    file,
    line: read.lines[index] ?? 1,
  }));
}

const isOk = ({ differences }: Ran): boolean => differences.length === 0;

function print({ terminal }: Context, ran: Ran): void {
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
    for (const ran of all) print(context, ran);
    const style = failed === 0 ? "green" : "red";
    terminal.line(terminal.paint(style, `${counted(all.length, "case")}, ${failed} failed`));
  }
  return failed === 0 ? EXIT.ok : EXIT.refused;
}
