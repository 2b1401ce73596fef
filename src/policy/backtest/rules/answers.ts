/** Schemas of what back-tests, suggestions and explanations answer, and the words of a back-test's changes. */
import { z } from "zod";
import type { Json } from "../../../kernel/json.ts";
import { type MoneyJson, moneyText } from "../../../kernel/money.ts";
import { visible } from "../../../kernel/text.ts";
import { anyJson, id, moneyOnWire, timestamp } from "../../../kernel/values.ts";

/** How a request to people ended; `edited`: they approved something else. */
export const PERSON_DECISIONS = ["rejected", "edited", "approved", "expired", "cancelled"] as const;
export type PersonDecision = (typeof PERSON_DECISIONS)[number];

const count = z.int().min(0);
const FINAL_VERDICTS = ["approve", "escalate", "block"] as const;
export type FinalVerdict = (typeof FINAL_VERDICTS)[number];

/** What a policy decided, or would have decided. */
const policySide = z.object({
  verdict: z.enum(FINAL_VERDICTS),
  rule: z.string(),
  reason: z.string(),
  revised: z.boolean().describe("the policy changed the arguments first"),
  asks: z.string().optional().describe("approvers and terms, if both sides ask people and these differ"),
});
export type PolicySide = z.output<typeof policySide>;

const verdictChange = z.object({
  action: id("action"),
  tool: z.string(),
  agent: z.string(),
  at: timestamp,
  workflow: id("workflow").nullable(),
  from: policySide.extend({ policy: z.string() }),
  to: policySide,
  person: z
    .object({ decision: z.enum(PERSON_DECISIONS), by: z.array(z.string()).readonly(), reason: z.string() })
    .nullable()
    .describe("what people decided; null if nobody was asked"),
  edit: policySide
    .nullable()
    .describe("what the policy would have said of the arguments as a person changed them"),
  costs: z
    .array(moneyOnWire)
    .readonly()
    .nullable()
    .describe("the highest declared cost per currency; null if the action never started"),
  amount: z.string().nullable().describe("the argument to sum, in millionths"),
  args: z
    .object({
      text: z.string().describe("as JSON, short fields first: the beginning of it"),
      characters: count.describe("of the whole"),
    })
    .nullable()
    .optional()
    .describe("of a trial: the proposed arguments; null if they were erased or are gone"),
});
export type VerdictChange = z.output<typeof verdictChange>;

const transition = z.object({
  from: z.string(),
  to: z.string(),
  count,
  money: z.array(moneyOnWire).readonly(),
  withoutCost: count.describe("how many never started: their cost is not in the journal"),
  amount: z
    .object({ micros: z.string(), count })
    .describe("sum of the chosen argument in millionths, and how many actions have it"),
  sums: z.array(z.string()).readonly().describe("money and the sum in words"),
});
export type Transition = z.output<typeof transition>;

/** What people decided, and what the policy would have decided without them. */
const peopleRow = z.object({
  decision: z.enum(PERSON_DECISIONS),
  total: count,
  approve: count.describe("let through without approval, as proposed or as the policy would have revised it"),
  escalate: count,
  block: count,
  alike: count.describe("of those let through: revised to exactly the person's edit"),
  editBlocked: count.describe("edits that the policy would have refused"),
});
export type PeopleRow = z.output<typeof peopleRow>;

export const backtestReport = z.object({
  policy: z.object({ name: z.string(), digest: z.string() }),
  since: timestamp.nullable(),
  actions: count.describe("proposed in the period"),
  compared: count,
  changed: count,
  limited: count.describe(
    "of those compared: refused by limits of the supervised run, which no policy can change",
  ),
  byCode: count.describe("of those compared: decided by code of a program, whose recorded decision is used"),
  transitions: z.array(transition).readonly(),
  people: z.array(peopleRow).readonly(),
  dangers: z
    .array(verdictChange)
    .readonly()
    .describe("rejected or changed by people, but let through by the policy without approval"),
  changes: z.array(verdictChange).readonly(),
  leftOff: z.object({ dangers: count, changes: count }).describe("counted above, but not listed"),
  missing: z.object({
    erased: count.describe("the body of the proposal or of the review was erased"),
    gone: count.describe("the arguments were stored as an artifact that is gone"),
    unreviewed: count.describe("held, refused or withdrawn before a policy judged them"),
    partHistory: count.describe("compared, but part of the history that the policy reads was erased"),
    beside: count.describe(
      "compared without another document, which is gone or can only be run by its program",
    ),
    decisions: count.describe("approval requests and edits whose body was erased"),
  }),
});
export type BacktestReport = z.output<typeof backtestReport>;

const label = ({ verdict, revised }: PolicySide): string =>
  revised && verdict !== "block" ? `${verdict}, revised` : verdict;

