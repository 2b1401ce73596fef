/**
 * Verbs of remote agents: they propose actions, perform them by a permit, and report; and they drive workflows. The route
 * that creates such a workflow is the seed's (`seed-routes.ts`).
 */
import { z } from "zod";
import { receipt, refusalFields } from "../effects/contract.ts";
import { contract, type Library, plainVerb, verb } from "../kernel/contract.ts";
import {
  agentWhoActs,
  anyJson,
  duration,
  id,
  jsonValue,
  micros,
  reason,
  spelled,
  timestamp,
  writtenDuration,
} from "../kernel/values.ts";
import { MOST_QUORUM } from "../policy/rules/verdict.ts";
import { many, snapshot, workflowStatus } from "../workflows/views.ts";

const approverNames = z.array(z.string().min(1).max(210)).max(1_000).readonly();
const approverRule = {
  quorum: z.int().min(1).max(MOST_QUORUM).optional(),
  from: approverNames.nullable().optional(),
  veto: z.boolean().optional(),
  separate: z.boolean().optional(),
  escalateAtHalf: approverNames.optional().describe("more approvers, from half time on"),
  remindEveryMs: writtenDuration.optional().describe("interval of reminders: 30m, 4h, 1d"),
};
const LONGEST_SECONDS = 1e10;
const STAGE_TIME = "The time of a stage is a whole number of milliseconds of at least 1.";
/** Who decides about a checkpoint that a remote agent declares or reaches, and within which time: as a policy escalates. */
export const checkpointTerms = {
  timeoutSeconds: z
    .int()
    .min(1)
    .max(LONGEST_SECONDS)
    .nullable()
    .optional()
    .describe("default: 300; null: no limit"),
  onTimeout: z.enum(["expire", "escalate", "extend"]).optional(),
  approvers: z.strictObject(approverRule).optional(),
  stages: z
    .array(
      z.strictObject({
        ...approverRule,
        decideWithinMs: spelled("timeout_seconds", duration(LONGEST_SECONDS * 1_000, STAGE_TIME).optional()),
      }),
    )
    .min(1)
    .max(10)
    .readonly()
    .optional()
    .describe("instead of approvers: each stage is asked after the one before has approved"),
};

const text = z.string().max(10_000);
const toolName = z.string().min(1).max(128);
const texts = many(z.string());
const action = id("action");
const requestId = z.string().min(1).max(200).nullish();

/** Exact: errors never contain the value, because a holder is a secret. */
const holder = z
  .string()
  .regex(/^[A-Za-z0-9_-]{22,200}$/, { error: "a random text of 22 to 200 letters, digits, - and _" })
  .describe(
    "a secret text that the agent made at random, of at least 128 bits, and stored before it asked; only its digest is kept",
  );
/** How a permit is requested. */
const permitFields = {
  holder: holder.nullish(),
  begin: z
    .boolean()
    .nullish()
    .describe("begin the permit in the commit that issues it; without a holder it always is"),
};
const permitRequest = z.strictObject({ ...permitFields, agent: agentWhoActs });

const proposalFields = {
  tool: toolName,
  args: anyJson.optional(),
  requestId: requestId.describe("the identity of the action, for ever"),
  rationale: text.nullish().describe("for the approvers, as the agent's own words"),
  onBehalfOf: z
    .array(z.string().min(1).max(210))
    .max(100)
    .readonly()
    .nullish()
    .describe(
      "principals for whom it is done; none of them may decide; without workflows:write only the caller itself",
    ),
  undo: z
    .strictObject({ tool: toolName, args: anyJson.optional() })
    .nullish()
    .describe(
      "of an action in a workflow: the call by which the agent undoes it in a rollback; people see it and approve it with the action",
    ),
  ...permitFields,
  agent: agentWhoActs,
};
const proposal = z.strictObject({
  ...proposalFields,
  workflow: id("workflow").nullish().describe("the workflow that it belongs to, which this agent drives"),
});

const permit = z.object({
  status: z
    .literal("permitted")
    .describe("with `begun`: perform it now, once, with these arguments; else begin it first"),
  action,
  effect: id("effect"),
  tool: z.string(),
  key: z.string().describe("for the receiver: the same whenever one asks again"),
  args: jsonValue.describe("as approved; people or the policy may have changed them"),
  approvedBy: texts,
  notes: texts,
  reportBy: timestamp,
  executeBy: timestamp.nullable().describe("begin it before this; null: before the report is due"),
  begun: z.boolean().describe("it may be performed; without it, begin the permit first"),
  handedOut: z
    .number()
    .describe("how often: more than once only where the effect class allows a second performance"),
});

