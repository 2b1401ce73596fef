/** Verbs of intents (requests of agents to each other and to people), with their routes and schemas. */
import { z } from "zod";
import { contract, findVerb, listVerb, parseInput, plainVerb, verb } from "../../kernel/contract.ts";
import { displayValue } from "../../kernel/text.ts";
import {
  anyJson,
  channel,
  choice,
  duration,
  id,
  jsonValue,
  listOrder,
  reason,
  speaker,
  timestamp,
} from "../../kernel/values.ts";
import { COMPENSATION_INTENT, HUMAN_APPROVAL_INTENT, readRecipient } from "./rules/send.ts";
import { INTENT_STATUSES, LIFECYCLE_STATUSES } from "./stream.ts";

const TYPE = "The type of an intent is a word of letters and digits, such as human_approval.";
const COMPENSATION = `Only a workflow that goes back sends an intent of the type ${COMPENSATION_INTENT}: choose another type.`;
const ADDRESS = "An intent is sent to agent://<name>.";
const LONGEST_MS = 1e12;
const TIME = "The time of an intent is a whole number of milliseconds of at least 1.";

function label(field: string) {
  const error = `The ${field} of an intent is a text of 1 to 200 characters.`;
  return z
    .string({ error })
    .min(1, { error })
    .max(200, { error })
    .refine((text) => text.isWellFormed(), { error });
}
const name = z.string().min(1).max(600);

const brief = {
  id: id("intent"),
  status: z.enum(INTENT_STATUSES),
  /** The status as people and agents of other products know it. */
  lifecycleStatus: z.enum(LIFECYCLE_STATUSES),
  intentType: z.string(),
  /** As the sender wrote it; `to` is the recipient that it names. */
  toAgent: z.string(),
  to: z.string(),
  from: z.string(),
  requestId: z.string().nullable(),
  /** The approval that it opened; null: an agent answers. */
  approval: id("approval").nullable(),
  waitsOn: z.string().nullable().describe("what the recipient waits for"),
  deadline: timestamp.nullable(),
  sentAt: timestamp,
};
const summary = z.object({
  ...brief,
  payload: z.string().describe("the beginning of it"),
  endedAt: timestamp.nullable(),
});
const ended = { at: timestamp, by: z.string() };
export const intent = z.object({
  ...brief,
  payload: jsonValue,
  parent: id("intent").nullable().describe("the intent that caused this one"),
  /** The operation of the workflow that sent it. */
  within: z.object({ workflow: id("workflow"), op: z.string() }).nullable(),
  correlation: z.string().nullable(),
  deliveredAt: timestamp.nullable(),
  acknowledged: z.object({ at: timestamp, by: z.string() }).nullable(),
  end: z
    .discriminatedUnion("status", [
      z.object({ status: z.literal("completed"), ...ended, data: jsonValue }),
      z.object({ status: z.enum(["failed", "timed_out", "cancelled"]), ...ended, reason: z.string() }),
    ])
    .nullable(),
});

/** Why no recipient can answer; undefined if one can. */
function addressFault(intentType: string, toAgent: string): string | undefined {
  if (readRecipient(intentType, toAgent) !== undefined) return undefined;
  return intentType === HUMAN_APPROVAL_INTENT
    ? `"${displayValue(toAgent)}" is not the address of people who approve: write agent://approver, person:<name>, role:<role> or group:<name>.`
    : `"${displayValue(toAgent)}" is not the address of a principal that answers: write agent://<name>, service:<name> or person:<name>.`;
}