/** Labels under which changes are counted. They tell if only the approvers differ. */
export function changeLabels({ from, to }: Pick<VerdictChange, "to"> & { readonly from: PolicySide }): {
  readonly from: string;
  readonly to: string;
} {
  const isOther = to.asks !== undefined && label(from) === label(to);
  return { from: label(from), to: isOther ? `${label(to)}, asks others` : label(to) };
}

const visibleMoney = ({ currency, micros }: MoneyJson): string =>
  visible(moneyText({ currency, micros: BigInt(micros) }));

/** Millionths without a currency. */
export const plainMicros = (micros: string): string =>
  moneyText({ currency: "", micros: BigInt(micros) }).trim();

export const moneyListText = (money: readonly MoneyJson[]): string => money.map(visibleMoney).join(", ");

const actionCount = (total: number): string => `${total} ${total === 1 ? "action" : "actions"}`;

function costless({ withoutCost, count: total }: Omit<Transition, "sums">): readonly string[] {
  if (withoutCost === 0) return [];
  const many = withoutCost === total ? "none" : `${withoutCost} not`;
  return [`${many} started, so no cost of theirs is recorded`];
}

/** `field`: the argument to sum. */
export function sumsText(row: Omit<Transition, "sums">, field: string | null): readonly string[] {
  const { money, amount } = row;
  const known = money.length === 0 ? [] : [moneyListText(money)];
  const sum =
    field === null ? [] : [`${visible(field)} ${plainMicros(amount.micros)} in ${actionCount(amount.count)}`];
  return [...known, ...sum, ...costless(row)];
}

const field = z.string();
const value = anyJson as z.ZodType<Json>;
const fieldCondition = z.discriminatedUnion("kind", [
  z.object({ kind: z.enum(["least", "most"]), field, value: z.number() }),
  z.object({ kind: z.literal("is"), field, value }),
  z.object({ kind: z.literal("one_of"), field, values: z.array(value).readonly() }),
  /** An object, or all arguments if `field` is empty, with only these names. */
  z.object({ kind: z.literal("only"), field, names: z.array(z.string()).readonly() }),
]);
export type FieldCondition = z.output<typeof fieldCondition>;

const texts = z.array(z.string()).readonly();
export const suggestion = z.object({
  tool: z.string(),
  agent: z.string(),
  conditions: z.array(fieldCondition).readonly(),
  when: z.string().describe("the conditions in CEL; empty if the tool is enough"),
  open: texts.describe(
    "arguments for which any value is let through, because there were too many values to list",
  ),
  approved: count,
  people: texts,
  days: count,
  first: timestamp,
  last: timestamp,
  askedBy: texts.describe("the rules that escalated; an approve rule does not outrank them"),
  letThrough: z
    .object({
      total: count,
      undecided: count.describe("without a decision by a person: pending, expired or withdrawn"),
      ofSeveral: count.describe("requests to several people, which a grant by one person does not cover"),
      /** A higher request rate is no reason to grant more. */
      weekly: count.describe("of the others, the most approvals within seven days"),
      sums: z
        .array(
          z.object({
            field: z.string(),
            path: z.string().describe("as written in an expression"),
            sum: z.number(),
            weekly: z.number().describe("the highest sum within seven days that one person may grant"),
          }),
        )
        .readonly(),
    })
    .describe("recorded approval requests that the suggestion would have made unnecessary"),
  keptOut: count.describe("rejections and changes by people that the suggestion does not match"),
});
export type Suggestion = z.output<typeof suggestion>;

/** A rule to narrow by `!(when)`: an approve rule does not outrank it. */
const narrowing = z.object({
  rule: z.string(),
  copy: z
    .string()
    .nullable()
    .describe("id of the rule's copy for this tool, if it also applies to tools that may lack the arguments"),
});
export type Narrowing = z.output<typeof narrowing>;

export const suggestedRule = z.object({
  rule: z.object({ id: z.string(), tool: z.string(), when: z.string() }),
  narrowings: z.array(narrowing).readonly().describe("rules of stored documents that escalated"),
  stillAskedBy: texts.describe("what escalates besides rules, and still does: a risk route, or code"),
});
export type SuggestedRule = z.output<typeof suggestedRule>;

const RULE_STATES = ["decided", "matched", "did_not_match", "other_tool", "shadow", "failed"] as const;
export type RuleState = (typeof RULE_STATES)[number];

export const statedRule = z.object({
  id: z.string(),
  verdict: z.string(),
  state: z.enum(RULE_STATES),
  note: z.string().describe("the condition and the values it read, or why it cannot be evaluated"),
});
export type StatedRule = z.output<typeof statedRule>;
