/** The example: an agent of the server's own that asks people something, for whoever has no agent yet. */
import { z } from "zod";
import { HoldpointError } from "../../core/errors.ts";
import { route } from "../route.ts";

export const exampleRoutes = [
  route({
    method: "GET",
    path: "/api/example",
    summary: "Whether this server has the example, and what it asks now",
    tag: "desk",
    scope: "approvals:read",
    answers: {
      200: z.object({
        is_there: z.boolean(),
        approval_id: z.string().nullable().meta({ description: "of the example's question that waits" }),
        workflow_id: z.string().nullable(),
      }),
    },
    handle: async () => {
      throw new HoldpointError("unknown_route", "This is not there yet.");
    },
  }),
  route({
    method: "POST",
    path: "/api/example",
    summary: "Have the example ask once more",
    tag: "desk",
    scope: "workflows:write",
    body: z.strictObject({}),
    answers: { 202: z.object({ workflow_id: z.string() }) },
    handle: async () => {
      throw new HoldpointError("unknown_route", "This is not there yet.");
    },
  }),
];
