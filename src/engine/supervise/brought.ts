/**
 * Tools that supervised runs bring along.
 *
 * U1. A run calls the very tools that it brought, whatever else has their name.
 * U2. What has to find a tool by its name (recovery, an edit, a rollback) finds one that is alike: while a run is not over,
 *     another definition of the name is refused.
 */
import { digestOf } from "../../core/digest.ts";
import { HoldpointError } from "../../core/errors.ts";
import type { ToolDefinition } from "../define-tool.ts";
import { type Gates, makeTool, register } from "../gate.ts";
import type { Tool } from "../tool.ts";

export type AnyDefinition = ToolDefinition<unknown, unknown>;

/** `shape`: of two that have the same, either does what the other would, but for what their functions have around them. */
type Brought = { readonly tool: Tool; readonly shape: string };
type Standing = Brought & { runs: number };

const standing = new WeakMap<Gates, Map<string, Standing>>();

const source = (part: unknown): string => (typeof part === "function" ? part.toString() : "");

function shapeOf(definition: AnyDefinition, { rules }: Tool): string {
  const { schemaDigest, policyDigest, effectClass } = rules;
  const functions = Object.entries(definition)
    .filter(([, part]) => typeof part === "function")
    .map(([field, part]) => [field, source(part)])
    .toSorted();
  return digestOf([schemaDigest, policyDigest, effectClass, functions]);
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

function check({ tools }: Gates, before: Standing | undefined, { tool, shape }: Brought): void {
  const { name } = tool.rules;
  if (tools.has(name) && tools.get(name) !== before?.tool)
    throw new HoldpointError("tool_conflict", `There is a tool "${name}" already.`);
  if (before !== undefined && before.runs > 0 && before.shape !== shape) conflict(name);
}

function forget({ tools }: Gates, { rules, undo }: Tool): void {
  tools.delete(rules.name);
  if (undo !== null && undo !== "nothing") tools.delete(undo.rules.name);
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
  const taken = made.map((one): Standing => {
    const { name } = one.tool.rules;
    const before = all.get(name);
    if (before !== undefined && before.runs > 0) {
      before.runs++;
      return before;
    }
    if (before !== undefined) forget(gates, before.tool);
    register(gates, one.tool);
    const now = { ...one, runs: 1 };
    all.set(name, now);
    return now;
  });
  let isOut = true;
  const giveBack = () => {
    if (isOut) for (const one of taken) one.runs--;
    isOut = false;
  };
  return { tools: made.map(({ tool }) => tool), giveBack };
}
