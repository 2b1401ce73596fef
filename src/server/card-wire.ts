/** The card: everything that somebody sees before they decide, in one answer, made from the canonical bytes. */
import { z } from "zod";
import { MOVES } from "../approvals/rules/card.ts";
import { TRIED_OUTCOMES } from "../approvals/try-edit.ts";
import { RISK_LEVELS } from "../core/verdict.ts";
import { json, moneySchema, timeSchema } from "./wire.ts";

const count = z.number().int().min(0);

/** What had begun in the same workflow before it was asked, as that stands now: newest first. */
const done = z.object({
  action_id: z.string(),
  tool: z.string(),
  effect_class: z.string(),
  phase: z.string(),
  at: timeSchema,
  args: z.string().meta({ description: "the beginning of the arguments" }),
  can_undo: z.boolean().meta({ description: "going back, the workflow would take it back" }),
  is_undone: z.boolean(),
});

const past = z.object({
  action_id: z.string(),
  approval_id: z.string().nullable(),
  phase: z.string(),
  at: timeSchema,
  args: z.string(),
});

const risk = z
  .object({ level: z.enum(RISK_LEVELS), score: z.number(), conditions: z.array(z.string()) })
  .nullable();

const review = z.object({
  edited_by: z.string().nullable().meta({
    description:
      "who had changed what was reviewed; null where it is the agent's, or what policy made of that",
  }),
  at: timeSchema,
  verdict: z.enum(["approve", "block", "escalate"]),
  rule: z.string(),
  reason: z.string(),
  policy: z.string().meta({ description: "digest of all that was asked, code too" }),
  policy_name: z
    .string()
    .nullable()
    .meta({ description: "of its documents; null where only code was asked, or they are not known here" }),
  risk,
});

export const cardSchema = z.object({
  shown: z
    .string()
    .meta({ description: "digest of all that is shown here; send it with the vote as `shown`" }),
  shown_row: z.string().nullable().meta({
    description:
      "digest of what a row of a list shows: `shown` of a vote from there; null where a row does not show all that it is about",
  }),
  heading: z.string().meta({ description: "what is decided, in Holdpoint's words" }),
  effect_words: z.string().meta({ description: "what is known about repeating and undoing it" }),
  is_irreversible: z.boolean(),
  confirm: z
    .string()
    .nullable()
    .meta({ description: "the word that a person types before they approve; null where none is asked for" }),
  input_schema: json.meta({
    description: "JSON Schema of what can be edited; null where it is not known, or nothing can be",
  }),
  proposed_args: json.meta({
    description: "as the agent proposed them, where policy or people changed them since",
  }),
  reviews: z.array(review).meta({
    description:
      "of an action: what policy said of what is asked, oldest first. The first had people asked; one more for each change that people made since",
  }),
  risk: risk.meta({ description: "of what would run: as the latest review says" }),
  costs: z
    .array(
      z.object({
        budget: z.string(),
        amount: moneySchema,
        left: moneySchema
          .nullable()
          .meta({ description: "in that budget now; null where it is not there, or in another currency" }),
      }),
    )
    .meta({ description: "what the tool expects it to cost, by budget; empty where it costs none" }),
  history: z
    .object({
      agent: z.string(),
      tool: z.string(),
      total: count,
      applied: count,
      refused: count,
      in_doubt: count,
      is_all: z.boolean().meta({ description: "false where only the latest were counted" }),
      latest: z.array(past),
    })
    .nullable()
    .meta({
      description:
        "of the same agent with the same tool: what it had proposed before this was asked, as that stands now",
    }),
  workflow: z
    .object({
      workflow_id: z.string(),
      name: z.string(),
      status: z.string(),
      attempt: z.number(),
      done: z.array(done),
      total: count.meta({ description: "of all that had been; only the latest hundred are listed" }),
      cannot_undo: count,
      since: count.meta({ description: "effects that began since it was asked; none of them is listed" }),
    })
    .nullable()
    .meta({ description: "what had begun in it before this was asked, as that stands now" }),
  rejecting: z
    .object({
      goes_back_to: z.string().nullable().meta({ description: "a checkpoint; null is the start" }),
      is_end: z.boolean().meta({ description: "it cannot go back: the workflow fails" }),
      is_last: z
        .boolean()
        .meta({ description: "having gone back it is not tried again: the workflow fails then" }),
      undone: z.array(z.string()).meta({ description: "tools whose effects would be taken back" }),
      claimed: z.array(z.string()).meta({
        description: "tools whose effects the agent says that it takes back; nobody else knows how",
      }),
      stays: z.array(z.string()).meta({ description: "tools whose effects cannot be" }),
    })
    .nullable()
    .meta({ description: "what a rejection does to the workflow; null where it only is not done" }),
  snapshot: json.meta({ description: "of a checkpoint: its three layers; null otherwise" }),
  you: z.object({
    may_decide: z.boolean(),
    why_not: z.string().nullable().meta({ description: "also where one may only reject" }),
    vote: z.enum(["approve", "reject"]).nullable().meta({ description: "cast in the present stage" }),
    may: z.array(z.enum(MOVES)).meta({
      description:
        "all that can be done with it now. edit: approve it changed; take_back: a seat that was handed over; cancel: the question; revoke: a decision that was not used yet",
    }),
    may_batch: z.boolean().meta({ description: "can be approved in a list, together with others" }),
    why_alone: z
      .string()
      .nullable()
      .meta({ description: "why it is approved only by itself; null where nothing about it says so" }),
    why_reject_alone: z
      .string()
      .nullable()
      .meta({ description: "why it is rejected only by itself; null where nothing about it says so" }),
    rejection_ends: z.boolean().nullable().meta({
      description:
        "whether it is over once they reject it: false where others can still agree to it; null where they may not decide, or nobody is authenticated and it depends on who does",
    }),
  }),
  voters: z.array(
    z.object({
      person: z.string(),
      state: z.enum(["approved", "rejected", "asked"]),
      stage: z.number(),
    }),
  ),
});

const path = z.array(z.union([z.string(), z.number()]));

const change = z.object({
  path,
  before: json.optional().meta({ description: "left out where it was not there" }),
  after: json.optional().meta({ description: "left out where it is not there any more" }),
});

export const triedSchema = z.object({
  outcome: z.enum(TRIED_OUTCOMES).meta({
    description:
      "same: nothing changes; misfit: it does not fit the schema; blocked: policy forbids it; revised: policy would change it; asks: people would be asked anew; stands: it can be approved so; unknown: whoever has the tool decides",
  }),
  args: json.meta({
    description: "all of it, as it would be; where policy would change it, as policy would have it",
  }),
  issues: z.array(z.object({ path, message: z.string() })),
  verdict: z
    .object({ verdict: z.string(), rule: z.string(), reason: z.string(), policy: z.string() })
    .nullable(),
  changes: z.array(change),
});
