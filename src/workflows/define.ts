/**
 * Turns the author's options into the stored definition, and a definition with an input into the creation of a
 * workflow: its checkpoints, people and terms.
 */

import { schemaRules } from "../effects/arguments.ts";
import { checkPolicy } from "../effects/define-tool.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { checkFields, isPlainObject, rejectInput } from "../kernel/fields.ts";
import type { Json } from "../kernel/json.ts";
import { checkAmount, moneyToJson } from "../kernel/money.ts";
import { isPrincipal } from "../kernel/principal.ts";
import { errorText } from "../kernel/text.ts";
import { ignoreRejection } from "../runtime/concurrency.ts";
import { freshId, type Runtime } from "../runtime/runtime.ts";
import type { Definition, RunOptions, Workflow, WorkflowBody, WorkflowOptions } from "./definition.ts";
import type { CreatedBody, Declared, Parent } from "./events.ts";
import { checkCheckpoints } from "./rules/check-checkpoints.ts";
import {
  type CheckpointDefinition,
  type CheckpointSet,
  type Checkpoints,
  checkpointId,
  chosenSet,
  isCheckpointList,
} from "./rules/checkpoints.ts";
import type { Creation } from "./rules/create.ts";
import { checkName } from "./run/operation.ts";

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
const FUTURE_FIELDS: { readonly [field: string]: string } = {
  sandbox: "run untrusted code in a process of its own for now",
  trace: "the journal has every step; `holdpoint show` prints it",
  budget: "give tools a cost and set hp.budgets.limit()",
};

function checkFutureFields(name: string, options: object): void {
  const later = Object.entries(FUTURE_FIELDS).find(([field]) => Object.hasOwn(options, field));
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
  const sets: readonly CheckpointSet[] = isCheckpointList(checkpoints)
    ? [{ checkpoints }]
    : Object.values(checkpoints);
  for (const { name, undo } of sets.flatMap((set) => set.checkpoints))
    if (undo?.policy !== undefined) checkPolicy(`undo of the checkpoint "${name}"`, undo.policy);
}

function checkDefinitionOptions(name: string, options: WorkflowOptions<never>): void {
  checkFutureFields(name, options);
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
  checkDefinitionOptions(named, options);
  if (typeof body !== "function") rejectInput(`The workflow "${named}" has no function to run.`);
  return { name: named, options, body: body as WorkflowBody<unknown, unknown>, beside };
}

/** The definition behind each handle. */
const definitions = new WeakMap<object, Definition>();

export function bindDefinition<Handle extends object>(handle: Handle, definition: Definition): Handle {
  definitions.set(handle, definition);
  return handle;
}

export function definitionOf(workflow: Workflow<never, unknown> | Workflow<unknown, unknown>): Definition {
  const known = typeof workflow === "object" && workflow !== null ? definitions.get(workflow) : undefined;
  return known ?? rejectInput("ctx.spawn takes a workflow made by hp.workflow.");
}

export const DEFAULT_MAX_ATTEMPTS = 5;

export function declareCheckpoint({
  name,
  id,
  description = "",
  requiresApproval = true,
  canRollback = true,
  timeoutSeconds = null,
}: Omit<CheckpointDefinition, "when" | "undo">): Declared {
  const own = { name, ...(id === undefined ? {} : { id }) };
  return { id: checkpointId(own), name, description, requiresApproval, canRollback, timeoutSeconds };
}

function complexityOf({ options, name }: Definition, input: Json): string | null {
  if (options.complexity === undefined) return null;
  let said: unknown;
  try {
    said = ignoreRejection((options.complexity as (input: Json) => unknown)(input));
  } catch (error) {
    return rejectInput(`The complexity of "${name}" could not be told: ${errorText(error)}.`);
  }
  if (said === "simple" || said === "medium" || said === "complex") return said;
  return rejectInput(`The complexity of "${name}" is simple, medium or complex.`);
}

/** The input after validation by the definition's schema. */
export function validInput({ name, options }: Definition, input: Json): Json {
  const valid = schemaRules(options.input, undefined).validate(input);
  if (valid.ok) return valid.value;
  throw new HoldpointError("invalid_args", `The input does not fit the workflow "${name}": ${valid.issues}.`);
}

type WorkflowOrigin = {
  readonly requestId: string | null;
  readonly epoch: string | null;
  readonly parent?: Parent;
  /** The principals that its parent acts for. */
  readonly requester?: readonly string[];
  readonly fork?: NonNullable<CreatedBody["fork"]>;
  readonly parties?: RunOptions["parties"];
  readonly terms?: RunTerms;
  /** The parent's setting, used if its definition has none. */
  readonly rollbackEnabled?: boolean;
};

/** Terms of one run, in addition to its definition. Its children and forks inherit them. */
type RunTerms = Pick<CreatedBody, "approvalRequired" | "budget" | "notify" | "policies">;

type TermOptions = Pick<RunTerms, "policies"> & {
  readonly [Term in "approvalRequired" | "budget" | "notify"]?: RunOptions[Term] | undefined;
};

export const pickRunTerms = ({ approvalRequired, budget, notify, policies }: TermOptions): RunTerms => ({
  ...(approvalRequired === true ? { approvalRequired } : {}),
  ...(budget === undefined ? {} : { budget }),
  ...(typeof notify === "string" ? { notify } : {}),
  ...(policies === undefined ? {} : { policies }),
});

/** A child inherits its parent's terms and is also subject to its policy. */
export function childRunTerms({ name, options }: Definition, terms: RunTerms): RunTerms {
  if (options.policy === undefined) return pickRunTerms(terms);
  return { ...pickRunTerms(terms), policies: [...(terms.policies ?? []), name] };
}

export function buildCreation(
  runtime: Runtime,
  definition: Definition,
  input: Json,
  origin: WorkflowOrigin,
): Creation {
  const { options, name } = definition;
  const complexity = complexityOf(definition, input);
  const set = options.checkpoints === undefined ? null : chosenSet(options.checkpoints, complexity);
  const escrow = options.escrow ?? set?.escrow;
  const { poster = null, executor = null, supervisor = null } = { ...options.parties, ...origin.parties };
  const body = {
    name,
    description: options.description ?? "",
    version: options.version ?? null,
    input,
    agent: runtime.agent,
    requester: [
      ...new Set([
        ...runtime.requester,
        ...(origin.requester ?? []),
        ...(executor === null ? [] : [executor]),
      ]),
    ],
    parties: { poster, executor, supervisor },
    escrow: escrow === undefined ? null : moneyToJson(escrow),
    complexity,
    checkpoints: (set?.checkpoints ?? []).map(declareCheckpoint),
    attempts: options.attempts ?? DEFAULT_MAX_ATTEMPTS,
    rollbackEnabled: options.rollbackEnabled ?? origin.rollbackEnabled ?? false,
    onIrreversible: options.onIrreversible ?? "fail",
    ...origin.terms,
    ...(definition.isOfOneRun === true ? { isOfOneRun: true as const } : {}),
    parent: origin.parent ?? null,
    fork: origin.fork ?? null,
  } as const;
  return { workflow: freshId(runtime, "wf"), requestId: origin.requestId, epoch: origin.epoch, body };
}
