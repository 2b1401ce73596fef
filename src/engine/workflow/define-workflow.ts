/** From what a workflow's author writes to what the engine keeps. */

import { checkCheckpoints } from "../../core/workflow/check-checkpoints.ts";
import type { CheckpointSet } from "../../core/workflow/checkpoint-rules.ts";
import { type Checkpoints, isList } from "../../core/workflow/checkpoint-sets.ts";
import { checkPolicy } from "../../effects/define-tool.ts";
import { schemaRules } from "../../effects/input-schema.ts";
import { checkFields, isPlainObject, rejectInput } from "../../kernel/fields.ts";
import { checkAmount } from "../../kernel/money.ts";
import { isPrincipal } from "../../kernel/principal.ts";

import type { Definition, Workflow, WorkflowBody, WorkflowOptions } from "./definition.ts";
import { checkName } from "./operation.ts";

const FIELDS = [
  "description",
  "version",
  "checkpoints",
  "complexity",
  "input",
  "parties",
  "escrow",
  "attempts",
  "rollbackEnabled",
  "onIrreversible",
  "policy",
];
const LATER: { readonly [field: string]: string } = {
  sandbox: "run untrusted code in a process of its own for now",
  trace: "the journal has every step; `holdpoint show` prints it",
  budget: "give tools a cost and set hp.budgets.limit()",
};

function checkLater(name: string, options: object): void {
  const later = Object.entries(LATER).find(([field]) => Object.hasOwn(options, field));
  if (later !== undefined)
    rejectInput(`The workflow "${name}" asks for "${later[0]}", which is not there yet: ${later[1]}.`);
}

const ROLES = ["poster", "executor", "supervisor"];

export function checkParties(name: string, parties: WorkflowOptions<never>["parties"] = {}): void {
  checkFields(`The parties of "${name}"`, parties, ROLES);
  for (const [role, who] of Object.entries(parties))
    if (who !== undefined && !isPrincipal(who))
      rejectInput(`The ${role} of "${name}" is person:, agent: or service:<name>.`);
}

const CHECKS: {
  readonly [field: string]: { readonly fits: (value: unknown) => boolean; readonly is: string };
} = {
  attempts: {
    fits: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
    is: "a whole number of at least 1",
  },
  onIrreversible: { fits: (value) => value === "fail" || value === "continue", is: "fail or continue" },
  complexity: { fits: (value) => typeof value === "function", is: "a function" },
  rollbackEnabled: { fits: (value) => typeof value === "boolean", is: "true or false" },
  version: { fits: (value) => typeof value === "string", is: "a text" },
  description: { fits: (value) => typeof value === "string", is: "a text" },
};

function checkUndos(checkpoints: Checkpoints): void {
  const sets: readonly CheckpointSet[] = isList(checkpoints) ? [{ checkpoints }] : Object.values(checkpoints);
  for (const { name, undo } of sets.flatMap((set) => set.checkpoints))
    if (undo?.policy !== undefined) checkPolicy(`undo of the checkpoint "${name}"`, undo.policy);
}

function checkOptions(name: string, options: WorkflowOptions<never>): void {
  checkLater(name, options);
  checkFields(`The workflow "${name}"`, options, FIELDS);
  for (const [field, { fits, is }] of Object.entries(CHECKS)) {
    const value = (options as Readonly<Record<string, unknown>>)[field];
    if (value !== undefined && !fits(value))
      rejectInput(`The workflow "${name}" has ${field} that is not ${is}.`);
  }
  if (options.escrow !== undefined) checkAmount(`The escrow of the workflow "${name}"`, options.escrow);
  if (options.input !== undefined) schemaRules(options.input, undefined);
  if (options.checkpoints !== undefined) checkUndos(checkCheckpoints(options.checkpoints));
  checkParties(name, options.parties);
  if (options.policy !== undefined) checkPolicy(`workflow "${name}"`, options.policy);
}

export function defineWorkflow(
  name: unknown,
  options: WorkflowOptions<never>,
  body: unknown,
  beside: Definition["beside"] = new Map(),
): Definition {
  const named = checkName("workflow", name);
  if (!isPlainObject(options)) return rejectInput(`The options of the workflow "${named}" are an object.`);
  checkOptions(named, options);
  if (typeof body !== "function") rejectInput(`The workflow "${named}" has no function to run.`);
  return { name: named, options, body: body as WorkflowBody<unknown, unknown>, beside };
}

/** Which definition a handle stands for. */
const definitions = new WeakMap<object, Definition>();

export function bindDefinition<Handle extends object>(handle: Handle, definition: Definition): Handle {
  definitions.set(handle, definition);
  return handle;
}

export function definitionOf(workflow: Workflow<never, unknown> | Workflow<unknown, unknown>): Definition {
  const known = typeof workflow === "object" && workflow !== null ? definitions.get(workflow) : undefined;
  return known ?? rejectInput("ctx.spawn takes a workflow made by hp.workflow.");
}