const pending = z.discriminatedUnion("waitingFor", [
  z.object({
    status: z.literal("pending"),
    waitingFor: z.literal("approval").describe("people are asked"),
    action,
    approval: id("approval"),
    decideBy: timestamp.nullable(),
  }),
  z.object({
    status: z.literal("pending"),
    waitingFor: z.literal("holder").describe("another holder has the permit"),
    action,
    reportBy: timestamp.describe("by then it has an outcome, or is in doubt"),
  }),
  z.object({
    status: z.literal("pending"),
    waitingFor: z.enum(["kill_switch", "budget"]),
    action,
    ...refusalFields,
  }),
]);

const remoteAnswer = z.discriminatedUnion("status", [
  permit,
  pending,
  z.object({
    status: z.literal("refused").describe("nothing ran, and nothing will under this request id"),
    action,
    approval: id("approval").nullable(),
    ...refusalFields,
  }),
  z.object({
    status: z.enum(["done", "failed", "in_doubt"]).describe("the outcome of the started effect"),
    action,
    receipt,
    result: jsonValue,
  }),
]);

const report = z.strictObject({
  status: z.enum(["applied", "not_applied", "unknown"]),
  result: anyJson.optional().describe("of what was applied"),
  reason: text.nullish().describe("why not, or why nobody knows"),
  spent: z
    .record(z.string(), micros)
    .nullish()
    .describe("what it really cost: micros, as text, by budget; what was reserved unless set"),
  agent: agentWhoActs,
});

export const remote = contract({
  name: "remote",
  owner: "action",
  resource: "actions",
  tag: "actions",
  verbs: {
    /** An agent proposes an action to perform itself. */
    propose: verb({
      http: "POST /api/actions",
      scope: "actions:propose",
      summary:
        "Propose what one wants to perform oneself: a permit, a question to people, a refusal, or the receipt",
      description:
        "The same request_id always leads to the same action; once people have approved it, the answer is the permit. A permit that is not begun is handed out to its holder alone; what happens when one that was begun is asked for again depends on the effect class: a `once` effect is then in doubt. A tool that this server has a function for is performed here.",
      takes: "proposal",
      input: proposal,
      output: remoteAnswer,
    }),
    /** The agent returns to its proposal. */
    start: verb({
      http: "POST /api/actions/{id}/start",
      scope: "actions:propose",
      summary: "Come back to what one proposed: the permit, once people have approved it",
      // A repeated request returns the same, unless a permit has ended since.
      whenLost: "none",
      repeatable: true,
      takes: "request",
      input: permitRequest,
      output: remoteAnswer,
    }),
    /** The agent may perform it only after `permitted` with `begun: true`. */
    begin: verb({
      http: "POST /api/actions/{id}/begin",
      scope: "actions:propose",
      summary: "Begin a permit that was issued to this holder; perform it only after this was answered",
      description:
        "Asked again it is a permit that was begun and asked for again, by its effect class: a `once` effect is then in doubt. An agent that lost the answer and still runs has performed nothing: it reports not_applied.",
      whenLost: "none",
      takes: "permit",
      input: z.strictObject({ holder, agent: agentWhoActs }),
      output: remoteAnswer,
    }),
    report: verb({
      http: "POST /api/actions/{id}/outcome",
      scope: "actions:propose",
      summary: "Report the outcome of a permitted action; once, by the time in the permit",
      whenLost: "repeat",
      takes: "report",
      input: report,
      output: z.object({
        kind: z.enum(["reported", "late"]).describe("late: it is in doubt, and this is testimony"),
        action,
        receipt,
      }),
    }),
  },
});

const object = z.record(z.string(), anyJson);
const checkpoint = z.strictObject({
  checkpoint: spelled(
    "checkpoint_id",
    z
      .string()
      .min(1)
      .max(100)
      .describe(
        "its id or name; one that was not declared asks people too, and only there the agent may say who decides and how long they have",
      ),
  ),
  executionState: object
    .nullish()
    .describe(
      "agent_memory, api_calls, intermediate_outputs, decision_trace, resource_consumption; other fields are stored with the memory",
    ),
  summary: text.nullish(),
  decisionNeeded: text.nullish(),
  context: object.nullish(),
  recommendation: z.enum(["approve", "modify", "reject"]).nullish(),
  confidence: z.number().min(0).max(1).nullish(),
  confidenceScores: z.record(z.string(), z.number()).nullish(),
  inputs: object.nullish(),
  outputs: object.nullish().describe("what people may modify"),
  artifacts: z.array(anyJson).max(1_000).readonly().nullish(),
  nextSteps: z.array(text).max(1_000).readonly().nullish(),
  risk: anyJson.nullish(),
  ...checkpointTerms,
  requestId,
  agent: agentWhoActs,
});

