/** A policy's text that is to be tried: nothing is put in force, and what is wrong with it is said by line. */

import type { CompiledPolicy } from "../../core/policy/compile.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { nextTurn } from "../../runtime/concurrency.ts";
import { findingText, readPolicy } from "./read-policy.ts";

const MOST_NAMED = 5;

/** Expressions are not checked against schemas here: those that are recorded may be older. */
export async function policyOnTrial(text: string): Promise<CompiledPolicy> {
  await nextTurn();
  const reading = readPolicy(text, null);
  if (reading.ok) return reading.policy;
  const faults = reading.findings
    .filter(({ severity }) => severity === "fault")
    .map((one) => findingText("line", one).replace(/^line:/, "line "));
  const more = faults.length > MOST_NAMED ? `; and ${faults.length - MOST_NAMED} more` : "";
  throw new HoldpointError(
    "policy_invalid",
    `The policy cannot be used: ${faults.slice(0, MOST_NAMED).join("; ")}${more}.`,
    { data: "Nothing was tried, and nothing was written.", details: { faults } },
  );
}
