/** The policy of a supervised run, where it is a document: a file that is followed, or the same as an object. */

import type { Policy } from "../../effects/define-tool.ts";
import { type Gates, getUndoTool } from "../../effects/gate.ts";
import type { Tool } from "../../effects/tool.ts";
import { livePolicy } from "../../policy/live-policy.ts";
import type { PolicySource } from "../../policy/read.ts";
import type { CompiledPolicy } from "../../policy/rules/compile.ts";
import type { Runtime } from "../../runtime/runtime.ts";

type Given = Policy<never> | PolicySource | undefined;

/** A path ends like one; a verdict says that it is one. */
export function isDocument(policy: Given): policy is PolicySource {
  if (typeof policy === "string") return /\.(?:ya?ml|json)$/i.test(policy);
  return typeof policy === "object" && policy !== null && !("verdict" in policy);
}

export type OpenDocument = {
  readonly document: () => CompiledPolicy;
  /** When the run is over it goes by it no longer. */
  readonly giveBack: () => Promise<void>;
};

/** Each run has its own: it is checked against the tools that this run calls, and against no other's. */
export async function openDocument(
  { tools: all }: Gates,
  runtime: Runtime,
  source: PolicySource,
  own: Iterable<Tool>,
): Promise<OpenDocument> {
  const called = [...own].flatMap((tool) => [tool, getUndoTool(tool) ?? []].flat());
  const tools = new Map(called.map((tool) => [tool.rules.name, tool]));
  const live = livePolicy(source, { tools, elsewhere: all });
  const giveBack = () => live.close(runtime);
  try {
    // Answers once its version is in the journal.
    await live.open(runtime);
  } catch (error) {
    await giveBack();
    throw error;
  }
  return { document: () => live.current(), giveBack };
}

export type DocumentLimits = CompiledPolicy["limits"];

/** The tightest of what the documents say that hold for a run. */
export function tightest(all: readonly DocumentLimits[]): DocumentLimits {
  const limits: { -readonly [Field in keyof DocumentLimits]: DocumentLimits[Field] } = {};
  for (const field of ["steps", "toolCalls", "seconds"] as const) {
    const said = all.flatMap((one) => one[field] ?? []);
    if (said.length > 0) limits[field] = Math.min(...said);
  }
  return limits;
}
