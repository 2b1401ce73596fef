/** Verbs of remote agents: they propose actions, perform them by a permit, and report. */
import { z } from "zod";
import { receipt, refusalFields } from "../effects/contract.ts";
import { contract, type Library, verb } from "../kernel/contract.ts";
import { agentWhoActs, anyJson, id, jsonValue, micros, timestamp } from "../kernel/values.ts";

const text = z.string().max(10_000);
const toolName = z.string().min(1).max(128);
const texts = z.array(z.string()).readonly();
const action = id("action");

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
export const permitRequest = z.strictObject({ ...permitFields, agent: agentWhoActs });

const proposalFields = {
  tool: toolName,
  args: anyJson.optional(),
  requestId: z.string().min(1).max(200).nullish().describe("the identity of the action, for ever"),
  rationale: text.nullish().describe("for the approvers, as the agent's own words"),
  onBehalfOf: z
    .array(z.string().min(1).max(210))
    .max(100)
    .readonly()
    .nullish()
    .describe(
      "principals for whom it is done; none of them decides about it, so without workflows:write it names nobody but the caller",
    ),
  undo: z
    .strictObject({ tool: toolName, args: anyJson.optional() })
    .nullish()
    .describe(
      "of an action in a workflow: the call by which the agent takes it back when that workflow goes back; people see it and approve it with the rest",
    ),
  ...permitFields,
  agent: agentWhoActs,
};
/** Without the workflow, which a route of a workflow has in its path. */
export const proposalInWorkflow = z.strictObject(proposalFields);
export const proposal = z.strictObject({
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

export const remoteAnswer = z.discriminatedUnion("status", [
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

export type RemoteVerbs = Library<typeof remote>;
export type RemoteProposal = z.input<typeof proposal>;
export type PermitRequest = Pick<z.input<typeof permitRequest>, "holder" | "begin">;
export type OutcomeReport = z.input<typeof report>;
export type RemoteAnswer = z.output<typeof remoteAnswer>;
/** The agent may perform it once, with these arguments, after it is begun. It must report by `reportBy`. */
export type Permit = Extract<RemoteAnswer, { readonly status: "permitted" }>;
