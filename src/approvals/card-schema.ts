/** The card: everything a person sees before deciding. The codec and all types are derived from this schema. */
import { z } from "zod";
import { viewCodec } from "../kernel/codec.ts";
import type { Json } from "../kernel/json.ts";
import { id, moneyAmount, timestamp } from "../kernel/values.ts";
import { RISK_LEVELS } from "../policy/rules/verdict.ts";
import { MOVES } from "./state.ts";
import { approvalSchema } from "./views.ts";

const count = z.number().int().min(0);
const json = z.unknown() as z.ZodType<Json>;
const textOrNull = z.string().nullable();
const list = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();

const risk = z
  .object({ level: z.enum(RISK_LEVELS), score: z.number(), conditions: list(z.string()) })
  .nullable();

const review = z.object({
  editedBy: textOrNull.describe(
    "who had changed what was reviewed; null where it is the agent's, or what policy made of that",
  ),
  at: timestamp,
  verdict: z.enum(["approve", "block", "escalate"]),
  rule: z.string(),
  reason: z.string(),
  policy: z.string().describe("digest of all that was asked, code too"),
  policyName: textOrNull.describe(
    "of its documents; null where only code was asked, or they are not known here",
  ),
  risk,
});

const cost = z.object({
  budget: z.string(),
  amount: moneyAmount,
  left: moneyAmount
    .nullable()
    .describe("in that budget now; null where it is not there, or in another currency"),
});

const history = z.object({
  agent: z.string(),
  tool: z.string(),
  total: count,
  applied: count,
  refused: count,
  inDoubt: count,
  isAll: z.boolean().describe("false where only the latest were counted"),
  latest: list(
    z.object({
      action: id("action"),
      approval: id("approval").nullable(),
      phase: z.string(),
      at: timestamp,
      args: z.string(),
    }),
  ),
});

const workflow = z.object({
  workflow: id("workflow"),
  name: z.string(),
  status: z.string(),
  attempt: z.number(),
  attempts: count.describe("in total, before a rejection is final"),
  /** Newest first. */
  done: list(
    z.object({
      action: id("action"),
      tool: z.string(),
      effectClass: z.string(),
      phase: z.string(),
      at: timestamp,
      args: z.string().describe("the beginning of the arguments"),
      canUndo: z.boolean().describe("a rollback of the workflow would undo it"),
      isUndone: z.boolean(),
      cannotUndo: z.boolean().describe("its tool has no undo"),
      isSince: z
        .boolean()
        .describe("began after the checkpoint to which a rejection goes back; true where nothing goes back"),
    }),
  ),
  children: list(z.object({ workflow: id("workflow"), name: z.string(), status: z.string() })).describe(
    "workflows that it had started, newest first; open: under way",
  ),
  total: count.describe("of all that had been; only the latest hundred are listed"),
  cannotUndo: count,
  since: count.describe("effects that began since it was asked; none of them is listed"),
});

/** Tools are listed newest first. */
const rejecting = z.object({
  goesBackTo: textOrNull.describe("a checkpoint; null is the start"),
  isEnd: z.boolean().describe("it cannot go back: the workflow fails"),
  isLast: z.boolean().describe("having gone back it is not tried again: the workflow fails then"),
  undone: list(z.string()).describe("tools whose effects a rollback would undo"),
  claimed: list(z.string()).describe("tools whose effects only the agent says it can undo"),
  stays: list(z.string()).describe("tools whose effects cannot be"),
  permanent: list(z.object({ action: id("action"), tool: z.string() })).describe(
    "each effect of `stays`, also those of workflows that it started and of earlier attempts",
  ),
});

const you = z.object({
  mayDecide: z.boolean(),
  whyNot: textOrNull.describe("also where one may only reject"),
  vote: z.enum(["approve", "reject"]).nullable().describe("cast in the present stage"),
  may: list(z.enum(MOVES)).describe(
    "all that can be done with it now. edit: approve it changed; take_back: a seat that was handed over; cancel: the question; revoke: a decision that was not used yet",
  ),
  mayBatch: z.boolean().describe("can be approved in a list, together with others"),
  whyAlone: textOrNull.describe("why it is approved only by itself; null where nothing about it says so"),
  whyRejectAlone: textOrNull.describe(
    "why it is rejected only by itself; null where nothing about it says so",
  ),
  rejectionEnds: z
    .boolean()
    .nullable()
    .describe(
      "whether their rejection ends it: false where others can still agree to it; null where they may not decide, or where the caller is not authenticated and it depends on who decides",
    ),
});

