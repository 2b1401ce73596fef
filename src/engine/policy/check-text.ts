/** What is wrong with a policy's text, against the tools and the people that a store knows. */
import type { KnownTool } from "../../core/policy/known-tool.ts";
import { namedTools, withNamed } from "../../core/policy/named-tools.ts";
import { ROSTER } from "../../kernel/stream.ts";
import { nextTurn } from "../../runtime/concurrency.ts";
import { readState } from "../../runtime/store-access.ts";
import type { Store } from "../../stores/store.ts";

import { type PolicyReading, readPolicyFor } from "./read-policy.ts";

export type CheckedText = {
  readonly read: PolicyReading;
  /** Tools that it names and whose arguments were not checked: no schema of theirs is known. */
  readonly unchecked: readonly string[];
};

/** `recorded`: the tools that the journal knows. */
export async function checkText(
  place: { readonly store: Store; readonly tenant: string },
  text: string,
  recorded: readonly KnownTool[],
): Promise<CheckedText> {
  const roster = await readState(place, ROSTER);
  let unchecked: readonly string[] = [];
  const toolsFor = (value: unknown): readonly KnownTool[] => {
    const named = namedTools(value);
    const tools = withNamed(recorded, named);
    const spoken = new Set(named.map(({ name }) => name));
    const blind = tools.filter(({ name, schema }) => schema === null && spoken.has(name));
    unchecked = blind.map(({ name }) => name);
    return tools;
  };
  await nextTurn();
  const read = readPolicyFor(text, toolsFor, { roster });
  return { read, unchecked };
}
