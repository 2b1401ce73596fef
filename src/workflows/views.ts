/** Schemas of what the verbs of workflows answer: a workflow, its timeline, its jobs, where it could be sent back to. */
import { z } from "zod";
import { anyJson, id, jsonValue, moneyOnWire, timestamp } from "../kernel/values.ts";
import { WORKFLOW_STATUSES } from "./state.ts";

const text = z.string();
const optionalTime = timestamp.nullable();
export const many = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();
export const workflowStatus = z.enum(WORKFLOW_STATUSES);

const irreversible = z.object({ op: text, action: id("action"), tool: text });
const irreversibles = many(irreversible).describe("what a rollback could not undo");
const report = z.object({
  undone: many(text).describe("ids of actions"),
  notUndone: many(z.object({ action: id("action"), reason: text })),
  irreversible: irreversibles,
});
export const snapshot = z.object({
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
  input: jsonValue,
  given: text.optional(),
  agent: text,
  requester: many(text),
  parties,
  escrow: moneyOnWire.nullable().describe("recorded; nothing is locked"),
  complexity: text.nullable(),
  checkpoints: many(
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
  notify: text.optional(),
  policies: many(text).optional(),
  isOfOneRun: z.literal(true).optional(),
  isOutside: z.literal(true).optional().describe("a remote agent drives it"),
  parent: z.object({ workflow: id("workflow"), op: text, above: many(text).optional() }).nullable(),
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
  by: many(text),
  reason: text,
  at: timestamp,
  outputs: jsonValue.describe("as they are from then on"),
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
  z.object({ status: z.literal("completed"), at: timestamp, result: jsonValue }),
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

export const workflowDetails = z.object({
  id: id("workflow"),
  ...creation,
  status: workflowStatus,
  attempt: z.number().describe("1-based; grows by one each time it is sent back"),
  createdAt: timestamp,
  changedAt: timestamp,
  seq: z.number(),
  runner: text.nullable().describe("the process that runs it, or the agent that drives it"),
  written: z.number(),
  isReady: z.boolean().describe("no process runs it, and there is work to do"),
  wakeAt: optionalTime,
  waits: many(wait),
  operations: z.number(),
  pending: pending.nullable(),
  passed: many(z.object({ ...passedAt, name: text, seq: z.number(), ...requestId })),
  lastDecision: decision.nullable(),
  tally: z.object({ snapshots: z.number(), questions: z.number(), decisions: z.number() }),
  rollback: z.object(rollback).nullable().describe("in progress"),
  rolledBack: z
    .object({ ...rollback, ...report.shape })
    .nullable()
    .describe("the last that ended"),
  irreversible: irreversibles,
  open: many(text).describe("what it began and has not ended"),
  closing: z.boolean(),
  settledSeq: z.number(),
  forks: many(z.object({ workflow: id("workflow"), seq: z.number() })),
  end: end.nullable(),
  requested: z.object({ by: text, given: text, isDefined: z.boolean() }).optional(),
  refusals: z.record(text, z.number()).optional(),
});

export const timelineRow = z.object({
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
  branch: many(z.number()).describe("numbers of the parallel branches that it is in, outermost first"),
  op: text.nullable(),
  ref: text.nullable().describe("the action, approval or child workflow that has a stream of its own"),
  undoes: text.nullable().describe("the action that an undo is for"),
  status: text.describe(
    "`open` until it has ended; then its outcome: `applied`, `completed`, `rejected`, `undone`",
  ),
  endedSeq: z.number().nullable(),
  endedAt: optionalTime,
  by: many(text),
  reason: text,
  isBack: z.boolean().describe("a rollback has gone back over it"),
  isUndone: z.boolean().describe("its effect was undone"),
  until: optionalTime.describe("when a sleep ends, or a step is retried"),
  checkpoint: z
    .object({
      snapshot,
      canRollback: z.boolean(),
      irreversible: many(irreversible).describe("what a rejection could not undo"),
    })
    .nullable(),
  report: report.nullable().describe("of a rollback that has ended"),
});

export const job = z.object({
  id: id("job").describe("the first is that of x402_setup"),
  kind: z.enum(["main", "approval", "settlement"]),
  name: text,
  status: z.enum(["open", "completed", "failed", "rejected"]),
  openedAt: timestamp,
  closedAt: optionalTime,
  artifactUri: text.nullable(),
  approval: id("approval").nullable(),
  by: many(text),
  reason: text,
});

export const outlook = z.object({
  whyNot: text.nullable().describe("null if it can be rolled back now"),
  targets: many(
    z.object({
      to: text.describe("what a rollback takes as `to`"),
      checkpoint: text.nullable().describe("null for the start"),
      at: timestamp,
      calls: many(
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

/** A workflow in full, with its input and result in their original form. `attempt` is its generation, as in `ctx`. */
export type WorkflowDetails = z.output<typeof workflowDetails>;
export type TimelineRow = z.output<typeof timelineRow>;
export type Job = z.output<typeof job>;
export type RollbackOutlook = z.output<typeof outlook>;
