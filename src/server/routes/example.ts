/** The example: an agent of the server's own that asks people something, for whoever has no agent yet. */
import { z } from "zod";
import { HoldpointError } from "../../kernel/errors.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { WorkflowRequest } from "../../workflows/start.ts";
import { principalOf } from "../person.ts";
import { ok, route } from "../route.ts";
import type { Office } from "../tenants.ts";

export type ExampleStanding = { readonly approval: string | null; readonly workflow: string | null };

/** What the example can be asked. */
export type Asker = {
  /** Whose questions they are. */
  readonly agent: string;
  standing(runtime: Runtime): Promise<ExampleStanding>;
  /** Answers the workflow that will ask. */
  ask(office: Office, request: WorkflowRequest & { readonly via?: string }): Promise<string>;
};

function there(example: Asker | undefined): Asker {
  if (example !== undefined) return example;
  throw new HoldpointError("unknown_route", "This server has no example.", {
    next: "Start it with `holdpoint serve --example`.",
  });
}

/** Undefined where the server was started without it. */
export function exampleRoutes(example: Asker | undefined) {
  return [
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
      async handle({ runtime }) {
        const { approval, workflow } = (await example?.standing(runtime)) ?? {
          approval: null,
          workflow: null,
        };
        return ok({ is_there: example !== undefined, approval_id: approval, workflow_id: workflow });
      },
    }),
    route({
      method: "POST",
      path: "/api/example",
      summary: "Have the example ask once more",
      tag: "desk",
      scope: "workflows:write",
      body: z.strictObject({
        by: z
          .string()
          .min(1)
          .max(210)
          .optional()
          .meta({ description: "who asks; taken from the credential, and refused if it is somebody else" }),
      }),
      answers: { 202: z.object({ workflow_id: z.string() }) },
      mayAsk: async () => true,
      ...(example === undefined ? {} : { asker: example.agent }),
      async handle({ office, who, body }) {
        const by = principalOf(who, body.by);
        return { status: 202, body: { workflow_id: await there(example).ask(office, { by, via: who.via }) } };
      },
    }),
  ];
}
