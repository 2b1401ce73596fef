/** Approvals as the HTTP API returns them, in the spelling of the library. `present.ts` builds them. */
import { z } from "zod";
import { anyJson, id, timestamp, words } from "../kernel/values.ts";
import { RISK_LEVELS } from "../policy/rules/verdict.ts";
import { APPROVAL_STATUSES, COMMENT_CATEGORIES } from "./state.ts";

const names = z.array(z.string()).readonly();
const status = z.enum(APPROVAL_STATUSES);
export const about = z.enum(["action", "checkpoint", "question", "intent"]);
export const title = z
  .string()
  .describe("one line of visible text: the title of the action's tool, or the name of anything else");
/** The subject. Ids of other kinds are null, and `workflow` is null if it was requested outside one. */
const subject = {
  about,
  action: id("action").nullable(),
  workflow: id("workflow").nullable(),
  intent: id("intent").nullable(),
};

export const summaryView = z.object({
  id: id("request").describe("the approval's id"),
  status,
  ...subject,
  name: z.string().describe("of the tool, the checkpoint or the question"),
  title,
  agent: z.string(),
  args: z.string().describe("the beginning of what is decided on"),
  argsHash: z.string(),
  reason: z.string(),
  votes: z.number(),
  quorum: z.number(),
  stage: z.number(),
  stages: z.number(),
  effectClass: z.string(),
  risk: z.enum(RISK_LEVELS).nullable(),
  isIrreversible: z.boolean().describe("once it is done, nobody is known to take it back"),
  isMine: z.boolean().describe("the caller may decide it now and has not decided yet"),
  createdAt: timestamp,
  decideBy: timestamp.nullable(),
  decidedAt: timestamp.nullable(),
  decidedBy: names,
  edited: z.boolean().describe("people changed what was proposed"),
});
export type SummaryView = z.output<typeof summaryView>;

const approversView = z.object({
  quorum: z.number(),
  from: names.nullable(),
  veto: z.boolean(),
  separate: z.boolean(),
  escalateAtHalf: names,
  remindEverySeconds: z.number().nullable(),
});

/**
 * `later`: once the stages before it have agreed. `handed_over`: its time ran out, and the next one is asked instead.
 * `ended`: the approval ended in it, without its agreement. `not_asked`: it ended before.
 */
const STAGE_STATES = ["asked", "later", "met", "handed_over", "ended", "not_asked"] as const;
export type StageState = (typeof STAGE_STATES)[number];
const stageView = z.object({
  stage: z.number().describe("from 1 on"),
  state: z
    .enum(STAGE_STATES)
    .describe(
      "asked: now; later: once those before have agreed; handed_over: its time was up and the next is asked instead; ended: the approval ended in it, without its agreement; not_asked: it ended before",
    ),
  approvers: approversView,
});
const delegationView = z.object({
  from: z.string(),
  to: z.string(),
  stage: z.number(),
  reason: z.string(),
  at: timestamp,
});
/** `allStages`, because `stages` is the number of stages. */
export const stagesView = z.object({
  allStages: z
    .array(stageView)
    .readonly()
    .describe("every stage in its order; one where none were asked for"),
  delegations: z.array(delegationView).readonly().describe("seats that are handed over now"),
});

const voteView = z.object({
  by: z.string(),
  decision: z.enum(["approve", "reject"]),
  note: z.string().nullable(),
  via: z.string(),
  stage: z.number(),
  shown: z.string().nullable().describe("digest of the card, or of the row of a list, that the person saw"),
  at: timestamp,
});
/** Content of a comment. Its optional fields are also command-line flags. */
export const remark = {
  text: words,
  category: z
    .enum(COMMENT_CATEGORIES, { error: `A category is one of ${COMMENT_CATEGORIES.join(", ")}.` })
    .optional()
    .describe(`what kind of comment it is: ${COMMENT_CATEGORIES.join(", ")}`),
};
const commentView = z.object({
  ...remark,
  by: z.string(),
  text: z.string(),
  via: z.string(),
  at: timestamp,
});
const ending = z.object({ at: timestamp, by: names, reason: z.string() }).nullable();

export const approvalView = z.object({
  id: id("request"),
  status,
  ...subject,
  name: z.string(),
  title,
  effectClass: z.string(),
  args: anyJson,
  argsHash: z.string(),
  answerSchema: anyJson,
  preview: anyJson.describe("what the tool shows of it; null where it has no preview"),
  previewFailed: z
    .boolean()
    .describe("`preview` is the text of a failure: nothing is known about what it would do"),
  undo: z.object({ tool: z.string(), args: anyJson }).nullable(),
  agent: z.string(),
  requester: names,
  rationale: z.string().nullable().describe("what the agent says about it; not to be trusted"),
  reason: z.string(),
  rule: z.string(),
  policy: z.string(),
  documents: names.describe("digests of the policy documents that were asked"),
  binding: z.string(),
  approvers: approversView,
  stage: z.number(),
  stages: z.number(),
  ...stagesView.shape,
  votes: z.array(voteView).readonly(),
  comments: z.array(commentView).readonly().describe("what was asked and answered before it was decided"),
  edited: z.boolean(),
  createdAt: timestamp,
  decideBy: timestamp.nullable(),
  executeBy: timestamp.nullable(),
  decided: ending,
  ended: ending,
});
export type StagesView = z.output<typeof stagesView>;
export type ApprovalView = z.output<typeof approvalView>;

export const votedView = approvalView.extend({
  vote: z.object({
    kind: z
      .enum(["recorded", "same", "edit_open"])
      .describe(
        "same: it was cast before; edit_open: a process that has the tool has yet to review the edit",
      ),
    id: id("request").describe("the approval that it counts for"),
  }),
});
export const batchView = z.object({
  id: id("request"),
  ok: z.boolean(),
  status: z.string().nullable(),
  problem: anyJson.describe("as it would have been answered alone; null where ok"),
});

const count = z.number().int().min(0);
/** What needs attention now, in numbers. */
export const attentionView = z.object({
  pending: count,
  mine: count.describe("of those, the ones that the caller may decide and has not decided yet"),
  lookedAt: count.describe("of those that wait longest, so many were looked at"),
  isAll: z.boolean().describe("false where more wait: `mine` is then at least so many, and may be 0"),
  oldestAt: timestamp.nullable().describe("since when the oldest of `mine` waits"),
  nextDeadline: timestamp.nullable().describe("the first one of `mine`"),
  inDoubt: count.describe("0 without the scope actions:read"),
  alerts: count.describe("active alerts; 0 without the scope alerts:read"),
  deadMessages: count.describe("0 without the scope endpoints:read"),
  stopped: count.describe("agents, services and workflows that are stopped; 0 without the scope switch:read"),
  isEmpty: z.boolean().describe("nobody has ever asked for anything here"),
});
export type AttentionView = z.output<typeof attentionView>;
