/** Comments on an approval: people ask for more before they decide, and whoever asked answers. */
import { z } from "zod";
import { HoldpointError } from "../../core/errors.ts";
import { route } from "../route.ts";
import { bySchema, idParams, reasonSchema } from "../wire.ts";
import { approvalSchema } from "./approvals.ts";

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
    handle: async () => {
      throw new HoldpointError("unknown_route", "This is not there yet.");
    },
  }),
];
