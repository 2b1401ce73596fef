/** Definitions: workflows that some node runs, started by their names at whichever server. */
import { z } from "zod";
import { type Requested, requestByName } from "../../engine/workflow/request.ts";
import { workflowState } from "../../engine/workflow/workflows.ts";
import { principalNamed } from "../agent.ts";
import { principalOf } from "../person.ts";
import { ok, route } from "../route.ts";
import { workflowStatus } from "../seed-surface.ts";
import { idSchema, json } from "../wire.ts";

const body = z.strictObject({
  input: json.optional().meta({ description: "what the workflow is given; {} unless set" }),
  request_id: z.string().min(1).max(500).nullish().meta({ description: "names it for ever" }),
  acts_for: z
    .array(z.string().min(1).max(210))
    .max(100)
    .nullish()
    .meta({ description: "principals for whom it is done; none of them decides about it" }),
  approval_required: z.boolean().optional().meta({ description: "people are asked about every call" }),
  budget: z.string().min(1).max(200).optional(),
  by: z
    .string()
    .min(1)
    .max(210)
    .optional()
    .meta({ description: "who asks; taken from the credential, and refused if it is somebody else" }),
});

const answer = z.object({
  workflow_id: z.string(),
  name: z.string(),
  status: workflowStatus,
  is_new: z.boolean().meta({ description: "false where the request_id had led to it before" }),
  nodes: z
    .number()
    .int()
    .nullable()
    .meta({ description: "how many that are there now have the definition; null where some do not say" }),
  message: z.string(),
});

function messageOf({ isNew, nodes }: Requested, status: z.output<typeof workflowStatus>): string {
  if (!isNew) return `The request id names this workflow already; it is ${status.replaceAll("_", " ")}`;
  if (status !== "initialized") return "Workflow started";
  if (nodes === null) return "Workflow created; it waits for a node that has its definition";
  return nodes > 0
    ? "Workflow created; a node that has its definition takes it up"
    : "Workflow created; no node that is there now says that it has its definition, and it waits for one";
}

export const definitionRoutes = [
  route({
    method: "POST",
    path: "/api/definitions/{name}/start",
    summary: "Start a workflow by its definition's name; whichever node has that runs it",
    description:
      "This server need not have it. The same `request_id` with the same input answers the same workflow, for ever. The input is checked by the node that takes it up: one that does not fit ends the workflow as failed, with the reason.",
    tag: "workflows",
    scope: "workflows:write",
    params: z.object({ name: idSchema }),
    body,
    answers: { 200: answer },
    async handle({ runtime, who, params: { name }, body: given, office }) {
      const { request_id, acts_for, approval_required, budget } = given;
      const made = await requestByName(runtime, name, given.input ?? {}, {
        by: principalOf(who, given.by),
        via: who.via,
        ...(request_id == null ? {} : { requestId: request_id }),
        ...(acts_for == null
          ? {}
          : { actsFor: acts_for.map((one) => principalNamed("person", one, "acts_for")) }),
        ...(approval_required === undefined ? {} : { approvalRequired: approval_required }),
        ...(budget === undefined ? {} : { budget }),
      });
      office.wake();
      const { status } = await workflowState(runtime, made.id);
      const { id: workflow_id, isNew: is_new, nodes } = made;
      return ok({ workflow_id, name, status, is_new, nodes, message: messageOf(made, status) });
    },
  }),
];
