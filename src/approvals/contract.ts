/** Verbs of approvals, with their routes and schemas. */

import { z } from "zod";
import {
  contract,
  findVerb,
  type Library,
  listVerb,
  plainVerb,
  type VerbFacts,
  verb,
} from "../kernel/contract.ts";
import {
  actor,
  actorOfAnyKind,
  actorOrAgent,
  anyJson,
  channel,
  duration,
  either,
  id,
  note,
  principal,
  queryFlag,
  spelled,
  timestampUpTo,
  viewer,
  words,
} from "../kernel/values.ts";
import { LONGEST_MS } from "../policy/rules/stages.ts";
import type { ReadCard } from "./card-schema.ts";
import { APPROVAL_ORDERS, type ApprovalOrder, LISTED_STATUSES, MOST_AT_ONCE } from "./state.ts";
import { about, approvalSchema, approvalSummary, batchAnswer, remark, votedSchema } from "./views.ts";

const LONGEST_EXTENSION_MS = 1e12;

export type Approval = z.output<typeof approvalSchema>;
export type ApprovalSummary = z.output<typeof approvalSummary>;
export type ApprovalList = { readonly items: readonly ApprovalSummary[]; readonly next: string | null };
export type Decided = z.output<typeof votedSchema>;
export type BatchAnswer = z.output<typeof batchAnswer>;

/** The credential's person, under the field name of the first clients. */
const voter = spelled("approved_by", actor);
const DIGEST = { error: "a SHA-256 is 64 hexadecimal digits" };
const shown = z
  .string(DIGEST)
  .regex(/^[0-9a-f]{64}$/, DIGEST)
  .optional()
  .describe("of the card, or of the row of a list, that the person saw; recorded with the vote");
const seen = {
  binding: z
    .string()
    .max(200)
    .optional()
    .describe("of what the person saw; a decision on anything else is refused"),
  shown,
  by: voter,
  via: channel,
};
export const decision = z.strictObject({
  note: note.optional(),
  edit: anyJson.optional().describe("fields of what was proposed, replaced"),
  ...seen,
});
export const rejection = z.strictObject({ reason: words, final: z.boolean().optional(), ...seen });

const batchItem = z
  .strictObject({
    id: id("request", z.string().min(1).max(600)),
    binding: z
      .string()
      .max(200)
      .refine((text) => /^[0-9a-f]{64}$/.test(text), { error: "is needed in full" })
      .describe("of what the person saw"),
    decision: z.enum(["approve", "reject"]),
    note: z.string().max(10_000).optional().describe("a rejection needs one"),
    edit: anyJson.optional(),
    shown,
  })
  .refine(({ decision: said, edit }) => said === "approve" || edit === undefined, {
    error: "A rejection has no edit.",
  });

const moreTime = either(
  z.strictObject({
    byMs: duration(LONGEST_EXTENSION_MS, "byMs is a whole number of milliseconds, at least 1.").optional(),
    until: timestampUpTo(
      LONGEST_MS,
      `until is a moment in milliseconds since 1970, ${LONGEST_MS} at the latest.`,
    ).optional(),
    by: actor,
    via: channel,
  }),
  ["byMs", "until"],
  "More time is either byMs or until.",
);

const VOTES = {
  http: "POST /api/approvals/{id}/votes",
  scope: "approvals:decide",
  whenLost: "repeat",
  takes: "decision",
  output: votedSchema,
} as const;
const votes = {
  call: "vote",
  summary: "Approve, approve with an edit, or reject, as the person whose credential it is",
  field: "decision",
} as const;
/** The answer is the approval as it is then. */
const act = <const Http extends `POST /${string}`, In extends z.ZodObject>(
  facts: VerbFacts<Http> & { readonly input: In },
) => verb({ scope: "approvals:decide", ...facts, output: approvalSchema });

/** A cursor of one order is not valid for another. */
const LISTS: { readonly [order in ApprovalOrder]: string } = {
  oldest: "approvals",
  newest: "approvals",
  deadline: "approvals by deadline",
  decided: "approvals by decision",
};

