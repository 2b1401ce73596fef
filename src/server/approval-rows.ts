/** Approvals as a list has them: a row each, from what the store keeps for lists, without reading their streams. */
import { z } from "zod";
import type { ApprovalSummary } from "../approvals/lists.ts";
import type { Listed } from "../approvals/state.ts";
import { APPROVAL_STATUSES } from "../approvals/state.ts";
import { RISK_LEVELS } from "../core/verdict.ts";
import type { Asked } from "./route.ts";
import { type Subject, workflowAsking } from "./surroundings.ts";
import { time, timeOrNull, timeSchema } from "./wire.ts";

export const statusSchema = z.enum(APPROVAL_STATUSES);
export const aboutSchema = z.enum(["action", "checkpoint", "question", "intent"]);

export const summarySchema = z.object({
  request_id: z.string().meta({ description: "the approval's id" }),
  status: statusSchema,
  about: aboutSchema,
  action_id: z.string().nullable(),
  workflow_id: z.string().nullable(),
  intent_id: z.string().nullable(),
  name: z.string().meta({ description: "of the tool, the checkpoint or the question" }),
  agent: z.string(),
  args: z.string().meta({ description: "the beginning of what is decided on" }),
  args_hash: z.string(),
  reason: z.string(),
  votes: z.number(),
  quorum: z.number(),
  stage: z.number(),
  stages: z.number(),
  effect_class: z.string(),
  risk: z.enum(RISK_LEVELS).nullable(),
  is_irreversible: z.boolean().meta({ description: "once it is done, nobody is known to take it back" }),
  is_mine: z.boolean().meta({ description: "whoever asks may decide it now, and has not" }),
  created_at: timeSchema,
  decide_by: timeSchema.nullable(),
  decided_at: timeSchema.nullable(),
  decided_by: z.array(z.string()),
  edited: z.boolean().meta({ description: "people changed what was proposed" }),
});

type Place = Pick<Asked, "runtime">;

/** `known`: the workflow in which it is asked, where that is at hand. */
export async function idsOf({ runtime }: Place, subject: Subject, known?: string | null) {
  const { about: kind, id } = subject;
  return {
    action_id: kind === "action" ? id : null,
    workflow_id: known === undefined ? await workflowAsking(runtime, subject) : known,
    intent_id: kind === "intent" ? id : null,
  };
}

type Row = {
  readonly [Field in
    | "status"
    | "about"
    | "action"
    | "tool"
    | "agent"
    | "args"
    | "argsHash"
    | "reason"]: string;
} & { readonly [Field in "votes" | "quorum" | "stage" | "stages" | "requestedAt"]: number } & Omit<
    Listed,
    "waiting"
  > & {
    readonly decideBy: number | null;
    readonly decidedBy: readonly string[];
    /** Absent in rows from before it was kept. */
    readonly edited?: boolean;
    readonly isMine: boolean;
    readonly isIrreversible: boolean;
  };

export async function summaryOnWire(place: Place, { id, ...fields }: ApprovalSummary) {
  const row = fields as unknown as Row;
  const { votes, quorum, stage, stages, agent, args, reason } = row;
  return {
    request_id: id,
    status: row.status,
    about: row.about,
    ...(await idsOf(place, { about: row.about, id: row.action }, row.workflow)),
    name: row.tool,
    agent,
    args,
    args_hash: row.argsHash,
    reason,
    ...{ votes, quorum, stage, stages },
    effect_class: row.effectClass,
    risk: row.risk,
    is_irreversible: row.isIrreversible,
    is_mine: row.isMine,
    created_at: time(row.requestedAt),
    decide_by: timeOrNull(row.decideBy),
    decided_at: timeOrNull(row.decidedAt),
    decided_by: row.decidedBy,
    edited: row.edited ?? false,
  };
}
