/** A workflow as it is created: its input, its checkpoints, its people. */

import type { CheckpointDefinition } from "../../core/workflow/checkpoint-rules.ts";
import { checkpointId, chosenSet } from "../../core/workflow/checkpoint-sets.ts";
import type { Creation } from "../../core/workflow/create.ts";
import type { CreatedBody, Declared, Parent } from "../../core/workflow/events.ts";
import { schemaRules } from "../../effects/input-schema.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { rejectInput } from "../../kernel/fields.ts";
import type { Json } from "../../kernel/json.ts";
import { moneyToJson } from "../../kernel/money.ts";
import { errorText } from "../../kernel/text.ts";
import { ignoreRejection } from "../../runtime/concurrency.ts";
import { freshId, type Runtime } from "../../runtime/runtime.ts";

import type { Definition, RunOptions } from "./definition.ts";

export const MOST_ATTEMPTS = 5;

function declared({
  name,
  id,
  description,
  requiresApproval,
  canRollback,
  timeoutSeconds,
}: CheckpointDefinition): Declared {
  return {
    id: checkpointId({ name, ...(id === undefined ? {} : { id }) }),
    name,
    description: description ?? "",
    requiresApproval: requiresApproval ?? true,
    canRollback: canRollback ?? true,
    timeoutSeconds: timeoutSeconds ?? null,
  };
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

/** The input as the definition's schema has let it through. */
export function validInput({ name, options }: Definition, input: Json): Json {
  const valid = schemaRules(options.input, undefined).validate(input);
  if (valid.ok) return valid.value;
  throw new HoldpointError("invalid_args", `The input does not fit the workflow "${name}": ${valid.issues}.`);
}

export type Origin = {
  readonly requestId: string | null;
  readonly epoch: string | null;
  readonly parent?: Parent;
  /** Whoever its parent acts for. */
  readonly requester?: readonly string[];
  readonly fork?: NonNullable<CreatedBody["fork"]>;
  readonly parties?: RunOptions["parties"];
  readonly terms?: Terms;
  /** As its parent is, unless its definition says. */
  readonly rollbackEnabled?: boolean;
};

/** What a workflow is started under, beside what its definition says. Its children and forks are under the same. */
export type Terms = Pick<CreatedBody, "approvalRequired" | "budget" | "policies">;

type Given = Pick<RunOptions, "approvalRequired" | "budget"> & Pick<Terms, "policies">;

export const termsOf = ({ approvalRequired, budget, policies }: Given): Terms => ({
  ...(approvalRequired === true ? { approvalRequired } : {}),
  ...(budget === undefined ? {} : { budget }),
  ...(policies === undefined ? {} : { policies }),
});

/** A child is under its parent's terms, and under its policy. */
export function termsOfChild({ name, options }: Definition, terms: Terms): Terms {
  if (options.policy === undefined) return termsOf(terms);
  return { ...termsOf(terms), policies: [...(terms.policies ?? []), name] };
}

export function creationOf(runtime: Runtime, definition: Definition, input: Json, origin: Origin): Creation {
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
    checkpoints: (set?.checkpoints ?? []).map(declared),
    attempts: options.attempts ?? MOST_ATTEMPTS,
    rollbackEnabled: options.rollbackEnabled ?? origin.rollbackEnabled ?? false,
    onIrreversible: options.onIrreversible ?? "fail",
    ...origin.terms,
    ...(definition.isOfOneRun === true ? { isOfOneRun: true as const } : {}),
    parent: origin.parent ?? null,
    fork: origin.fork ?? null,
  } as const;
  return { workflow: freshId(runtime, "wf"), requestId: origin.requestId, epoch: origin.epoch, body };
}
