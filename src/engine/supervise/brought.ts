/**
 * Tools that supervised runs bring along.
 *
 * U1. A run calls the very tools that it brought, whatever else has their name.
 * U2. What has to find a tool by its name (recovery, an edit, a rollback) finds one that is alike: while a run is not over,
 *     another definition of the name is refused.
 * U3. A run whose tools do not fit the instance's policy is not begun. When it is over no policy is checked against them and
 *     their names are free; until somebody takes one, what the run left behind in doubt finds its tool.
 */

import type { ToolDefinition } from "../../effects/define-tool.ts";
import { checkToolNameFree, type Gates, getUndoTool, makeTool, registerTool } from "../../effects/gate.ts";
import type { Tool } from "../../effects/tool.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import { HoldpointError } from "../../kernel/errors.ts";

export type AnyDefinition = ToolDefinition<unknown, unknown>;

/** `shape`: of two that have the same, either does what the other would, but for what their functions have around them. */
type Brought = { readonly tool: Tool; readonly shape: string };
type Standing = Brought & { runs: number };

const standing = new WeakMap<Gates, Map<string, Standing>>();

const written = (_field: string, part: unknown): unknown =>
  typeof part === "function" || typeof part === "bigint" ? String(part) : part;

function shapeOf(definition: AnyDefinition, { rules }: Tool): string {
  const { schemaDigest, policyDigest, effectClass } = rules;
  // These two have digests of their own.
  const { input: _input, policy: _policy, ...rest } = definition;
  const parts = Object.entries(rest).map(([field, part]) => [field, JSON.stringify(part, written) ?? ""]);
  return digestOf([schemaDigest, policyDigest, effectClass, parts.toSorted()]);
}

function conflict(name: string): never {
  throw new HoldpointError(
    "tool_conflict",
    `A supervised run that is not over has brought another tool "${name}".`,
    {
      data: "Nothing was started.",
      next: "Give the tool a name of its own, or wait until that run is over.",
    },
  );
}

function check(gates: Gates, before: Standing | undefined, { tool, shape }: Brought): void {
  checkToolNameFree(gates, tool, before?.tool);
  if (before !== undefined && before.runs > 0 && before.shape !== shape) conflict(tool.rules.name);
}

const withUndo = (tool: Tool): readonly Tool[] => [tool, getUndoTool(tool) ?? []].flat();

/** One that is alike and in use stays where it is; what is left over makes room. */
function take(gates: Gates, all: Map<string, Standing>, one: Brought): Standing {
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

const leftOver = (tool: Tool): Tool => ({ ...tool, isLeftOver: true });

/** With the last run that has it. An effect in doubt may still ask for it. */
function leave(gates: Gates, all: Map<string, Standing>, one: Standing): void {
  if (--one.runs > 0) return;
  const { tool } = one;
  const undo = getUndoTool(tool);
  all.delete(tool.rules.name);
  registerTool(gates, leftOver(undo === undefined ? tool : { ...tool, undo: leftOver(undo) }), tool);
}

export type Loan = { readonly tools: readonly Tool[]; readonly giveBack: () => void };

/** All of them or none; `giveBack` when the run is over, or has never begun. */
export function bring(gates: Gates, definitions: readonly AnyDefinition[]): Loan {
  const all = standing.get(gates) ?? new Map<string, Standing>();
  standing.set(gates, all);
  const made = definitions.map((definition): Brought => {
    const tool = makeTool(gates, definition);
    return { tool, shape: shapeOf(definition, tool) };
  });
  for (const one of made) check(gates, all.get(one.tool.rules.name), one);
  const tools = made.map(({ tool }) => tool);
  gates.policy?.admit(tools.flatMap(withUndo));
  const taken: Standing[] = [];
  const giveBack = () => {
    for (const one of taken.splice(0)) leave(gates, all, one);
  };
  try {
    for (const one of made) taken.push(take(gates, all, one));
  } catch (error) {
    giveBack();
    throw error;
  }
  return { tools, giveBack };
}
