/** Who is asked at a checkpoint, and in which time, as it stands on the wire; in full what a policy's escalation says. */
import { z } from "zod";
import type { CheckpointDefinition } from "../core/workflow/checkpoint-rules.ts";
import { spanMs } from "../engine/outside/span.ts";
import { MOST_QUORUM } from "../policy/rules/verdict.ts";

const MOST_NAMES = 1_000;
const MOST_STAGES = 10;
const names = z.array(z.string().min(1).max(210)).max(MOST_NAMES);
const seconds = z.number().int().min(1).max(1e10);

const rule = {
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
    .refine((text) => (spanMs(text) ?? 0) >= 60_000, "is a length of time of at least a minute, such as 4h")
    .optional()
    .meta({ description: "people are reminded that often: 30m, 4h, 1d" }),
};

/** The fields of a checkpoint that say who decides about it. */
export const askingFields = {
  timeout_seconds: seconds.nullable().optional().meta({ description: "300 unless set; null never runs out" }),
  on_timeout: z.enum(["expire", "escalate", "extend"]).optional(),
  approvers: z.strictObject(rule).optional(),
  stages: z
    .array(z.strictObject({ ...rule, timeout_seconds: seconds.optional() }))
    .min(1)
    .max(MOST_STAGES)
    .optional()
    .meta({ description: "instead of approvers: each is asked once the one before has agreed" }),
};
const askingSchema = z.strictObject(askingFields);
type Asking = z.output<typeof askingSchema>;
type Rule = NonNullable<Asking["stages"]>[number];

/** Without what is not said. */
export function said<Fields extends object>(
  fields: Fields,
): { [Field in keyof Fields]: Exclude<Fields[Field], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

function ruleOf({ escalate_at_half, remind_every, timeout_seconds, ...plain }: Rule) {
  return said({
    ...plain,
    escalateAtHalf: escalate_at_half,
    remindEveryMs: remind_every === undefined ? undefined : spanMs(remind_every),
    decideWithinMs: timeout_seconds === undefined ? undefined : timeout_seconds * 1_000,
  });
}

export type AskingTerms = Pick<CheckpointDefinition, "timeoutSeconds" | "onTimeout" | "approvers" | "stages">;

export function askingOf({ timeout_seconds, on_timeout, approvers, stages }: Asking): AskingTerms {
  return said({
    timeoutSeconds: timeout_seconds,
    onTimeout: on_timeout,
    approvers: approvers === undefined ? undefined : ruleOf(approvers),
    stages: stages?.map(ruleOf),
  }) as AskingTerms;
}