export const approvals = contract({
  name: "approvals",
  owner: "approval",
  verbs: {
    /** Oldest first. `next`: cursor of the following page. */
    list: listVerb({
      http: "GET /api/approvals",
      summary: "Approvals, oldest first; those that wait unless another status is asked for",
      noun: "page",
      description:
        "A request looks at 10000 approvals at most: with filters a page may be short, or empty, and `next_cursor` goes on from there.",
      filters: {
        status: z.enum(LISTED_STATUSES).default("pending"),
        order: z
          .enum(APPROVAL_ORDERS)
          .default("oldest")
          .describe(
            "deadline: the soonest first, and last what has none; only of what is pending. decided: what was decided last first; only of what is not",
          ),
        mine: queryFlag
          .optional()
          .describe("only approvals that the caller may decide and has not decided yet"),
        text: spelled(
          "q",
          z
            .string()
            .min(1)
            .max(200)
            .optional()
            .describe("text in the id, title, name, agent, arguments or reason"),
        ),
        about: about.optional(),
        agent: z.string().min(1).max(200).optional(),
        name: z.string().min(1).max(200).optional(),
        /** Whom `isMine` of each item is about. */
        person: viewer,
      },
      item: approvalSummary,
      cursorName: ({ order }: { readonly order: ApprovalOrder }) => LISTS[order],
    }),
    /** Default status: `pending`. */
    count: verb({
      http: "GET /api/approvals/count",
      summary: "How many approvals have a status; those that wait unless another one is asked for",
      noun: "count",
      takes: "status",
      input: z.strictObject({ status: z.enum(LISTED_STATUSES).default("pending") }),
      positional: "status",
      output: z.number(),
      wrap: "count",
    }),
    find: findVerb({ http: "GET /api/approvals/find", noun: "search" }),
    get: plainVerb({
      http: "GET /api/approvals/{id}",
      summary: "An approval in full: the question, who decides, and the outcome",
      output: approvalSchema,
    }),
    /**
     * `edit` replaces fields of the arguments; the edited action goes through schema and policy again. For a checkpoint
     * it replaces fields of the outputs. For a question it is the answer.
     */
    approve: verb({
      ...VOTES,
      summary: "A vote for it; `edit` replaces fields of the arguments",
      noun: "decision",
      shares: { ...votes, value: "approve" },
      input: decision,
    }),
    /** `final`, for a checkpoint: the workflow is rolled back and not tried again. */
    reject: verb({
      ...VOTES,
      summary: "A vote against it, with a `reason`; `final` when a workflow is not to try again",
      noun: "rejection",
      shares: { ...votes, value: "reject" },
      input: rejection,
    }),
    /** Votes already cast stay valid. */
    extend: act({
      http: "POST /api/approvals/{id}/extend",
      summary: "Give people more time, by seconds or until a moment",
      takes: "more",
      noun: "extension",
      input: moreTime,
    }),
    revoke: act({
      http: "POST /api/approvals/{id}/revoke",
      summary: "Revoke a decision that is not used yet",
      noun: "revocation",
      takes: "said",
      input: z.strictObject({ reason: words, by: actor }),
    }),
    cancel: act({
      http: "POST /api/approvals/{id}/cancel",
      summary: "Withdraw a question that is not answered yet",
      noun: "cancellation",
      takes: "said",
      input: z.strictObject({ reason: words, by: actorOfAnyKind }),
    }),
    delegate: act({
      http: "POST /api/approvals/{id}/delegate",
      summary: "Delegate the caller's vote to another person",
      whenLost: "repeat",
      takes: "handing",
      noun: "delegation",
      input: z.strictObject({ to: principal, reason: words, by: actor, via: channel }),
    }),
    takeBack: act({
      http: "POST /api/approvals/{id}/take-back",
      summary: "Take your seat back before the delegate decides",
      noun: "return of a seat",
      whenLost: "repeat",
      takes: "said",
      input: z.strictObject({ reason: words, by: actor, via: channel }),
    }),
    /** A refused decision does not stop the others. A list that does not match its schema is refused as a whole. */
    decideAll: verb({
      http: "POST /api/approvals/batch",
      scope: "approvals:decide",
      summary: "Several decisions of one person, each on its own binding and with its own answer",
      noun: "batch",
      whenLost: "repeat",
      takes: "items, who",
      positional: "decisions",
      input: z.strictObject({
        decisions: z
          .array(batchItem)
          .min(1)
          .max(MOST_AT_ONCE)
          .refine((items) => new Set(items.map((item) => item.id)).size === items.length, {
            error: "An approval is in the list twice.",
          })
          .readonly(),
        by: spelled("approved_by", actorOfAnyKind),
        via: channel,
      }),
      output: z.array(batchAnswer).readonly(),
      wrap: "decisions",
    }),
    /** By a person who may decide, or by the requesting agent. */
    comment: act({
      http: "POST /api/approvals/{id}/comments",
      orScope: "actions:propose",
      summary:
        "Comment on a pending approval: a question before deciding, or the answer. Kept with the approval and sent to the requester",
      description: "People who may decide, and the agent whose approval it is. It decides nothing.",
      takes: "remark",
      noun: "comment",
      input: z.strictObject({ ...remark, by: actorOrAgent, via: channel }),
    }),
  },
});

export type Approvals = Library<typeof approvals> & {
  /**
   * What a person sees before deciding: the approval, its context, and both in words. `you` in it is about `person`; at a
   * distance, about the person whose credential it is.
   */
  card(id: string, reader?: { readonly person: string }): Promise<ReadCard>;
  /** Ids of approvals that change, in any process. The first batch comes at once, empty: read the state then. */
  follow(signal: AbortSignal): AsyncGenerator<readonly string[]>;
};

type Verbs = (typeof approvals)["verbs"];
/** The verb's input. `person` is null without authentication. */
export type ApprovalPage = Omit<z.output<Verbs["list"]["input"]>, "person"> & {
  readonly person?: string | null | undefined;
};
export type Decision = z.input<typeof decision>;
export type Rejection = z.input<typeof rejection>;
export type Remark = z.input<Verbs["comment"]["input"]>;
export type DelegationRequest = z.input<Verbs["delegate"]["input"]>;
export type Extension = z.input<typeof moreTime>;
export type BatchItem = z.input<typeof batchItem>;
export type Decider = Omit<z.input<Verbs["decideAll"]["input"]>, "decisions">;
