/**
 * Limits on the calls that a workflow's attempt has started, and the list of allowed tools.
 * - A started call counts regardless of its outcome. A refused or waiting call does not count.
 * - Two calls are the same if their arguments are equal except for white space in texts: a run of it equals one space,
 *   and leading and trailing space is ignored. Comparing stops at the first difference.
 * - The search for the same call costs steps of the verdict. A call that cannot be compared within them is blocked.
 */

import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { errorText } from "../../kernel/text.ts";
import { type Meter, spend, spendCharacters, spendKeys } from "../expression/values.ts";
import type { PolicyDocument } from "./document.ts";
import { FINAL, matchesGlob } from "./tools.ts";
import type { PastCall, PolicyInput, Verdict } from "./verdict.ts";

const SPACE = /\s/;
const RUN = /\s+/g;
/** Each run of white space is found and replaced. */
const STEPS_PER_CHARACTER = 2;

const collapseSpace = (text: string): string => text.trim().replace(RUN, " ");

function firstDifference(one: string, other: string): number {
  const end = Math.min(one.length, other.length);
  let at = 0;
  while (at < end && one.charCodeAt(at) === other.charCodeAt(at)) at += 1;
  return at;
}

/** If neither first differing character is white space, the texts also differ after collapsing white space. */
function areTextsAlike(one: string, other: string, meter: Meter): boolean {
  const at = firstDifference(one, other);
  spendCharacters(meter, at);
  if (at === one.length && at === other.length) return true;
  const isWritten = (text: string) => at < text.length && !SPACE.test(text.charAt(at));
  if (isWritten(one) && isWritten(other)) return false;
  spend(meter, STEPS_PER_CHARACTER * (one.length + other.length));
  return collapseSpace(one) === collapseSpace(other);
}

function areObjectsAlike(one: JsonObject, other: JsonObject, meter: Meter): boolean {
  const names = Object.keys(one);
  const others = Object.keys(other).length;
  spendKeys(meter, names.length + others);
  if (names.length !== others) return false;
  return names.every(
    (name) =>
      Object.hasOwn(other, name) && isSameIgnoringSpace(one[name] ?? null, other[name] ?? null, meter),
  );
}

export function isSameIgnoringSpace(one: Json, other: Json, meter: Meter): boolean {
  spend(meter, 1);
  if (typeof one === "string" && typeof other === "string") return areTextsAlike(one, other, meter);
  if (Array.isArray(one) && Array.isArray(other))
    return (
      one.length === other.length &&
      one.every((part, at) => isSameIgnoringSpace(part, other[at] ?? null, meter))
    );
  if (isJsonObject(one) && isJsonObject(other)) return areObjectsAlike(one, other, meter);
  return one === other;
}

export const USUAL_CALLS = 2;
export const USUAL_REPEATS = 1;
export const USUAL_REPEATS_OF_A_READ = 2;

export type ToolLimits = {
  readonly allowed: boolean;
  /** null if the document has no limits. */
  readonly counts: {
    readonly toolCalls: number;
    readonly calls: number;
    readonly repeats: number | null;
  } | null;
};

export const UNLIMITED: ToolLimits = { allowed: true, counts: null };

/** The exact name takes precedence over patterns. Of several patterns, the first written one applies. */
function termsFor(tools: NonNullable<PolicyDocument["tools"]>, tool: string) {
  if (Object.hasOwn(tools, tool)) return tools[tool] ?? {};
  const pattern = Object.keys(tools).find((one) => matchesGlob(one, tool));
  return pattern === undefined ? undefined : (tools[pattern] ?? {});
}

export function limitsFor({ limits, tools }: PolicyDocument, tool: string): ToolLimits {
  if (tool === FINAL || (limits === undefined && tools === undefined)) return UNLIMITED;
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

export function blockIfNotAllowed(input: PolicyInput): Blocked {
  return block("tools:not_allowed", `${input.tool} is not among the tools that this policy allows`);
}

/** Limits that do not depend on the arguments. */
export function blockIfOverCount(
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
    const seen = same.filter(({ args }) => isSameIgnoringSpace(args, input.args, meter)).length;
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
