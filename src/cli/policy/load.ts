/** A policy's file for commands that need one that works; what is wrong with it is said line by line. */

import { visible } from "../../kernel/text.ts";
import { findingText, type PolicyFinding, type PolicyReading, readPolicyFile } from "../../policy/read.ts";
import type { CompiledPolicy } from "../../policy/rules/compile.ts";
import type { PolicyText } from "../../policy/rules/document.ts";
import type { Context } from "../command.ts";
import { counted } from "../counted.ts";
import { CommandError } from "../failure.ts";
import { hanging } from "../measure.ts";
import { documentIn, isModule, readDocument } from "./module-policy.ts";
import { textOf } from "./text-of.ts";

export const findingLine = (file: string, finding: PolicyFinding): string =>
  visible(findingText(file, finding));

type Told = { readonly file: string; readonly what: string; readonly next: string };

/** Of a file with faults: each by its line, once; all in the one error where a program reads it. */
export function unusable(
  { terminal, json }: Pick<Context, "terminal" | "json">,
  faults: readonly PolicyFinding[],
  { file, what, next }: Told,
): CommandError {
  if (!json)
    for (const fault of faults) terminal.note(hanging(findingLine(file, fault), terminal).join("\n"));
  const all = faults.map(({ line, message }) => `line ${line}, ${message}`).join("; ");
  return new CommandError("file_error", `${what}: ${json ? all : counted(faults.length, "fault")}.`, next);
}

/** What a file says, ready to be asked, and as it was given: functions of a module are only there. */
export type LoadedPolicy = { readonly policy: CompiledPolicy; readonly document: PolicyText };

async function readingOf(file: string): Promise<{ read: PolicyReading; document?: PolicyText }> {
  if (isModule(file)) {
    const document = await documentIn(file);
    return { read: readDocument(document, null), document };
  }
  textOf(file);
  return { read: readPolicyFile(file, null) };
}

/** Expressions are not checked against schemas here: `policy check` does that. */
export async function loadPolicy(
  context: Pick<Context, "terminal" | "json">,
  file: string,
): Promise<LoadedPolicy> {
  const { read, document } = await readingOf(file);
  if (read.ok) {
    const { policy } = read;
    return { policy, document: document ?? (policy.document as unknown as PolicyText) };
  }
  const faults = read.findings.filter(({ severity }) => severity === "fault");
  const what = `The policy ${file} cannot be used`;
  throw unusable(context, faults, { file, what, next: `Try: holdpoint policy check ${file}` });
}
