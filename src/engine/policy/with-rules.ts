/**
 * A tool's rules with some of them replaced.
 *
 * W1. What is read anew for each move of an action, such as the version of a policy file, is still read then: a copy would
 *     stay behind when the file changes while a workflow is in memory.
 */
import type { ToolRules } from "../../core/tool-rules.ts";

export function withRules(rules: ToolRules, others: Partial<ToolRules>): ToolRules {
  const parts = { ...Object.getOwnPropertyDescriptors(rules), ...Object.getOwnPropertyDescriptors(others) };
  return Object.defineProperties({}, parts) as ToolRules;
}
