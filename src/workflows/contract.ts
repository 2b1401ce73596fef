/**
 * Verbs of workflows: their history, what operators do to them, and the start by a definition's name. The routes that
 * create, list and read a workflow are the seed's (`src/agents/seed-routes.ts`); a remote agent drives one by those of
 * `src/agents/remote-routes.ts`.
 */
import { z } from "zod";
import { isBudgetName } from "../budgets/stream.ts";
import { contract, findVerb, plainVerb, verb } from "../kernel/contract.ts";
import type { Json } from "../kernel/json.ts";
import { actorOrAgent, anyJson, id, moneyOnWire, principal, reason, timestamp } from "../kernel/values.ts";
import { WORKFLOW_STATUSES } from "./state.ts";

const json = anyJson as z.ZodType<Json, Json>;
const text = z.string();
const optionalTime = timestamp.nullable();
const listOf = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();
const status = z.enum(WORKFLOW_STATUSES);

const irreversible = z.object({ op: text, action: id("action"), tool: text });
const irreversibles = listOf(irreversible).describe("what a rollback could not undo");
const report = z.object({
  undone: listOf(text).describe("ids of actions"),
  notUndone: listOf(z.object({ action: id("action"), reason: text })),
  irreversible: irreversibles,
});
const snapshot = z.object({
  id: id("snapshot"),
  uri: text,
  hash: text,
  bytes: z.number(),
  compressedBytes: z.number(),
});

const party = text.nullable();
const parties = z.object({ poster: party, executor: party, supervisor: party });
const requestId = { requestId: text.optional() };
const passedAt = { op: text, snapshot, approval: id("approval").nullable(), at: timestamp };
const rollback = {
  to: text.nullable().describe("the checkpoint's operation; null for the start"),
  toSeq: z.number(),
  by: text,
  reason: text,
  after: z.enum(["again", "fail"]),
  scope: z.enum(["all", "declared"]),
  rejected: text.nullable(),
};

/** What it was created with. */
const creation = {
  name: text,
  description: text,
  version: text.nullable(),
  input: json,
  given: text.optional(),
  agent: text,
  requester: listOf(text),
  parties,
  escrow: moneyOnWire.nullable().describe("recorded; nothing is locked"),
  complexity: text.nullable(),
  checkpoints: listOf(
    z.object({
      id: text,
      name: text,
      description: text,
      requiresApproval: z.boolean(),
      canRollback: z.boolean(),
      timeoutSeconds: z.number().nullable(),
      asks: anyJson.optional().describe("who is asked and when, as recorded"),
    }),
  ),
  attempts: z.number().describe("in total, before a rejection is final"),
  rollbackEnabled: z.boolean(),
  onIrreversible: z.enum(["fail", "continue"]),
  approvalRequired: z.literal(true).optional(),
  budget: text.optional(),
  policies: listOf(text).optional(),
  isOfOneRun: z.literal(true).optional(),
  isOutside: z.literal(true).optional().describe("a remote agent drives it"),
  parent: z.object({ workflow: id("workflow"), op: text, above: listOf(text).optional() }).nullable(),
  fork: z
    .object({
      workflow: id("workflow"),
      seq: z.number(),
      checkpoint: text,
      passed: z.object(passedAt).optional(),
      upTo: z.number().optional(),
    })
    .nullable(),
};

const decision = z.object({
  checkpoint: text,
  op: text,
  approval: id("approval"),
  decision: z.enum(["approved", "modified", "rejected", "expired", "cancelled"]),
  by: listOf(text),
  reason: text,
  at: timestamp,
  outputs: json.describe("as they are from then on"),
  reachedSeq: z.number(),
  ...requestId,
});

const pending = z.object({
  op: text,
  name: text,
  approval: id("approval"),
  canRollback: z.boolean(),
  snapshot,
  irreversible: irreversibles,
  seq: z.number(),
  monitor: text.optional().describe("the monitor that raised it"),
  ...requestId,
});

const end = z.discriminatedUnion("status", [
  z.object({ status: z.literal("completed"), at: timestamp, result: json }),
  z.object({
    status: z.literal("failed"),
    at: timestamp,
    code: z.enum([
      "error",
      "invalid_args",
      "rejected",
      "expired",
      "cancelled",
      "rollback_failed",
      "rolled_back",
    ]),
    reason: text,
    by: text,
    report: report.nullable(),
  }),
]);

const wait = z.object({
  op: text,
  kind: z.enum([
    "approval",
    "checkpoint",
    "question",
    "sleep",
    "retry",
    "child",
    "intent",
    "doubt",
    "held",
    "definition",
    "node",
  ]),
  on: text,
});

