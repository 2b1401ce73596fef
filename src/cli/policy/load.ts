/** A policy's file for commands that need one that works; what is wrong with it is said line by line. */
import type { CompiledPolicy } from "../../core/policy/compile.ts";
import { visible } from "../../core/visible.ts";
import { findingText, type PolicyFinding, readPolicyFile } from "../../engine/policy/read-policy.ts";
import type { Context } from "../command.ts";
import { CommandError } from "../failure.ts";

export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

export const findingLine = (file: string, finding: PolicyFinding): string =>
  visible(findingText(file, finding));

/** Expressions are not checked against schemas here: `policy check` does that. */
export function loadPolicy(
  { terminal, json }: Pick<Context, "terminal" | "json">,
  file: string,
): CompiledPolicy {
  const read = readPolicyFile(file, null);
  if (read.ok) return read.policy;
  const faults = read.findings.filter(({ severity }) => severity === "fault");
  if (!json) for (const fault of faults) terminal.note(findingLine(file, fault));
  throw new CommandError(
    "file_error",
    `The policy ${file} cannot be used: ${faults.map(({ line, message }) => `line ${line}, ${message}`).join("; ")}.`,
    `Try: holdpoint policy check ${file}`,
  );
}
