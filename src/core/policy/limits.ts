/**
 * Limits over the calls that a workflow's attempt has started, and the list of allowed tools.
 *
 * L1. What started counts, whatever came of it; what was refused or waits does not.
 * L2. Two calls are the same if their arguments are, white space aside.
 * L3. To look for the same call takes steps of the verdict, as everything does that takes longer over more. What cannot be
 *     found out within them is blocked.
 */
import { errorText } from "../../kernel/text.ts";
import type { PastCall, PolicyInput, Verdict } from "../verdict.ts";
import { isAlike } from "./alike.ts";
import type { PolicyDocument } from "./document.ts";
import type { Meter } from "./expression/meter.ts";
import { FINAL, matchesGlob } from "./tool-pattern.ts";

export const USUAL_CALLS = 2;
export const USUAL_REPEATS = 1;
export const USUAL_REPEATS_OF_A_READ = 2;

export type ToolLimits = {
  readonly allowed: boolean;
  /** null where the document has no limits at all. */
  readonly counts: {
    readonly toolCalls: number;
    readonly calls: number;
    readonly repeats: number | null;
  } | null;
};

const FREE: ToolLimits = { allowed: true, counts: null };

/** Its own name comes before a pattern, and patterns count in the order in which they are written. */
function termsFor(tools: NonNullable<PolicyDocument["tools"]>, tool: string) {
  if (Object.hasOwn(tools, tool)) return tools[tool] ?? {};
  const pattern = Object.keys(tools).find((one) => matchesGlob(one, tool));
  return pattern === undefined ? undefined : (tools[pattern] ?? {});
}

export function limitsFor({ limits, tools }: PolicyDocument, tool: string): ToolLimits {
  if (tool === FINAL || (limits === undefined && tools === undefined)) return FREE;
  const terms = tools === undefined ? {} : termsFor(tools, tool);
  const { calls = USUAL_CALLS, repeats = null } = terms ?? {};
  const toolCalls = limits?.tool_calls ?? Number.POSITIVE_INFINITY;
  return { allowed: terms !== undefined, counts: { toolCalls, calls, repeats } };
}

const STARTED: ReadonlySet<PastCall["status"]> = new Set(["running", "applied", "in_doubt", "not_applied"]);

export function startedCalls(input: PolicyInput, past: readonly PastCall[]): readonly PastCall[] {
  const { workflow } = input;
  return past.filter((call) => call.generation === workflow?.generation && STARTED.has(call.status));
}

type Blocked = Extract<Verdict, { readonly verdict: "block" }>;

const block = (rule: string, reason: string): Blocked => ({ verdict: "block", rule, reason });
const times = (count: number): string => (count === 1 ? "once" : `${count} times`);

export function notAllowed(input: PolicyInput): Blocked {
  return block("tools:not_allowed", `${input.tool} is not among the tools that this policy allows`);
}

/** What does not depend on the arguments. */
export function overCount(
  input: PolicyInput,
  { toolCalls, calls }: NonNullable<ToolLimits["counts"]>,
  started: readonly PastCall[],
): Blocked | undefined {
  if (started.length >= toolCalls)
    return block("limit:tool_calls", `${started.length} tool calls were made, and ${toolCalls} are allowed`);
  const same = started.filter(({ tool }) => tool === input.tool).length;
  if (same < calls) return undefined;
  return block("limit:calls", `${input.tool} was called ${times(same)}, and ${calls} is the limit`);
}

export function isRepeat(
  input: PolicyInput,
  { repeats }: NonNullable<ToolLimits["counts"]>,
  started: readonly PastCall[],
  meter: Meter,
): Blocked | undefined {
  const usual = input.effectClass === "read" ? USUAL_REPEATS_OF_A_READ : USUAL_REPEATS;
  const allowed = repeats ?? usual;
  const same = started.filter(({ tool }) => tool === input.tool);
  if (same.length < allowed) return undefined;
  try {
    const seen = same.filter(({ args }) => isAlike(args, input.args, meter)).length;
    if (seen < allowed) return undefined;
    const said = `was called ${times(seen)} with the same arguments, and ${allowed} is the limit`;
    return block("limit:repeats", `${input.tool} ${said}`);
  } catch (error) {
    return block(
      "limit:repeats",
      `whether ${input.tool} repeats a call cannot be found out: ${errorText(error)}`,
    );
  }
}