/** A text in pieces. `time` is RFC 3339; `id` is of an action, an approval or a workflow. */
const textPiece = z.object({ kind: z.enum(["text", "time", "id"]), text: z.string() });

/** A section of the card's document. Values are not in it: they are fields of the approval and of the card. */
const section = z.object({
  part: z.string().describe("what the section is about, for a renderer that places it: `why`, `people`"),
  heading: z.string(),
  tone: z.enum(["green", "yellow", "red", "bold"]).nullable(),
  fields: list(z.object({ label: z.string(), text: list(textPiece) })),
});

const cardSchema = z.object({
  shown: z.string().describe("digest of all that is shown here; send it with the vote as `shown`"),
  shownRow: textOrNull.describe(
    "digest of what a row of a list shows: `shown` of a vote from there; null where a row does not show all that it is about",
  ),
  heading: z.string().describe("what is decided, in Holdpoint's words"),
  title: approvalSchema.shape.title,
  effectWords: z.string().describe("what is known about repeating and undoing it"),
  isIrreversible: z.boolean(),
  confirm: textOrNull.describe(
    "the word that a person types before they approve; null where none is asked for",
  ),
  inputSchema: json.describe(
    "JSON Schema of what can be edited; null where it is not known, or nothing can be",
  ),
  proposedArgs: json.describe("as the agent proposed them, where policy or people changed them since"),
  reviews: list(review).describe(
    "of an action: what policy said of what is asked, oldest first. The first had people asked; one more for each change that people made since",
  ),
  risk: risk.describe("of what would run: as the latest review says"),
  costs: list(cost).describe("what the tool expects it to cost, by budget; empty where it costs none"),
  history: history
    .nullable()
    .describe(
      "of the same agent with the same tool: what it had proposed before this was asked, in its current state",
    ),
  workflow: workflow.nullable().describe("what had begun in it before this was asked, in its current state"),
  rejecting: rejecting
    .nullable()
    .describe("what a rejection does to the workflow; null where it only is not done"),
  snapshot: json.describe("of a checkpoint: its three layers; null otherwise"),
  you,
  voters: list(
    z.object({ person: z.string(), state: z.enum(["approved", "rejected", "asked"]), stage: z.number() }),
  ),
  sections: list(section).describe(
    "what a terminal, a mail, a page and the desk show of it, in words; a section without texts has only values",
  ),
});

export type Card = z.output<typeof cardSchema>;
export const cardCodec = viewCodec(cardSchema);
export const approvalWire = viewCodec(approvalSchema);
export const readCardSchema = z.object({ approval: approvalSchema, card: cardSchema });
export type ReadCard = z.output<typeof readCardSchema>;

const path = list(z.union([z.string(), z.number()]));

/** Result of trying an edit. */
export const triedSchema = z.object({
  outcome: z
    .enum(["same", "misfit", "blocked", "revised", "asks", "stands", "unknown"])
    .describe(
      "same: nothing changes; misfit: it does not fit the schema; blocked: policy forbids it; revised: policy would change it; asks: people would be asked again; stands: it can be approved so; unknown: a process that has the tool decides",
    ),
  args: json.describe("all of it, as it would be; where policy would change it, as policy would have it"),
  issues: list(z.object({ path, message: z.string() })),
  verdict: z
    .object({ verdict: z.string(), rule: z.string(), reason: z.string(), policy: z.string() })
    .nullable(),
  changes: list(
    z.object({
      path,
      before: json.optional().describe("left out where it was not there"),
      after: json.optional().describe("left out where it is not there any more"),
    }),
  ),
});

export type Tried = z.output<typeof triedSchema>;
