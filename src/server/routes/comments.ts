/** Comments on an approval: people ask for more before they decide, and whoever asked answers. */
import { z } from "zod";
import { commentApproval } from "../../approvals/verbs.ts";
import { principalOf } from "../person.ts";
import { route } from "../route.ts";
import { bySchema, idParams, reasonSchema } from "../wire.ts";
import { approvalSchema, standing } from "./approvals.ts";

export const commentRoutes = [
  route({
    method: "POST",
    path: "/api/approvals/{id}/comments",
    summary:
      "Ask for more before deciding, or answer that: kept with the approval, and told to whoever asked",
    description: "People who may decide, and the agent whose approval it is. It decides nothing.",
    tag: "approvals",
    scope: "approvals:decide",
    orScope: "actions:propose",
    params: idParams,
    body: z.strictObject({ text: reasonSchema, by: bySchema }),
    answers: { 200: approvalSchema },
    async handle({ runtime, who, params: { id }, body }) {
      const by = principalOf(who, body.by);
      await commentApproval(runtime, id, { by, text: body.text, via: who.via });
      return standing({ runtime }, id);
    },
  }),
];
