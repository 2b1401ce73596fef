/**
 * Tools that remote agents perform themselves: declared in code, named in the policy document, or undeclared. An
 * undeclared tool promises nothing: class `once`, any JSON as arguments, and people are asked unless a policy document
 * says otherwise. Also the undo that an agent declares with its proposal, checked together with it.
 */

import type { UndoCall, UndoSeen } from "../approvals/state.ts";
import { plainJson } from "../effects/arguments.ts";
import type { InstanceKey } from "../effects/call-context.ts";
import { defineTool, type Policy, type ToolDefinition } from "../effects/define-tool.ts";
import { applyPolicyDocument, argsFor, type Gates, registerTool } from "../effects/gate.ts";
import { undoSeen } from "../effects/rules/propose.ts";
import type { LiveAction } from "../effects/state.ts";
import type { Tool } from "../effects/tool.ts";
import { checkFields, isPlainObject, rejectInput } from "../kernel/fields.ts";
import { isJsonObject, type Json } from "../kernel/json.ts";
import { displayValue } from "../kernel/text.ts";
import { applyPolicy, type OwnPolicy } from "../policy/apply-to-tool.ts";
import { FINAL } from "../policy/rules/tools.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { loadValue } from "../runtime/store-access.ts";
import type { TenantStore } from "../stores/store.ts";
import type { CallUndo } from "../workflows/events.ts";

/** Default time for an agent to report the outcome of an effect. */
const REPORT_MS = 3_600_000;

type Declarable = "read" | "idempotent" | "keyed" | "probed" | "once";

/** A tool without a function: an agent proposes it, gets a permit, performs it in its own process, and reports. */
export type RemoteTool<Args> = Pick<
  ToolDefinition<Args, unknown>,
  | "name"
  | "description"
  | "title"
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
  /** Time for the agent to report. Default: one hour. */
  readonly timeoutMs?: number;
  /** The agent can undo it in a rollback of its workflow. `"nothing"`: there is nothing to undo. */
  readonly undo?: true | "nothing" | DeclaredUndo;
};

type DeclaredUndo = {
  /** Who decides about the undo. Default: `approve`. */
  readonly policy?: Policy<never>;
  readonly timeoutMs?: number;
};

