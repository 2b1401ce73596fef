/** Input that creates a workflow over HTTP: its checkpoints, its people and its input. */
import { z } from "zod";
import type { Who } from "../api/authenticate.ts";
import { bodyCodec, dropUndefinedFields, json } from "../api/wire.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { spelled } from "../kernel/values.ts";
import { checkpointTerms } from "./contract.ts";
import { callerPrincipal, mayActFor, onlyForItselfError, principalNamed } from "./identify-agent.ts";
import type { NewRemoteWorkflow, RemoteCheckpoint } from "./remote-workflow.ts";
import { microsOf } from "./seed-forms.ts";

const nameSchema = z.string().min(1).max(210);
const MOST_CHECKPOINTS = 1_000;

const checkpointCodec = bodyCodec(
  z.strictObject({
    name: z.string().min(1).max(100),
    id: spelled("checkpoint_id", z.string().min(1).max(100).optional()),
    description: z.string().max(2_000).optional(),
    requiresApproval: z.boolean().optional(),
    canRollback: z.boolean().optional(),
    ...checkpointTerms,
  }),
);

export const creationSchema = z.strictObject({
  name: z.string().min(1).max(200),
  description: z.string().max(10_000).nullish(),
  checkpoint_names: z.array(z.string().min(1).max(100)).max(MOST_CHECKPOINTS).nullish(),
  checkpoints: z
    .array(checkpointCodec.wire)
    .max(MOST_CHECKPOINTS)
    .nullish()
    .meta({ description: "instead of checkpoint_names" }),
  escrow_amount: z.number().min(0).max(1e9).nullish().meta({ description: "recorded; nothing is locked" }),
  escrow_currency: z
    .string()
    .regex(/^[A-Z]{3,8}$/)
    .default("USD"),
  poster_id: nameSchema
    .nullish()
    .meta({ description: "default: the credential's principal; any other is refused" }),
  executor_id: nameSchema.nullish().meta({ description: "the agent that drives it; default: the creator" }),
  supervisor_id: nameSchema.nullish(),
  on_behalf_of: z
    .array(nameSchema)
    .max(100)
    .nullish()
    .meta({ description: "principals for whom it is done; none of them may decide" }),
  input: json.optional(),
  request_id: z.string().min(1).max(200).nullish(),
  attempts: z.number().int().min(1).max(1_000).optional(),
  rollback_enabled: z.boolean().optional(),
  on_irreversible: z.enum(["fail", "continue"]).optional(),
});
type CreationInput = z.output<typeof creationSchema>;

function readCheckpoints({ checkpoint_names: names, checkpoints }: CreationInput) {
  if (names != null && checkpoints != null)
    throw new HoldpointError("invalid_input", "checkpoint_names and checkpoints exclude each other.");
  return names ?? checkpoints?.map((one) => checkpointCodec.decode(one) as RemoteCheckpoint) ?? undefined;
}

function readParties(who: Who, { poster_id, executor_id, supervisor_id }: CreationInput) {
  const poster = callerPrincipal(who, { named: poster_id ?? undefined, kind: "person", field: "poster_id" });
  const executor = executor_id == null ? undefined : principalNamed("agent", executor_id, "executor_id");
  const supervisor =
    supervisor_id == null ? undefined : principalNamed("person", supervisor_id, "supervisor_id");
  const by = who.principal ?? executor ?? poster;
  if (by === undefined)
    throw new HoldpointError(
      "invalid_input",
      'Without authentication, "executor_id" is needed: it names the agent that drives the workflow.',
    );
  return { by, poster, executor, supervisor };
}

/** A caller that may only drive creates workflows for itself. Naming other principals needs workflows:write. */
function checkOwn(who: Who, { executor_id, on_behalf_of }: CreationInput): void {
  const { principal, can } = who;
  if (principal === null || can("workflows:write")) return;
  // A bare name is an agent's, as in `readParties`.
  const isOwn = executor_id == null || principalNamed("agent", executor_id, "executor_id") === principal;
  if (isOwn && mayActFor(who, on_behalf_of)) return;
  throw onlyForItselfError(
    "creates workflows",
    'Leave "executor_id" and "on_behalf_of" out, or have a poster create it: that needs workflows:write.',
  );
}

function readEscrow({ escrow_amount: amount, escrow_currency: currency }: CreationInput) {
  return amount == null ? undefined : { currency, micros: microsOf(amount) };
}

export function readCreation(who: Who, body: CreationInput): NewRemoteWorkflow {
  checkOwn(who, body);
  return dropUndefinedFields({
    name: body.name,
    description: body.description ?? undefined,
    input: body.input,
    checkpoints: readCheckpoints(body),
    escrow: readEscrow(body),
    ...readParties(who, body),
    onBehalfOf: body.on_behalf_of ?? undefined,
    requestId: body.request_id ?? undefined,
    attempts: body.attempts,
    rollbackEnabled: body.rollback_enabled,
    onIrreversible: body.on_irreversible,
  }) as NewRemoteWorkflow;
}
