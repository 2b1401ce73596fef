/**
 * Verbs of workflows: their history, what operators do to them, and the start by a definition's name. The routes that
 * create, list and read a workflow are the seed's (`src/agents/seed-routes.ts`); the verbs by which a remote agent drives
 * one are in `src/agents/contract.ts`.
 */
import { z } from "zod";
import { isBudgetName } from "../budgets/stream.ts";
import { contract, findVerb, plainVerb, verb } from "../kernel/contract.ts";
import { actorOrAgent, anyJson, id, jsonValue, principal, reason, timestamp } from "../kernel/values.ts";
import { job, many, outlook, timelineRow, workflowDetails, workflowStatus } from "./views.ts";

const MOMENT = "A moment is { seq }, the number of an entry, or { time } in milliseconds.";
const moment = z
  .strictObject({
    seq: z.number({ error: MOMENT }).min(1, { error: MOMENT }).optional().describe("after this entry"),
    time: timestamp.optional().describe("at this time"),
  })
  .refine(({ seq, time }) => seq === undefined || time === undefined, { error: MOMENT });

const REQUEST_ID = { error: "A request id is a text of 1 to 500 characters." };
const BUDGET = {
  error: "A workflow is run with the name of a budget, one that hp.budgets.limit() has opened.",
};
const request = z.strictObject({
  input: anyJson.optional().describe("what the workflow is given; {} unless set"),
  requestId: z
    .string(REQUEST_ID)
    .min(1, REQUEST_ID)
    .max(500, REQUEST_ID)
    .refine((given) => given.isWellFormed(), REQUEST_ID)
    .optional()
    .describe("names it for ever"),
  /** Becomes its poster. Default: the program itself. */
  by: actorOrAgent.optional(),
  onBehalfOf: many(principal)
    .optional()
    .describe("principals for whom it is done; none of them decides about it"),
  approvalRequired: z
    .boolean({ error: "approvalRequired is true or false." })
    .optional()
    .describe("people are asked about every call"),
  budget: z.custom<string>(isBudgetName, BUDGET).optional(),
});

const statement = { reason, by: actorOrAgent };

export const workflows = contract({
  name: "workflows",
  owner: "workflow",
  verbs: {
    /** After an entry, or at a time. Default: now. */
    at: verb({
      http: "GET /api/workflows/{id}/at",
      summary: "Everything about it: now, after an entry, or at a time",
      takes: "moment",
      input: moment,
      output: workflowDetails,
    }),
    /** Operations, decisions, rollbacks with what they undid. Default: until now. */
    timeline: verb({
      http: "GET /api/workflows/{id}/timeline",
      summary: "What happened to it, in order",
      takes: "moment",
      input: moment,
      output: many(timelineRow),
      wrap: "rows",
    }),
    find: findVerb({
      http: "GET /api/workflows/find",
      summary: "Ids that begin with a text, at most ten; or the workflow of a request id",
      description: "A text that does not begin with `wf_` is looked up as a request id.",
    }),
    jobs: plainVerb({
      http: "GET /api/workflows/{id}/jobs",
      summary: "Its history as jobs: one for the workflow, one for each checkpoint, a settlement at the end",
      output: many(job),
      wrap: "jobs",
    }),
    snapshot: plainVerb({
      http: "GET /api/workflows/{id}/checkpoints/{checkpoint}",
      summary: "What a checkpoint captured, by its name or its snapshot's id",
      output: jsonValue,
    }),
    /** Ends it. Effects stay: roll back first to undo them. */
    cancel: verb({
      http: "POST /api/workflows/{id}/cancel",
      // An agent that drives workflows may end its own; `src/api/authenticate.ts` says which these are.
      orScope: "workflows:drive",
      summary: "End it; what was done stays done",
      description:
        "Of programs, those that posted or execute it. Of people, these too, and every admin and supervisor.",
      takes: "said",
      input: z.strictObject(statement),
      output: workflowStatus,
      wrap: "status",
    }),
    rollbackOutlook: plainVerb({
      http: "GET /api/workflows/{id}/rollback",
      summary: "Where it could be sent back to, and what that would do to each of its calls",
      output: outlook,
    }),
    /** Undoes what was done since a checkpoint, newest first; then retries from there, or fails. */
    rollback: verb({
      http: "POST /api/workflows/{id}/rollback",
      summary: "Undo what was done since a checkpoint, newest first; then try again, or fail",
      description: "People only: those who posted or execute it, admins and supervisors.",
      takes: "request",
      input: z.strictObject({
        ...statement,
        to: z
          .string()
          .min(1)
          .max(200)
          .optional()
          .describe("a checkpoint's name, or `start`; the last approved one unless set"),
        after: z.enum(["again", "fail"], { error: "After a rollback comes again or fail." }).default("again"),
      }),
      output: workflowStatus,
      wrap: "status",
    }),
    /**
     * Resolves as soon as it is durable. Any node may have the definition: this program need not. An input that does
     * not fit ends the workflow as failed, with the reason.
     */
    start: verb({
      http: "POST /api/definitions/{name}/start",
      call: "startByName",
      summary: "Start a workflow by its definition's name; any node that has the definition runs it",
      description:
        "This server need not have it. The same `request_id` with the same input answers the same workflow, for ever. The input is checked by the node that takes it up: one that does not fit ends the workflow as failed, with the reason.",
      takes: "input?, request",
      positional: "input",
      input: request,
      output: z.object({
        id: id("workflow"),
        name: z.string(),
        status: workflowStatus,
        isNew: z.boolean().describe("false if the request_id already named it"),
        nodes: z.number().nullable().describe("how many live nodes have the definition; null if unknown"),
      }),
    }),
  },
});

type Verbs = (typeof workflows)["verbs"];
/** After an entry, or at a time in milliseconds. */
export type Moment = { readonly seq: number } | { readonly time: number };
export type WorkflowRequest = Omit<z.input<typeof request>, "input">;
export type Requested = z.output<Verbs["start"]["output"]>;
