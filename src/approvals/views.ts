/** What is answered of approvals: a row of a list, one in full, a vote, and several decisions. */
import { z } from "zod";
import type { Json } from "../kernel/json.ts";
import { anyJson, duration, failure, id, timestamp, words } from "../kernel/values.ts";
import { LONGEST_MS } from "../policy/rules/stages.ts";
import { RISK_LEVELS } from "../policy/rules/verdict.ts";
import { APPROVAL_STATUSES, COMMENT_CATEGORIES, STAGE_STATES } from "./state.ts";

const names = z.array(z.string()).readonly();
const json = anyJson as unknown as z.ZodType<Json>;
const list = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();
const span = duration(LONGEST_MS, "A time is a whole number of milliseconds.");
export const about = z.enum(["action", "checkpoint", "question", "intent"]);
/** What it is about. Ids of other kinds are null, and `workflow` is null if it was requested outside one. */
const subject = {
  about,
  action: id("action").nullable(),
  workflow: id("workflow").nullable(),
  intent: id("intent").nullable(),
  tool: z.string().describe("the tool; the name of anything else that is asked"),
  title: z
    .string()
    .describe("one line of visible text: the title of the action's tool, or the name of anything else"),
};
const deadlines = { decideBy: timestamp.nullable(), executeBy: timestamp.nullable() };

export const approvalSummary = z.object({
  id: id("request").describe("the approval's id"),
  status: z.enum(APPROVAL_STATUSES),
  ...subject,
  agent: z.string(),
  args: z.string().describe("the beginning of what is decided on"),
  argsHash: z.string(),
  preview: z.string().nullable().describe("the beginning of what the tool shows of it"),
  previewFailed: z.boolean().describe("`preview` is the text of a failure"),
  reason: z.string(),
  votes: z.number(),
  quorum: z.number(),
  from: names.nullable().describe("who may decide now; null for any person"),
  stage: z.number(),
  stages: z.number(),
  edit: z.boolean().describe("an edit waits for review"),
  effectClass: z.string(),
  risk: z.enum(RISK_LEVELS).nullable(),
  isIrreversible: z.boolean().describe("once it is done, no way to undo it is known"),
  isMine: z.boolean().describe("the caller may decide it now and has not decided yet"),
  requestedAt: timestamp,
  decideBy: timestamp.nullable(),
  atDeadline: z.enum(["expire", "escalate", "extend"]),
  decidedAt: timestamp.nullable(),
  decidedBy: names,
  edited: z.boolean().describe("people changed what was proposed"),
});

const approverRule = z.object({
  quorum: z.number(),
  from: names.nullable().describe("null for any person"),
  veto: z.boolean().describe("one rejection ends it"),
  separate: z.boolean().optional(),
  escalateAtHalf: names.optional(),
  remindEveryMs: span.optional(),
});
const stage = z.object({
  stage: z.number().describe("from 1 on"),
  state: z
    .enum(STAGE_STATES)
    .describe(
      "asked: now; later: once those before have agreed; handed_over: its time was up and the next is asked instead; ended: the approval ended in it, without its agreement; not_asked: it ended before",
    ),
  approvers: approverRule,
});
const entry = { by: z.string(), via: z.string(), at: timestamp };
const inStage = { stage: z.number().optional().describe("only if there are several") };
const decided = {
  ...entry,
  note: z.string().nullable(),
  shown: z.string().optional().describe("digest of the card, or of the row of a list, that the person saw"),
};
const vote = z.object({
  ...decided,
  ...inStage,
  decision: z.enum(["approve", "reject"]),
  binding: z.string(),
  final: z.literal(true).optional(),
});
const openEdit = z.object({
  by: z.string(),
  via: z.string(),
  note: decided.note,
  shown: decided.shown,
  args: json,
  argsDigest: z.string(),
  seen: z.string().optional(),
});
export const riskSchema = z.object({
  score: z.number(),
  level: z.enum(RISK_LEVELS),
  conditions: names,
  document: z.string().optional(),
});
/** The verdict of a rule on trial. */
export const shadowSchema = z.object({
  rule: z.string(),
  verdict: z.string(),
  reason: z.string(),
  document: z.string().optional(),
});
const editRefused = z.object({
  by: z.string(),
  rule: z.string(),
  reason: z.string(),
  policy: z.string().optional(),
  documents: names.optional(),
  risk: riskSchema.optional(),
  risks: list(riskSchema).optional(),
  shadow: list(shadowSchema).optional(),
});
/** Content of a comment. Its optional fields are also command-line flags. */
export const remark = {
  text: words,
  category: z
    .enum(COMMENT_CATEGORIES, { error: `A category is one of ${COMMENT_CATEGORIES.join(", ")}.` })
    .optional()
    .describe(`what kind of comment it is: ${COMMENT_CATEGORIES.join(", ")}`),
};
const comment = z.object({
  by: z.string(),
  text: z.string(),
  category: remark.category,
  via: z.string(),
  at: timestamp,
});
const extension = z.object({ ...entry, ...inStage, from: timestamp, decideBy: timestamp });
const delegation = z.object({ ...entry, ...inStage, to: z.string(), reason: z.string() });
const ending = z.object({ at: timestamp, by: names, reason: z.string() }).nullable();