const reached = z.object({
  kind: z
    .enum(["waiting", "passed", "decided"])
    .describe(
      "waiting: people are asked. passed: the agent may go on. decided: not approved, or undone later; the workflow is rolling back, was rolled back or has failed",
    ),
  checkpoint: z.string(),
  approval: id("approval").nullable(),
  snapshot: snapshot.nullable().describe("what was captured; null if people did not approve"),
  status: workflowStatus,
  attempt: z.number(),
});

const compensation = z.object({
  workflow: id("workflow"),
  agent: z.string().describe("the agent that performed the effect"),
  undoes: z.string().describe("the action that it undoes; tool, args and result are those of that action"),
  tool: z.string(),
  args: jsonValue,
  result: jsonValue,
  undo: z
    .object({ tool: z.string(), args: jsonValue })
    .nullable()
    .describe("the undo that the agent declared with its proposal"),
  attempt: z.number().describe("from 1 on"),
  action: action.nullable().describe("the action of the undo, after the agent has requested it"),
  reason: z.string().describe("why the workflow is rolled back"),
  by: z.string().describe("who requested that"),
});

/** A move of a workflow by its agent. */
const MOVES = { scope: "workflows:drive", takes: "said", output: workflowStatus, wrap: "status" } as const;

export const remoteWorkflows = contract({
  name: "remote.workflows",
  owner: "workflow",
  resource: "workflows",
  tag: "workflows",
  scopes: "workflows",
  door: "remote",
  verbs: {
    start: verb({
      ...MOVES,
      http: "POST /api/workflows/{id}/start",
      summary: "Start the workflow, as its agent",
      whenLost: "repeat",
      input: z.strictObject({ agent: agentWhoActs }),
    }),
    checkpoint: verb({
      http: "POST /api/workflows/{id}/checkpoints",
      call: "reach",
      scope: "workflows:drive",
      noun: "checkpoint",
      summary:
        "Reach a checkpoint: its state is captured, and people are asked if the checkpoint requires it",
      description:
        "A checkpoint is reached once under a request_id. A repeated request returns the same result; another checkpoint or other content is 409. `last_decision` of the workflow has the decision.",
      mayAsk: () => true,
      takes: "checkpoint",
      input: checkpoint,
      output: reached,
    }),
    /** `remote.propose` with the workflow in the path. */
    propose: verb({
      http: "POST /api/workflows/{id}/actions",
      scope: "actions:propose",
      noun: "action",
      summary: "Propose an action in the workflow, for its agent to perform",
      takes: "proposal",
      input: z.strictObject(proposalFields),
      output: remoteAnswer,
    }),
    complete: verb({
      ...MOVES,
      http: "POST /api/workflows/{id}/complete",
      summary: "Complete the workflow; refused while one of its actions is open",
      whenLost: "repeat",
      input: z.strictObject({ result: anyJson.optional(), agent: agentWhoActs }),
    }),
    fail: verb({
      ...MOVES,
      http: "POST /api/workflows/{id}/fail",
      summary: "Fail the workflow; with `rollback_enabled` its effects are undone first",
      whenLost: "repeat",
      input: z.strictObject({ reason, agent: agentWhoActs }),
    }),
    outstanding: plainVerb({
      http: "GET /api/workflows/{id}/compensations",
      call: "compensations",
      summary: "The compensation that the agent has to perform now; at most one",
      description:
        "`settling` is true while the workflow rolls back and the next compensation is not known yet: an action is being withdrawn, is not reported, is in doubt, or is undone by the server. Ask again.",
      output: z.object({ compensations: many(compensation), settling: z.boolean() }),
    }),
    compensate: verb({
      http: "POST /api/workflows/{id}/compensations/{action}/start",
      scope: "actions:propose",
      noun: "request",
      summary: "Undo that action: the undo is an action of its own, permitted and reported like any other",
      whenLost: "none",
      repeatable: true,
      takes: "request",
      input: permitRequest,
      output: remoteAnswer,
    }),
  },
});

export type RemoteVerbs = Library<typeof remote>;
export type RemoteProposal = z.input<typeof proposal>;
export type RemoteWorkflowVerbs = Library<typeof remoteWorkflows>;
/** What an agent submits at a checkpoint. */
export type RemoteCheckpointRequest = z.input<typeof checkpoint>;
export type RemoteCheckpointResult = z.output<typeof reached>;
/** An undo that the agent has to perform now. */
export type Compensation = z.output<typeof compensation>;
export type PermitRequest = Pick<z.input<typeof permitRequest>, "holder" | "begin">;
export type OutcomeReport = z.input<typeof report>;
export type RemoteAnswer = z.output<typeof remoteAnswer>;
/** The agent may perform it once, with these arguments, after it is begun. It must report by `reportBy`. */
export type Permit = Extract<RemoteAnswer, { readonly status: "permitted" }>;