const workflowDetails = z.object({
  id: id("workflow"),
  ...creation,
  status,
  attempt: z.number().describe("1-based; grows by one each time it is sent back"),
  createdAt: timestamp,
  changedAt: timestamp,
  seq: z.number(),
  runner: text.nullable().describe("the process that runs it, or the agent that drives it"),
  written: z.number(),
  isReady: z.boolean().describe("no process runs it, and there is work to do"),
  wakeAt: optionalTime,
  waits: listOf(wait),
  operations: z.number(),
  pending: pending.nullable(),
  passed: listOf(z.object({ ...passedAt, name: text, seq: z.number(), ...requestId })),
  lastDecision: decision.nullable(),
  tally: z.object({ snapshots: z.number(), questions: z.number(), decisions: z.number() }),
  rollback: z.object(rollback).nullable().describe("in progress"),
  rolledBack: z
    .object({ ...rollback, ...report.shape })
    .nullable()
    .describe("the last that ended"),
  irreversible: irreversibles,
  open: listOf(text).describe("what it began and has not ended"),
  closing: z.boolean(),
  settledSeq: z.number(),
  forks: listOf(z.object({ workflow: id("workflow"), seq: z.number() })),
  end: end.nullable(),
  requested: z.object({ by: text, given: text, isDefined: z.boolean() }).optional(),
  refusals: z.record(text, z.number()).optional(),
});

const timelineRow = z.object({
  seq: z.number(),
  at: timestamp,
  kind: z.enum([
    "call",
    "step",
    "sleep",
    "child",
    "question",
    "intent",
    "wait",
    "checkpoint",
    "log",
    "rollback",
    "undo",
    "workflow",
  ]),
  name: text,
  title: text
    .nullable()
    .describe(
      "of a call, and of the call that an undo is for: its tool's title, in visible text; null otherwise",
    ),
  attempt: z.number().describe("1-based; grows by one each time the workflow is sent back"),
  branch: listOf(z.number()).describe("numbers of the parallel branches that it is in, outermost first"),
  op: text.nullable(),
  ref: text.nullable().describe("the action, approval or child workflow that has a stream of its own"),
  undoes: text.nullable().describe("the action that an undo is for"),
  status: text.describe(
    "`open` until it has ended; then its outcome: `applied`, `completed`, `rejected`, `undone`",
  ),
  endedSeq: z.number().nullable(),
  endedAt: optionalTime,
  by: listOf(text),
  reason: text,
  isBack: z.boolean().describe("a rollback has gone back over it"),
  isUndone: z.boolean().describe("its effect was undone"),
  until: optionalTime.describe("when a sleep ends, or a step is retried"),
  checkpoint: z
    .object({
      snapshot,
      canRollback: z.boolean(),
      irreversible: listOf(irreversible).describe("what a rejection could not undo"),
    })
    .nullable(),
  report: report.nullable().describe("of a rollback that has ended"),
});

const job = z.object({
  id: id("job").describe("the first is that of x402_setup"),
  kind: z.enum(["main", "approval", "settlement"]),
  name: text,
  status: z.enum(["open", "completed", "failed", "rejected"]),
  openedAt: timestamp,
  closedAt: optionalTime,
  artifactUri: text.nullable(),
  approval: id("approval").nullable(),
  by: listOf(text),
  reason: text,
});

const rollbackOutlook = z.object({
  whyNot: text.nullable().describe("null if it can be rolled back now"),
  targets: listOf(
    z.object({
      to: text.describe("what a rollback takes as `to`"),
      checkpoint: text.nullable().describe("null for the start"),
      at: timestamp,
      calls: listOf(
        z.object({
          action: id("action"),
          tool: text,
          phase: text,
          at: timestamp,
          undo: z
            .enum(["yes", "no", "nothing", "unknown"])
            .describe("unknown: only a process that has the tool can say"),
        }),
      ),
    }),
  ).describe("nearest first; the calls in the order in which they would be undone"),
});

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
  onBehalfOf: listOf(principal)
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
      output: listOf(timelineRow),
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
      output: listOf(job),
      wrap: "jobs",
    }),
    snapshot: plainVerb({
      http: "GET /api/workflows/{id}/checkpoints/{checkpoint}",
      summary: "What a checkpoint captured, by its name or its snapshot's id",
      output: json,
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
      output: status,
      wrap: "status",
    }),
    rollbackOutlook: plainVerb({
      http: "GET /api/workflows/{id}/rollback",
      summary: "Where it could be sent back to, and what that would do to each of its calls",
      output: rollbackOutlook,
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
      output: status,
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
        name: text,
        status,
        isNew: z.boolean().describe("false if the request_id already named it"),
        nodes: z.number().nullable().describe("how many live nodes have the definition; null if unknown"),
      }),
    }),
  },
});

type Verbs = (typeof workflows)["verbs"];
/** A workflow in full, with its input and result in their original form. `attempt` is its generation, as in `ctx`. */
export type WorkflowDetails = z.output<typeof workflowDetails>;
export type TimelineRow = z.output<typeof timelineRow>;
export type Job = z.output<typeof job>;
export type RollbackOutlook = z.output<typeof rollbackOutlook>;
/** After an entry, or at a time in milliseconds. */
export type Moment = { readonly seq: number } | { readonly time: number };
export type WorkflowRequest = Omit<z.input<typeof request>, "input">;
export type Requested = z.output<Verbs["start"]["output"]>;
