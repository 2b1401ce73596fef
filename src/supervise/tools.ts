/**
 * The tools of a supervised run: those that it brings, and the one that delivers its final answer.
 * - A run calls exactly the tools that it brought, even if other tools have the same names.
 * - Recovery, edits and rollbacks look tools up by name: until the run ends, a different definition is refused.
 * - A run does not start if its tools do not fit the instance's policy. When it ends, its tool names become free. Until
 *   a new tool takes a name, effects that the run left in doubt still find their tool.
 */
import { z } from "zod";
import type { ToolDefinition } from "../effects/define-tool.ts";
import {
  checkToolNameFree,
  type GatedTool,
  type Gates,
  getUndoTool,
  makeTool,
  registerTool,
} from "../effects/gate.ts";
import type { Tool } from "../effects/tool.ts";
import { digestOf } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { rejectInput } from "../kernel/fields.ts";
import type { SupervisedTool } from "./options.ts";
import type { ToolCatalogue } from "./rules/proposal.ts";
import { FINAL_TOOL, type ListedTool } from "./rules/turn.ts";

type AnyDefinition = ToolDefinition<unknown, unknown>;

/** Tools with the same `shape` are interchangeable, except for the variables that their functions close over. */
type RunTool = { readonly tool: Tool; readonly shape: string };
type SharedRunTool = RunTool & { runs: number };

const toolsInUse = new WeakMap<Gates, Map<string, SharedRunTool>>();

const functionAsText = (_field: string, part: unknown): unknown =>
  typeof part === "function" || typeof part === "bigint" ? String(part) : part;

function toolShape(definition: AnyDefinition, { rules }: Tool): string {
  const { schemaDigest, policyDigest, effectClass } = rules;
  // Both have their own digests.
  const { input: _input, policy: _policy, ...rest } = definition;
  const parts = Object.entries(rest).map(([field, part]) => [
    field,
    JSON.stringify(part, functionAsText) ?? "",
  ]);
  return digestOf([schemaDigest, policyDigest, effectClass, parts.toSorted()]);
}

function toolConflict(name: string): never {
  throw new HoldpointError(
    "tool_conflict",
    `A supervised run that is not over has brought another tool "${name}".`,
    {
      data: "Nothing was started.",
      next: "Give the tool a name of its own, or wait until that run has ended.",
    },
  );
}

function checkToolFree(gates: Gates, before: SharedRunTool | undefined, { tool, shape }: RunTool): void {
  checkToolNameFree(gates, tool, before?.tool);
  if (before !== undefined && before.runs > 0 && before.shape !== shape) toolConflict(tool.rules.name);
}

const withUndo = (tool: Tool): readonly Tool[] => [tool, getUndoTool(tool) ?? []].flat();

/** Reuses an identical tool that is in use; replaces a left-over one. */
function takeTool(gates: Gates, all: Map<string, SharedRunTool>, one: RunTool): SharedRunTool {
  const { name } = one.tool.rules;
  const before = all.get(name);
  if (before !== undefined && before.runs > 0) {
    before.runs++;
    return before;
  }
  registerTool(gates, one.tool);
  const now = { ...one, runs: 1 };
  all.set(name, now);
  return now;
}

const markLeftOver = (tool: Tool): Tool => ({ ...tool, isLeftOver: true });

/** Frees the name with the last run that uses the tool. An effect in doubt can still look the tool up. */
function leaveTool(gates: Gates, all: Map<string, SharedRunTool>, one: SharedRunTool): void {
  if (--one.runs > 0) return;
  const { tool } = one;
  const undo = getUndoTool(tool);
  all.delete(tool.rules.name);
  registerTool(gates, markLeftOver(undo === undefined ? tool : { ...tool, undo: markLeftOver(undo) }), tool);
}

type BorrowedTools = { readonly tools: readonly Tool[]; readonly giveBack: () => void };

