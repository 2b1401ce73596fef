/** A decision as the first surface has it, handed over as ours. */
import { z } from "zod";
import { approveApproval, rejectApproval } from "../approvals/decide.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Who } from "./authenticate.ts";
import { personOf } from "./person.ts";
import { DECISIONS } from "./seed-surface.ts";
import { bySchema, idSchema, json, sent, shownSchema } from "./wire.ts";

export const ballotSchema = z.strictObject({
  request_id: idSchema.meta({ description: "the approval's id" }),
  decision: z.enum(DECISIONS),
  rationale: z.string().max(10_000).nullish().meta({ description: "a rejection needs one" }),
  approved_by: bySchema,
  modifications: z.record(z.string(), json).nullish().meta({ description: "only with MODIFIED" }),
  binding: z.string().max(200).optional().meta({
    description: "of what the person saw; a decision on anything else is refused",
  }),
  shown: shownSchema,
});
export type SeedBallot = z.output<typeof ballotSchema>;

const wrong = (what: string): never => {
  throw new HoldpointError("invalid_input", what);
};

/** undefined: nothing is changed. */
function editOf({ decision, modifications }: SeedBallot) {
  const changes = modifications ?? {};
  if (decision === "MODIFIED")
    return modifications == null ? wrong("MODIFIED needs modifications.") : changes;
  return Object.keys(changes).length === 0 ? undefined : wrong(`${decision} has no modifications.`);
}

export async function submit(runtime: Runtime, who: Who, ballot: SeedBallot): Promise<void> {
  const { request_id: id, decision, rationale, binding, shown } = ballot;
  const edit = editOf(ballot);
  const said = {
    by: personOf(who, ballot.approved_by, "approved_by"),
    via: who.via,
    ...sent({ binding, shown }),
  };
  const words = rationale?.trim() ?? "";
  if (decision === "REJECTED") {
    const reason = words === "" ? wrong("A rejection needs a rationale.") : words;
    await rejectApproval(runtime, id, { ...said, reason });
    return;
  }
  const note = words === "" ? {} : { note: words };
  await approveApproval(runtime, id, { ...said, ...note, ...(edit === undefined ? {} : { edit }) });
}
