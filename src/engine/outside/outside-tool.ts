/**
 * Tools that agents perform themselves: declared in code, named in the policy document, or declared nowhere.
 *
 * O1. What nobody has declared promises nothing: class `once`, any JSON as arguments, and people are asked unless a policy
 *     document says otherwise.
 */

import type { UndoSeen } from "../../approvals/state.ts";
import type { InstanceKey } from "../../effects/call-context.ts";
import { defineTool, type Policy, type ToolDefinition } from "../../effects/define-tool.ts";
import { applyPolicyDocument, type Gates, registerTool } from "../../effects/gate.ts";
import type { LiveAction } from "../../effects/state.ts";
import type { Tool } from "../../effects/tool.ts";
import { checkFields, isPlainObject, rejectInput } from "../../kernel/fields.ts";
import { isJsonObject } from "../../kernel/json.ts";
import { displayValue } from "../../kernel/text.ts";
import { applyPolicy, type OwnPolicy } from "../../policy/apply-to-tool.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { CallUndo } from "../../workflows/events.ts";

/** How long an agent has to say what became of an effect, unless the tool says. */
export const REPORT_MS = 3_600_000;

type Declarable = "read" | "idempotent" | "keyed" | "probed" | "once";

/** A tool without a function: an agent asks, is permitted, performs it where it runs, and reports. */
export type DeclaredTool<Args> = Pick<
  ToolDefinition<Args, unknown>,
  | "name"
  | "description"
  | "input"
  | "version"
  | "policy"
  | "policyVersion"
  | "cost"
  | "dedupe"
  | "dedupeWindowMs"
  | "preview"
  | "keyRetentionMs"
  | "finalityMs"
  | "verify"
> & {
  readonly effect?: Declarable;
  /** How long the agent has to report; an hour unless set. */
  readonly timeoutMs?: number;
  /** The agent can take it back when its workflow is sent back. `"nothing"`: there is nothing to take back. */
  readonly undo?: true | "nothing" | DeclaredUndo;
};

export type DeclaredUndo = {
  /** Who decides about taking it back; `approve` unless set. */
  readonly policy?: Policy<never>;
  readonly timeoutMs?: number;
};

const FIELDS = [
  "name",
  "description",
  "input",
  "version",
  "effect",
  "policy",
  "policyVersion",
  "timeoutMs",
  "cost",
  "dedupe",
  "dedupeWindowMs",
  "preview",
  "keyRetentionMs",
  "finalityMs",
  "verify",
  "undo",
];
const UNDO_FIELDS = ["policy", "timeoutMs"];

const DECLARABLE: readonly unknown[] = ["read", "idempotent", "keyed", "probed", "once"];

function check(given: DeclaredTool<never>): void {
  if (!isPlainObject(given)) rejectInput("A tool is declared with an object: { name, … }.");
  if ("run" in given || "runInTransaction" in given)
    rejectInput(
      `The tool "${displayValue(given.name)}" has a function: declare it with hp.gate(), and it runs here.`,
    );
  checkFields(`The declared tool "${displayValue(given.name)}"`, given, FIELDS);
  const { effect = "once", undo } = given;
  if (!DECLARABLE.includes(effect))
    rejectInput(
      `The declared tool "${displayValue(given.name)}" is ${DECLARABLE.join(", ")}, not "${displayValue(effect)}".`,
    );
  if (undo === undefined || undo === true || undo === "nothing") return;
  const whose = `The undo of "${displayValue(given.name)}"`;
  if (!isPlainObject(undo)) rejectInput(`${whose} is true, "nothing" or { policy, timeoutMs }.`);
  checkFields(whose, undo, UNDO_FIELDS);
}

const nobody = (): never => {
  throw new TypeError("a tool that agents perform was run here");
};

const outsideOf = ({ timeoutMs }: Pick<Tool, "timeoutMs">) => ({ reportWithinMs: timeoutMs ?? REPORT_MS });

function outward(tool: Tool): Tool {
  const { undo } = tool;
  const taken = undo === null || undo === "nothing" ? undo : { ...undo, outside: outsideOf(undo) };
  return { ...tool, outside: outsideOf(tool), undo: taken };
}

function undoRule(undo: NonNullable<DeclaredTool<never>["undo"]>) {
  return undo === "nothing" ? undo : { ...(undo === true ? {} : undo), effect: "once" as const, run: nobody };
}

