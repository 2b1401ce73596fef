/** A policy's file for commands that need one that works; what is wrong with it is said line by line. */
import type { CompiledPolicy } from "../../core/policy/compile.ts";
import { visible } from "../../core/visible.ts";
import { findingText, type PolicyFinding, readPolicyFile } from "../../engine/policy/read-policy.ts";
import type { Context } from "../command.ts";
import { counted } from "../counted.ts";
import { CommandError } from "../failure.ts";
import { hanging } from "../measure.ts";
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

/** Expressions are not checked against schemas here: `policy check` does that. */
export function loadPolicy(context: Pick<Context, "terminal" | "json">, file: string): CompiledPolicy {
  textOf(file);
  const read = readPolicyFile(file, null);
  if (read.ok) return read.policy;
  const faults = read.findings.filter(({ severity }) => severity === "fault");
  const what = `The policy ${file} cannot be used`;
  throw unusable(context, faults, { file, what, next: `Try: holdpoint policy check ${file}` });
}
