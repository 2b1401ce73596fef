/** What a workflow is created with, as it stands on the wire. */
import { z } from "zod";
import type { OutsideCheckpoint, OutsideCreation } from "../engine/outside/create-workflow.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { mayActFor, onlyForItself, principalNamed, selfOf } from "./agent.ts";
import { askingFields, askingOf, said } from "./asking.ts";
import type { Who } from "./authenticate.ts";
import { microsOf } from "./seed-surface.ts";
import { json } from "./wire.ts";

const name = z.string().min(1).max(210);
const MOST_CHECKPOINTS = 1_000;

const checkpointSchema = z.strictObject({
  name: z.string().min(1).max(100),
  checkpoint_id: z.string().min(1).max(100).optional(),
  description: z.string().max(2_000).optional(),
  requires_approval: z.boolean().optional(),
  can_rollback: z.boolean().optional(),
  ...askingFields,
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
  poster_id: name
    .nullish()
    .meta({ description: "whoever the credential is; refused if it is somebody else" }),
  executor_id: name
    .nullish()
    .meta({ description: "the agent that drives it; whoever creates it unless set" }),
  supervisor_id: name.nullish(),
  acts_for: z
    .array(name)
    .max(100)
    .nullish()
    .meta({ description: "principals for whom it is done; none of them decides about it" }),
  input: json.optional(),
  request_id: z.string().min(1).max(200).nullish(),
  attempts: z.number().int().min(1).max(1_000).optional(),
  rollback_enabled: z.boolean().optional(),
  on_irreversible: z.enum(["fail", "continue"]).optional(),
});
type Creation = z.output<typeof creationSchema>;

function checkpointOf(one: z.output<typeof checkpointSchema>): OutsideCheckpoint {
  return said({
    name: one.name,
    id: one.checkpoint_id,
    description: one.description,
    requiresApproval: one.requires_approval,
    canRollback: one.can_rollback,
    ...askingOf(one),
  }) as OutsideCheckpoint;
}

function checkpointsOf({ checkpoint_names: names, checkpoints }: Creation) {
  if (names != null && checkpoints != null)
    throw new HoldpointError("invalid_input", "checkpoint_names and checkpoints exclude each other.");
  return names ?? checkpoints?.map(checkpointOf) ?? undefined;
}

function partiesOf(who: Who, { poster_id, executor_id, supervisor_id }: Creation) {
  const poster = selfOf(who, { named: poster_id ?? undefined, kind: "person", field: "poster_id" });
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

/** Whoever only drives creates what they drive themselves: whom it is for is a poster's to say. */
function checkOwn(who: Who, { executor_id, acts_for }: Creation): void {
  const { principal, can } = who;
  if (principal === null || can("workflows:write")) return;
  // As it is taken below: a bare name is an agent's.
  const isOwn = executor_id == null || principalNamed("agent", executor_id, "executor_id") === principal;
  if (isOwn && mayActFor(who, acts_for)) return;
  throw onlyForItself(
    "creates workflows",
    'Leave "executor_id" and "acts_for" out, or have a poster create it: that needs workflows:write.',
  );
}

function escrowOf({ escrow_amount: amount, escrow_currency: currency }: Creation) {
  return amount == null ? undefined : { currency, micros: microsOf(amount) };
}

export function creationOf(who: Who, body: Creation): OutsideCreation {
  checkOwn(who, body);
  return said({
    name: body.name,
    description: body.description ?? undefined,
    input: body.input,
    checkpoints: checkpointsOf(body),
    escrow: escrowOf(body),
    ...partiesOf(who, body),
    actsFor: body.acts_for ?? undefined,
    requestId: body.request_id ?? undefined,
    attempts: body.attempts,
    rollbackEnabled: body.rollback_enabled,
    onIrreversible: body.on_irreversible,
  }) as OutsideCreation;
}