/** An approval in full: the question, who may decide, and the outcome. */
export const approvalSchema = z.object({
  id: id("request"),
  status: z.enum(APPROVAL_STATUSES),
  ...subject,
  op: z.string().nullable().describe("of a workflow's checkpoint or question: its operation"),
  effectClass: z.string(),
  schema: z.string().describe("digest of the input schema"),
  args: json,
  argsDigest: z.string(),
  answerSchema: json.optional().describe("JSON Schema of the answer, if the question defines one"),
  preview: z
    .object({ value: json, failed: z.boolean(), digest: z.string() })
    .optional()
    .describe("what the tool shows of it; `failed`: `value` is the text of a failure"),
  undo: z.object({ tool: z.string(), args: json, argsDigest: z.string() }).optional(),
  agent: z.string(),
  requester: names,
  apart: names.optional().describe("poster and executor of the work, if duties are kept apart"),
  rationale: z.string().nullable().describe("what the agent says about it; not to be trusted"),
  titleTemplate: z.string().optional(),
  reason: z.string(),
  rule: z.string(),
  policy: z.string(),
  documents: names.optional().describe("digests of the policy documents that were asked"),
  risk: z.enum(RISK_LEVELS).optional(),
  binding: z.string(),
  nonce: z.string(),
  approvers: approverRule.describe("of the stage that is asked now"),
  stage: z.number(),
  stages: list(stage).describe("every stage in its order; one where none were asked for"),
  onTimeout: z.enum(["escalate", "extend"]).optional(),
  atDeadline: approvalSummary.shape.atDeadline.describe("what the present deadline leads to"),
  handedOver: list(z.number()),
  widened: list(z.number()),
  delegations: list(delegation).describe("seats that are handed over now"),
  extensions: list(extension),
  votes: list(vote),
  comments: list(comment).describe("what was asked and answered before it was decided"),
  edit: openEdit.nullable(),
  editRefused: editRefused.nullable(),
  edited: z.boolean(),
  editor: z.string().nullable(),
  showsOther: z.boolean(),
  requestedAt: timestamp,
  ...deadlines,
  asked: z.object({ ...deadlines, approvers: approverRule, at: timestamp }),
  since: timestamp,
  remindedUpTo: timestamp,
  refusals: z.record(z.string(), z.number()).optional(),
  decided: ending,
  ended: ending,
});

/** Result of a vote. `edit_open`: a process with the tool has yet to review the edit. */
export const votedSchema = z.object({
  kind: z
    .enum(["recorded", "same", "edit_open"])
    .describe("same: it was cast before; edit_open: a process that has the tool has yet to review the edit"),
  approval: id("approval").describe("the approval that it counts for"),
  status: z.enum(APPROVAL_STATUSES),
});
export const batchAnswer = z.discriminatedUnion("ok", [
  z.object({ id: id("request"), ok: z.literal(true), decided: votedSchema }),
  z.object({
    id: id("request"),
    ok: z.literal(false),
    error: failure.describe("as it would have been answered alone"),
  }),
]);
