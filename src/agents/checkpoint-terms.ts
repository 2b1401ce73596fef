/** Who decides about a checkpoint that a remote agent declares or reaches, and within which time: as a policy escalates. */
import { z } from "zod";
import { duration, spelled, writtenDuration } from "../kernel/values.ts";
import { MOST_QUORUM } from "../policy/rules/verdict.ts";

const names = z.array(z.string().min(1).max(210)).max(1_000).readonly();
const rule = {
  quorum: z.int().min(1).max(MOST_QUORUM).optional(),
  from: names.nullable().optional(),
  veto: z.boolean().optional(),
  separate: z.boolean().optional(),
  escalateAtHalf: names.optional().describe("more approvers, from half time on"),
  remindEveryMs: writtenDuration.optional().describe("interval of reminders: 30m, 4h, 1d"),
};
const LONGEST_SECONDS = 1e10;
const STAGE_TIME = "The time of a stage is a whole number of milliseconds of at least 1.";
/** Who decides about a checkpoint, and within which time. */
export const checkpointTerms = {
  timeoutSeconds: z
    .int()
    .min(1)
    .max(LONGEST_SECONDS)
    .nullable()
    .optional()
    .describe("default: 300; null: no limit"),
  onTimeout: z.enum(["expire", "escalate", "extend"]).optional(),
  approvers: z.strictObject(rule).optional(),
  stages: z
    .array(
      z.strictObject({
        ...rule,
        decideWithinMs: spelled("timeout_seconds", duration(LONGEST_SECONDS * 1_000, STAGE_TIME).optional()),
      }),
    )
    .min(1)
    .max(10)
    .readonly()
    .optional()
    .describe("instead of approvers: each stage is asked after the one before has approved"),
};
