/** The tools of a supervised run, and the one that its final answer goes through. */
import { z } from "zod";
import { HoldpointError } from "../../core/errors.ts";
import type { Listed } from "../../core/supervise/prompt.ts";
import type { Catalogue } from "../../core/supervise/proposal.ts";
import { FINAL_TOOL } from "../../core/supervise/turn.ts";
import { wrong } from "../check-call.ts";
import type { ToolDefinition } from "../define-tool.ts";
import { type GatedTool, type Gates, gate } from "../gate.ts";
import type { Tool } from "../tool.ts";
import type { SupervisedTool } from "./options.ts";

export type AnyGated = GatedTool<unknown, unknown>;

export type Tools = {
  readonly gated: ReadonlyMap<string, AnyGated>;
  readonly final: AnyGated;
  readonly catalogue: Catalogue;
  readonly listed: readonly Listed[];
};

/** What supervised runs have registered themselves: given again, it is replaced. */
const own = new WeakMap<Gates, Map<string, Tool>>();

const isGated = (tool: SupervisedTool): tool is GatedTool<never, unknown> => typeof tool === "function";

function register(gates: Gates, definition: ToolDefinition<unknown, unknown>): AnyGated {
  const ours = own.get(gates) ?? new Map<string, Tool>();
  own.set(gates, ours);
  const before = ours.get(definition.name);
  if (before !== undefined && gates.tools.get(definition.name) === before) {
    gates.tools.delete(definition.name);
    if (before.undo !== null && before.undo !== "nothing") gates.tools.delete(before.undo.rules.name);
  }
  const gated = gate(gates, definition);
  const tool = gates.tools.get(definition.name);
  if (tool !== undefined) ours.set(definition.name, tool);
  return gated;
}

function gatedOf(gates: Gates, tool: SupervisedTool): AnyGated {
  if (!isGated(tool)) return register(gates, tool as unknown as ToolDefinition<unknown, unknown>);
  if (!gates.tools.has(tool.toolName))
    throw new HoldpointError(
      "unknown_tool",
      `hp.supervise takes tools made by hp.gate, not ${String(tool.toolName)}.`,
    );
  return tool as unknown as AnyGated;
}

const FINAL: ToolDefinition<{ answer: string }, { answer: string }> = {
  name: FINAL_TOOL,
  description: "The final answer of a run.",
  effect: "read",
  policy: "approve",
  input: z.object({ answer: z.string().min(1) }),
  run: ({ answer }) => ({ answer }),
};

function finalOf(gates: Gates): AnyGated {
  const known = own.get(gates)?.get(FINAL_TOOL);
  if (known === undefined) {
    const gated = register(gates, FINAL as unknown as ToolDefinition<unknown, unknown>);
    const tool = gates.tools.get(FINAL_TOOL);
    if (tool !== undefined) gates.tools.set(FINAL_TOOL, { ...tool, isOwn: true });
    return gated;
  }
  return Object.assign(() => Promise.reject(new TypeError("only a run answers")), { toolName: FINAL_TOOL });
}

export function toolsOf(gates: Gates, given: readonly SupervisedTool[]): Tools {
  const gated = new Map<string, AnyGated>();
  for (const tool of given) {
    const name = isGated(tool) ? tool.toolName : tool?.name;
    if (name === FINAL_TOOL)
      wrong(`"${FINAL_TOOL}" is what answers go through: give your tool another name.`);
    if (gated.has(name)) wrong(`The tool "${name}" is given twice.`);
    gated.set(name, gatedOf(gates, tool));
  }
  const final = finalOf(gates);
  const known = [...gated.keys()].map((name) => gates.tools.get(name)).filter((tool) => tool !== undefined);
  return {
    gated,
    final,
    catalogue: new Map(known.map(({ rules }) => [rules.name, rules])),
    listed: known.map(({ rules, description }) => ({
      name: rules.name,
      description,
      schemaText: rules.schemaText,
    })),
  };
}