/** Takes all tools or none. Call `giveBack` when the run has ended or failed to start. */
function borrowTools(gates: Gates, definitions: readonly AnyDefinition[]): BorrowedTools {
  const all = toolsInUse.get(gates) ?? new Map<string, SharedRunTool>();
  toolsInUse.set(gates, all);
  const made = definitions.map((definition): RunTool => {
    const tool = makeTool(gates, definition);
    return { tool, shape: toolShape(definition, tool) };
  });
  for (const one of made) checkToolFree(gates, all.get(one.tool.rules.name), one);
  const tools = made.map(({ tool }) => tool);
  gates.policy?.admit(tools.flatMap(withUndo));
  const taken: SharedRunTool[] = [];
  const giveBack = () => {
    for (const one of taken.splice(0)) leaveTool(gates, all, one);
  };
  try {
    for (const one of made) taken.push(takeTool(gates, all, one));
  } catch (error) {
    giveBack();
    throw error;
  }
  return { tools, giveBack };
}

export type AnyGated = GatedTool<unknown, unknown>;

export type RunTools = {
  readonly gated: ReadonlyMap<string, AnyGated>;
  readonly final: AnyGated;
  readonly catalogue: ToolCatalogue;
  readonly listed: readonly ListedTool[];
  /** The exact tools that this run calls, by name, including the one for its final answer. */
  readonly own: ReadonlyMap<string, Tool>;
  /** Call when this process has finished the run. */
  readonly giveBack: () => void;
};

const isGated = (tool: SupervisedTool): tool is GatedTool<never, unknown> => typeof tool === "function";

function findGatedTool(gates: Gates, { toolName }: GatedTool<never, unknown>): Tool {
  const known = gates.tools.get(toolName);
  if (known !== undefined) return known;
  const what = `hp.supervise takes tools made by hp.gate, not ${String(toolName)}.`;
  throw new HoldpointError("unknown_tool", what);
}

const FINAL: ToolDefinition<{ answer: string }, { answer: string }> = {
  name: FINAL_TOOL,
  description: "The final answer of a run.",
  effect: "read",
  policy: "approve",
  input: z.object({ answer: z.string().min(1) }),
  run: ({ answer }) => ({ answer }),
};

const finals = new WeakMap<Gates, Tool>();

function finalOf(gates: Gates): Tool {
  const known = finals.get(gates);
  if (known !== undefined) return known;
  const made = { ...makeTool(gates, FINAL), isOwn: true } as const;
  registerTool(gates, made);
  finals.set(gates, made);
  return made;
}

/** The run's reference to a tool. Calling it directly is rejected. */
function toolHandle(toolName: string): AnyGated {
  const call = () => Promise.reject(new TypeError("only its run calls it"));
  return Object.assign(call, { run: call, toolName });
}

function checkNames(given: readonly SupervisedTool[]): void {
  const seen = new Set<string>();
  for (const tool of given) {
    const name = isGated(tool) ? tool.toolName : tool?.name;
    if (name === FINAL_TOOL)
      rejectInput(`"${FINAL_TOOL}" is what answers go through: give your tool another name.`);
    if (seen.has(name)) rejectInput(`The tool "${name}" is given twice.`);
    seen.add(name);
  }
}

export function openRunTools(gates: Gates, given: readonly SupervisedTool[]): RunTools {
  checkNames(given);
  const final = finalOf(gates);
  const known = given.filter(isGated).map((tool) => findGatedTool(gates, tool));
  const definitions = given.filter(
    (tool) => !isGated(tool),
  ) as readonly unknown[] as readonly AnyDefinition[];
  const { tools: brought, giveBack } = borrowTools(gates, definitions);
  const byName = new Map([...known, ...brought].map((tool) => [tool.rules.name, tool]));
  // The model sees the tools in the order in which they were given.
  const tools = given.flatMap((tool) => byName.get(isGated(tool) ? tool.toolName : tool.name) ?? []);
  return {
    gated: new Map(tools.map(({ rules }) => [rules.name, toolHandle(rules.name)])),
    final: toolHandle(FINAL_TOOL),
    catalogue: new Map(tools.map(({ rules }) => [rules.name, rules])),
    listed: tools.map(({ rules, description }) => ({
      name: rules.name,
      description,
      schemaText: rules.schemaText,
    })),
    own: new Map([...tools, final].map((tool) => [tool.rules.name, tool])),
    giveBack,
  };
}