const FIELDS = [
  "name",
  "description",
  "title",
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

function check(given: RemoteTool<never>): void {
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

const neverRun = (): never => {
  throw new TypeError("a tool that agents perform was run here");
};

const remoteSettings = ({ timeoutMs }: Pick<Tool, "timeoutMs">) => ({
  reportWithinMs: timeoutMs ?? REPORT_MS,
});

function asRemoteTool(tool: Tool): Tool {
  const { undo } = tool;
  const taken = undo === null || undo === "nothing" ? undo : { ...undo, outside: remoteSettings(undo) };
  return { ...tool, outside: remoteSettings(tool), undo: taken };
}

function undoRule(undo: NonNullable<RemoteTool<never>["undo"]>) {
  return undo === "nothing"
    ? undo
    : { ...(undo === true ? {} : undo), effect: "once" as const, run: neverRun };
}

/** The tool without the instance's policy document. */
function defineRemoteTool<Args>(given: RemoteTool<Args>, instance: InstanceKey | null = null): Tool {
  check(given as unknown as RemoteTool<never>);
  const { undo, ...definition } = given;
  const rule = undo === undefined ? {} : { undo: undoRule(undo) };
  return asRemoteTool(
    defineTool({ ...definition, ...rule, run: neverRun } as ToolDefinition<Args, unknown>, instance),
  );
}

export function declareTool<Args>(gates: Gates, given: RemoteTool<Args>): void {
  registerTool(
    gates,
    applyPolicyDocument(
      gates,
      defineRemoteTool(given, gates.tools),
      given.policy === undefined ? "nothing" : "policy",
    ),
  );
}

/** The effect class in the policy document, if it names the tool. */
function classIn(runtime: Runtime, name: string): Declarable {
  const tools = runtime.policy?.().document["tools"];
  const named = isJsonObject(tools) && Object.hasOwn(tools, name) ? tools[name] : undefined;
  const said = isJsonObject(named) ? named["effect"] : undefined;
  if (said === "transactional")
    rejectInput(
      `"${name}" is transactional: its effect is in the program's own database, and no agent performs it.`,
    );
  // Without the tool's function there is no probe for whether it was applied.
  return said !== "probed" && DECLARABLE.includes(said) ? (said as Declarable) : "once";
}

function underInstancePolicy(runtime: Runtime, tool: Tool, beside: OwnPolicy): Tool {
  const { policy } = runtime;
  return policy === undefined ? tool : applyPolicy(tool, beside, policy);
}

const MOST_KEPT = 1_000;
const madeTools = new WeakMap<Runtime["tools"], Map<string, Tool>>();

function makeToolOnce(runtime: Runtime, key: string, make: () => Tool): Tool {
  const all = madeTools.get(runtime.tools) ?? new Map<string, Tool>();
  madeTools.set(runtime.tools, all);
  const known = all.get(key);
  if (known !== undefined) return known;
  if (all.size >= MOST_KEPT) all.clear();
  const made = make();
  all.set(key, made);
  return made;
}

/** The tool of an existing action: a compensation is under the rules of an undo, in every process. */
export function remoteToolOfAction(
  runtime: Runtime,
  { tool, within }: Pick<LiveAction, "tool" | "within">,
): Tool {
  if (within?.declared !== undefined) return findDeclaredUndoTool(runtime, tool, within.declared);
  const isUndo = within !== undefined && within.undoes !== null;
  return isUndo ? findOrDefineUndo(runtime, tool.replace(/\.undo$/, "")) : findOrDefineTool(runtime, tool);
}

/** An undo is permitted because of the call it undoes: agents cannot propose it by itself. */
export function isUndoOfAnother({ tools }: Runtime, name: string): boolean {
  const known = tools.get(name);
  return known !== undefined && [...tools.values()].some(({ undo }) => undo === known);
}

/** The tool of that name, of this program or of the agents. */
export function findOrDefineTool(runtime: Runtime, name: string): Tool {
  const known = runtime.tools.get(name);
  if (known !== undefined) return known;
  const effect = classIn(runtime, name);
  return makeToolOnce(runtime, `${effect} ${name}`, () =>
    underInstancePolicy(runtime, defineRemoteTool({ name, effect }), "nothing"),
  );
}

/** The undo of a call of that tool, also performed by the agent. */
export function findOrDefineUndo(runtime: Runtime, name: string): Tool {
  const undo = runtime.tools.get(name)?.undo ?? null;
  if (undo !== null && undo !== "nothing") return undo;
  const bare = () =>
    defineRemoteTool({ name: `${name.slice(0, 123)}.undo`, policy: "approve", undo: "nothing" });
  return makeToolOnce(runtime, `undo ${name}`, () => underInstancePolicy(runtime, bare(), "undo"));
}

/**
 * The tool that an agent declared to undo a call, reviewed like a proposal of that tool. People are not asked again
 * only if there is neither a policy document nor a declared tool, and they approved exactly this undo.
 */
export function findDeclaredUndoTool(runtime: Runtime, name: string, seen: UndoSeen): Tool {
  const isGoverned = runtime.policy !== undefined || runtime.tools.has(name);
  if (seen === "unseen" || isGoverned) return findOrDefineTool(runtime, name);
  return makeToolOnce(runtime, `seen ${name}`, () =>
    defineRemoteTool({ name, policy: "approve", undo: "nothing" }),
  );
}

/** Recorded in a workflow driven by an agent: it has no definition that a rollback could ask. */
export function undoKind(tool: Tool): CallUndo {
  if (tool.undo === null) return "none";
  if (tool.undo === "nothing") return "nothing";
  return tool.outside === undefined ? "here" : "agent";
}

type RemoteUndo = {
  /** The tool that undoes it, also performed by the agent. */
  readonly tool: string;
  readonly args?: unknown;
};

function checkMayDeclareUndo({ rules, outside, undo }: Tool, workflow: string | undefined): void {
  if (workflow === undefined)
    rejectInput("Only an action in a workflow can declare an undo. This proposal names no workflow.");
  if (outside === undefined)
    rejectInput(`This program performs "${rules.name}" and undoes it itself: leave the undo out.`);
  if (rules.effectClass === "read") rejectInput(`"${rules.name}" only reads: there is nothing to undo.`);
  if (undo !== null) rejectInput(`"${rules.name}" was declared with its own undo: leave it out here.`);
}

/** Validates it with the schema of the undo's tool, with secrets as handles. */
export async function prepareDeclaredUndo(
  runtime: Runtime,
  given: RemoteUndo,
  { tool, workflow }: { readonly tool: Tool; readonly workflow: string | undefined },
): Promise<UndoCall> {
  const { tool: name, args } = checkFields("An undo", given, ["tool", "args"]);
  checkMayDeclareUndo(tool, workflow);
  if (typeof name !== "string") return rejectInput("An undo names a tool.");
  if (name === FINAL) rejectInput(`"${FINAL}" stands for an agent's answer: no tool has that name.`);
  if (runtime.tools.get(name)?.isOwn === true || isUndoOfAnother(runtime, name))
    rejectInput(`"${name}" is not for agents to propose.`);
  const back = findOrDefineTool(runtime, name);
  const prepared = await argsFor(runtime, back, plainJson(args), null);
  return { tool: name, args: prepared.args };
}

export type DeclaredUndoCall = { readonly tool: string; readonly args: Json; readonly seen: UndoSeen };

/** For an applied action; undefined if its agent declared none. */
export async function loadDeclaredUndo(
  runtime: TenantStore,
  state: LiveAction,
): Promise<DeclaredUndoCall | undefined> {
  const { undo } = state;
  if (undo === undefined) return undefined;
  return { tool: undo.tool, args: await loadValue(runtime, undo.args), seen: undoSeen(state) };
}
