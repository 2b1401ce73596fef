/**
 * Input that creates a workflow over HTTP: its checkpoints, who is asked at each and within which time (the same terms
 * as a policy's escalation), its people and its input.
 */
import { z } from "zod";
import type { Who } from "../api/authenticate.ts";
import { dropUndefinedFields, json } from "../api/wire.ts";
import { durationMs } from "../kernel/duration.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { MOST_QUORUM } from "../policy/rules/verdict.ts";
import type { CheckpointDefinition } from "../workflows/rules/checkpoints.ts";
import { callerPrincipal, mayActFor, onlyForItselfError, principalNamed } from "./identify-agent.ts";
import type { NewRemoteWorkflow, RemoteCheckpoint } from "./remote-workflow.ts";
import { microsOf } from "./seed-forms.ts";

const MOST_NAMES = 1_000;
const MOST_STAGES = 10;
const names = z.array(z.string().min(1).max(210)).max(MOST_NAMES);
const seconds = z.number().int().min(1).max(1e10);

const ruleFields = {
  quorum: z.number().int().min(1).max(MOST_QUORUM).optional(),
  from: names.nullable().optional(),
  veto: z.boolean().optional(),
  separate: z.boolean().optional(),
  escalate_at_half: names
    .optional()
    .meta({ description: "who may decide as well, once half of the time is over" }),
  remind_every: z
    .string()
    .max(64)
    .refine(
      (text) => (durationMs(text) ?? 0) >= 60_000,
      "is a length of time of at least a minute, such as 4h",
    )
    .optional()
    .meta({ description: "people are reminded that often: 30m, 4h, 1d" }),
};

/** The fields of a checkpoint that say who decides about it. */
export const approverFields = {
  timeout_seconds: seconds.nullable().optional().meta({ description: "300 unless set; null never runs out" }),
  on_timeout: z.enum(["expire", "escalate", "extend"]).optional(),
  approvers: z.strictObject(ruleFields).optional(),
  stages: z
    .array(z.strictObject({ ...ruleFields, timeout_seconds: seconds.optional() }))
    .min(1)
    .max(MOST_STAGES)
    .optional()
    .meta({ description: "instead of approvers: each is asked once the one before has agreed" }),
};
const approverSchema = z.strictObject(approverFields);
type ApproverInput = z.output<typeof approverSchema>;
type RuleInput = NonNullable<ApproverInput["stages"]>[number];

function readRule({ escalate_at_half, remind_every, timeout_seconds, ...plain }: RuleInput) {
  return dropUndefinedFields({
    ...plain,
    escalateAtHalf: escalate_at_half,
    remindEveryMs: remind_every === undefined ? undefined : durationMs(remind_every),
    decideWithinMs: timeout_seconds === undefined ? undefined : timeout_seconds * 1_000,
  });
}

type ApproverTerms = Pick<CheckpointDefinition, "timeoutSeconds" | "onTimeout" | "approvers" | "stages">;

export function readApproverTerms({
  timeout_seconds,
  on_timeout,
  approvers,
  stages,
}: ApproverInput): ApproverTerms {
  return dropUndefinedFields({
    timeoutSeconds: timeout_seconds,
    onTimeout: on_timeout,
    approvers: approvers === undefined ? undefined : readRule(approvers),
    stages: stages?.map(readRule),
  }) as ApproverTerms;
}

const nameSchema = z.string().min(1).max(210);
const MOST_CHECKPOINTS = 1_000;

const checkpointSchema = z.strictObject({
  name: z.string().min(1).max(100),
  checkpoint_id: z.string().min(1).max(100).optional(),
  description: z.string().max(2_000).optional(),
  requires_approval: z.boolean().optional(),
  can_rollback: z.boolean().optional(),
  ...approverFields,
});

export const creationSchema = z.strictObject({
  name: z.string().min(1).max(200),
  description: z.string().max(10_000).nullish(),
  checkpoint_names: z.array(z.string().min(1).max(100)).max(MOST_CHECKPOINTS).nullish(),
  checkpoints: z
    .array(checkpointSchema)
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
    .meta({ description: "whoever the credential is; refused if it is somebody else" }),
  executor_id: nameSchema
    .nullish()
    .meta({ description: "the agent that drives it; whoever creates it unless set" }),
  supervisor_id: nameSchema.nullish(),
  on_behalf_of: z
    .array(nameSchema)
    .max(100)
    .nullish()
    .meta({ description: "principals for whom it is done; none of them decides about it" }),
  input: json.optional(),
  request_id: z.string().min(1).max(200).nullish(),
  attempts: z.number().int().min(1).max(1_000).optional(),
  rollback_enabled: z.boolean().optional(),
  on_irreversible: z.enum(["fail", "continue"]).optional(),
});
type CreationInput = z.output<typeof creationSchema>;

function readCheckpoint(one: z.output<typeof checkpointSchema>): RemoteCheckpoint {
  return dropUndefinedFields({
    name: one.name,
    id: one.checkpoint_id,
    description: one.description,
    requiresApproval: one.requires_approval,
    canRollback: one.can_rollback,
    ...readApproverTerms(one),
  }) as RemoteCheckpoint;
}

function readCheckpoints({ checkpoint_names: names, checkpoints }: CreationInput) {
  if (names != null && checkpoints != null)
    throw new HoldpointError("invalid_input", "checkpoint_names and checkpoints exclude each other.");
  return names ?? checkpoints?.map(readCheckpoint) ?? undefined;
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
      'Without authentication, "executor_id" has to say who drives it.',
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