const outgoing = z
  .strictObject({
    intentType: z
      .string({ error: TYPE })
      .regex(/^[A-Za-z][A-Za-z0-9_.:-]{0,99}$/, { error: TYPE })
      .refine((type) => type !== COMPENSATION_INTENT, { error: COMPENSATION })
      .describe("what is requested: human_approval asks people; the recipient interprets all other types"),
    toAgent: z
      .string({ error: ADDRESS })
      .max(250, { error: ADDRESS })
      .describe(
        "agent://<name>, service:<name> or person:<name>; for human_approval a person, role or group",
      ),
    payload: anyJson.optional(),
    requestId: label("request id").optional().describe("the same again under it is the same intent"),
    withinMs: duration(LONGEST_MS, TIME)
      .optional()
      .describe("the intent times out after this; default: never"),
    parent: id("intent", label("parent")).optional().describe("the intent that caused this one"),
    correlation: label("correlation")
      .optional()
      .describe("a label of the sender's that several intents share"),
    from: speaker,
    via: channel,
  })
  .superRefine(({ intentType, toAgent }, context) => {
    const message = addressFault(intentType, toAgent);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });

const acting = { by: speaker, via: channel };
const answer = z
  .strictObject({
    data: anyJson.optional().describe("it is completed with this"),
    failed: reason.optional().describe("it failed for this reason"),
    ...acting,
  })
  .refine((given) => "data" in given !== "failed" in given, {
    error: "An answer has either data, or why it failed.",
  });
/** A verb of the recipient. */
const ANSWERS = { scope: "intents:answer", whenLost: "repeat", output: intent } as const;

export const intents = contract({
  name: "intents",
  owner: "intent",
  verbs: {
    list: listVerb({
      http: "GET /api/intents",
      summary: "Intents, newest first, by status, recipient or sender",
      filters: {
        status: choice("An intent's status", INTENT_STATUSES).optional(),
        to: name.optional().describe("a principal, role or group; agent://<name> is the agent"),
        from: name.optional(),
        order: listOrder,
      },
      item: summary,
    }),
    get: plainVerb({ http: "GET /api/intents/{id}", summary: "An intent in full", output: intent }),
    find: findVerb({ http: "GET /api/intents/find" }),
    /** Durable when it resolves. `isKnown`: it was sent before, under the same request id. */
    send: verb({
      http: "POST /api/intents",
      status: 201,
      scope: "intents:send",
      summary:
        "Send an intent: it is durable when this answers; `human_approval` asks people, and is an approval too",
      whenLost: "say",
      mayAsk: ({ intentType }: { readonly intentType: string }) => intentType === HUMAN_APPROVAL_INTENT,
      takes: "intent",
      input: outgoing,
      output: intent.extend({ isKnown: z.boolean() }),
    }),
    acknowledge: verb({
      ...ANSWERS,
      http: "POST /api/intents/{id}/acknowledge",
      summary: "The recipient has it: it is not delivered again",
      takes: "speaker",
      input: z.strictObject(acting),
    }),
    waiting: verb({
      ...ANSWERS,
      http: "POST /api/intents/{id}/waiting",
      summary: "The recipient waits for something, such as another intent: `on`",
      takes: "said",
      input: z.strictObject({ on: name, ...acting }),
    }),
    answer: verb({
      ...ANSWERS,
      http: "POST /api/intents/{id}/answer",
      summary: "The recipient completes it with `data`, or says why it `failed`; the first answer is final",
      takes: "answer",
      input: answer,
    }),
    cancel: verb({
      ...ANSWERS,
      http: "POST /api/intents/{id}/cancel",
      scope: "intents:send",
      summary: "The sender or a person withdraws it; `reason`",
      takes: "said",
      input: z.strictObject({ reason, ...acting }),
    }),
  },
});

type Verbs = (typeof intents)["verbs"];
export type OutgoingIntent = Omit<z.input<typeof outgoing>, "via">;
export type IntentAnswer = Omit<z.input<typeof answer>, "via">;
export type IntentPage = z.input<Verbs["list"]["input"]>;
export type Intent = z.output<typeof intent>;
export type IntentSummary = z.output<typeof summary>;

/** For `ctx.send`, which is no verb. */
export const readOutgoingIntent = (given: unknown): z.output<typeof outgoing> =>
  parseInput("An intent", outgoing, given);
