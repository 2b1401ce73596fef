/** All stages of an approval as they stand, and the seats that are handed over in them, as they stand on the wire. */
import { z } from "zod";
import { STAGE_STATES, stagesOf } from "../approvals/lists.ts";
import type { LiveApproval } from "../approvals/state.ts";
import { approversOnWire, approversSchema } from "./asking.ts";
import { time, timeSchema } from "./wire.ts";

const stage = z.object({
  stage: z.number().meta({ description: "from 1 on" }),
  state: z.enum(STAGE_STATES).meta({
    description:
      "asked: now; later: once those before have agreed; handed_over: its time was up and the next is asked instead; ended: the approval ended in it, without its agreement; not_asked: it ended before",
  }),
  approvers: approversSchema,
});

const delegation = z.object({
  from: z.string(),
  to: z.string(),
  stage: z.number(),
  reason: z.string(),
  at: timeSchema,
});

/** The number of stages has their name already. */
export const stagesFields = {
  all_stages: z.array(stage).meta({ description: "every stage in its order; one where none were asked for" }),
  delegations: z.array(delegation).meta({ description: "seats that are handed over now" }),
};

export function stagesOnWire(approval: LiveApproval) {
  return {
    all_stages: stagesOf(approval).map(({ approvers, ...standing }) => ({
      ...standing,
      approvers: approversOnWire(approvers),
    })),
    delegations: approval.delegations.map(({ by, to, stage: of, reason, at }) => ({
      ...{ from: by, to, stage: of ?? 1, reason },
      at: time(at),
    })),
  };
}
