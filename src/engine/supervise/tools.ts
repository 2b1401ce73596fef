/** The tools of a supervised run, and the one that its final answer goes through. */
import { z } from "zod";
import type { Listed } from "../../core/supervise/prompt.ts";
import type { Catalogue } from "../../core/supervise/proposal.ts";
import { FINAL_TOOL } from "../../core/supervise/turn.ts";
import type { ToolDefinition } from "../../effects/define-tool.ts";
import { type GatedTool, type Gates, makeTool, registerTool } from "../../effects/gate.ts";
import type { Tool } from "../../effects/tool.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { rejectInput } from "../../kernel/fields.ts";

import { type AnyDefinition, bring } from "./brought.ts";
import type { SupervisedTool } from "./options.ts";

export type AnyGated = GatedTool<unknown, unknown>;

export type Tools = {
  readonly gated: ReadonlyMap<string, AnyGated>;
  readonly final: AnyGated;
  readonly catalogue: Catalogue;
  readonly listed: readonly Listed[];
  /** The very ones that this run calls, by name, its answer's among them. */
  readonly own: ReadonlyMap<string, Tool>;
  /** When the run is over here. */
  readonly giveBack: () => void;
};

const isGated = (tool: SupervisedTool): tool is GatedTool<never, unknown> => typeof tool === "function";

function knownOf(gates: Gates, { toolName }: GatedTool<never, unknown>): Tool {
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

/** What a run calls a tool by; nobody else can. */
const inRun = (toolName: string): AnyGated =>
  Object.assign(() => Promise.reject(new TypeError("only its run calls it")), { toolName });

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

export function toolsOf(gates: Gates, given: readonly SupervisedTool[]): Tools {
  checkNames(given);
  const final = finalOf(gates);
  const known = given.filter(isGated).map((tool) => knownOf(gates, tool));
  const definitions = given.filter(
    (tool) => !isGated(tool),
  ) as readonly unknown[] as readonly AnyDefinition[];
  const { tools: brought, giveBack } = bring(gates, definitions);
  const byName = new Map([...known, ...brought].map((tool) => [tool.rules.name, tool]));
  // In the order in which they were given: so the model is shown them.
  const tools = given.flatMap((tool) => byName.get(isGated(tool) ? tool.toolName : tool.name) ?? []);
  return {
    gated: new Map(tools.map(({ rules }) => [rules.name, inRun(rules.name)])),
    final: inRun(FINAL_TOOL),
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