/** What the definition comes to, without the instance's policy document. */
export function defineOutside<Args>(given: DeclaredTool<Args>, instance: InstanceKey | null = null): Tool {
  check(given as unknown as DeclaredTool<never>);
  const { undo, ...definition } = given;
  const rule = undo === undefined ? {} : { undo: undoRule(undo) };
  return outward(
    defineTool({ ...definition, ...rule, run: nobody } as ToolDefinition<Args, unknown>, instance),
  );
}

export function declareTool<Args>(gates: Gates, given: DeclaredTool<Args>): void {
  registerTool(
    gates,
    applyPolicyDocument(
      gates,
      defineOutside(given, gates.tools),
      given.policy === undefined ? "nothing" : "policy",
    ),
  );
}

/** As the policy document has it, where it names the tool. */
function classIn(runtime: Runtime, name: string): Declarable {
  const tools = runtime.policy?.().document["tools"];
  const named = isJsonObject(tools) && Object.hasOwn(tools, name) ? tools[name] : undefined;
  const said = isJsonObject(named) ? named["effect"] : undefined;
  if (said === "transactional")
    rejectInput(
      `"${name}" is transactional: its effect is in the program's own database, and no agent performs it.`,
    );
  // Without its function nobody can be asked whether it was applied.
  return said !== "probed" && DECLARABLE.includes(said) ? (said as Declarable) : "once";
}

function governed(runtime: Runtime, tool: Tool, beside: OwnPolicy): Tool {
  const { policy } = runtime;
  return policy === undefined ? tool : applyPolicy(tool, beside, policy);
}

const MOST_KEPT = 1_000;
const kept = new WeakMap<Runtime["tools"], Map<string, Tool>>();

function remembered(runtime: Runtime, key: string, make: () => Tool): Tool {
  const all = kept.get(runtime.tools) ?? new Map<string, Tool>();
  kept.set(runtime.tools, all);
  const known = all.get(key);
  if (known !== undefined) return known;
  if (all.size >= MOST_KEPT) all.clear();
  const made = make();
  all.set(key, made);
  return made;
}

/** Of an action that is there: a compensation is under the rules of an undo, in every process. */
export function toolOf(runtime: Runtime, { tool, within }: Pick<LiveAction, "tool" | "within">): Tool {
  if (within?.declared !== undefined) return takenBackBy(runtime, tool, within.declared);
  const isUndo = within !== undefined && within.undoes !== null;
  return isUndo ? undoNamed(runtime, tool.replace(/\.undo$/, "")) : toolNamed(runtime, tool);
}

/** What takes another tool back is let through because of what it takes back: nobody proposes it by itself. */
export function isUndoOfAnother({ tools }: Runtime, name: string): boolean {
  const known = tools.get(name);
  return known !== undefined && [...tools.values()].some(({ undo }) => undo === known);
}

/** The tool of that name, of this program or of the agents'. */
export function toolNamed(runtime: Runtime, name: string): Tool {
  const known = runtime.tools.get(name);
  if (known !== undefined) return known;
  const effect = classIn(runtime, name);
  return remembered(runtime, `${effect} ${name}`, () =>
    governed(runtime, defineOutside({ name, effect }), "nothing"),
  );
}

/** What takes a call of that tool back, performed by the agent too. */
export function undoNamed(runtime: Runtime, name: string): Tool {
  const undo = runtime.tools.get(name)?.undo ?? null;
  if (undo !== null && undo !== "nothing") return undo;
  const bare = () =>
    defineOutside({ name: `${name.slice(0, 123)}.undo`, policy: "approve", undo: "nothing" });
  return remembered(runtime, `undo ${name}`, () => governed(runtime, bare(), "undo"));
}

/**
 * What an agent named to take a call back: reviewed as a proposal of that tool would be. Only where there is neither a policy
 * document nor a declared tool, and people agreed to it as it stands, nobody is asked again.
 */
export function takenBackBy(runtime: Runtime, name: string, seen: UndoSeen): Tool {
  const isGoverned = runtime.policy !== undefined || runtime.tools.has(name);
  if (seen === "unseen" || isGoverned) return toolNamed(runtime, name);
  return remembered(runtime, `seen ${name}`, () =>
    defineOutside({ name, policy: "approve", undo: "nothing" }),
  );
}

/** As a workflow that is driven from outside keeps it, for a rollback that no definition could tell. */
export function undoKind(tool: Tool): CallUndo {
  if (tool.undo === null) return "none";
  if (tool.undo === "nothing") return "nothing";
  return tool.outside === undefined ? "here" : "agent";
}
