/** How an agent that performs something itself says that it would take it back: checked with the proposal. */

import type { UndoCall, UndoSeen } from "../../approvals/state.ts";
import { plainJson } from "../../effects/arguments.ts";
import { argsFor } from "../../effects/gate.ts";
import { undoSeen } from "../../effects/rules/propose.ts";
import type { LiveAction } from "../../effects/state.ts";
import type { Tool } from "../../effects/tool.ts";

import { checkFields, rejectInput } from "../../kernel/fields.ts";
import type { Json } from "../../kernel/json.ts";
import { FINAL } from "../../policy/rules/tools.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { loadValue } from "../../runtime/store-access.ts";

import { isUndoOfAnother, toolNamed } from "./outside-tool.ts";

export type OutsideUndo = {
  /** The tool that takes it back, which the agent performs as well. */
  readonly tool: string;
  readonly args?: unknown;
};

function checkTakenBack({ rules, outside, undo }: Tool, workflow: string | undefined): void {
  if (workflow === undefined)
    rejectInput("Only what is done in a workflow is ever taken back: this proposal is outside of one.");
  if (outside === undefined)
    rejectInput(`"${rules.name}" is performed by this program, which knows itself how to take it back.`);
  if (rules.effectClass === "read") rejectInput(`"${rules.name}" only reads: there is nothing to take back.`);
  if (undo !== null) rejectInput(`"${rules.name}" was declared with its own undo: leave it out here.`);
}

/** Validated by the schema of the tool that takes it back, with secrets as handles. */
export async function undoGiven(
  runtime: Runtime,
  given: OutsideUndo,
  { tool, workflow }: { readonly tool: Tool; readonly workflow: string | undefined },
): Promise<UndoCall> {
  const { tool: name, args } = checkFields("An undo", given, ["tool", "args"]);
  checkTakenBack(tool, workflow);
  if (typeof name !== "string") return rejectInput("An undo names a tool.");
  if (name === FINAL) rejectInput(`"${FINAL}" stands for an agent's answer: no tool has that name.`);
  if (runtime.tools.get(name)?.isOwn === true || isUndoOfAnother(runtime, name))
    rejectInput(`"${name}" is not for agents to propose.`);
  const back = toolNamed(runtime, name);
  const prepared = await argsFor(runtime, back, plainJson(args), null);
  return { tool: name, args: prepared.args };
}

export type TakingBack = { readonly tool: string; readonly args: Json; readonly seen: UndoSeen };

/** Of an action that was applied; undefined where its agent had said nothing. */
export async function undoOfAction(
  runtime: Pick<Runtime, "store" | "tenant">,
  state: LiveAction,
): Promise<TakingBack | undefined> {
  const { undo } = state;
  if (undo === undefined) return undefined;
  return { tool: undo.tool, args: await loadValue(runtime, undo.args), seen: undoSeen(state) };
}
