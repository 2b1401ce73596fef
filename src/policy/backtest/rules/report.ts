/**
 * The report of a back-test, and the argument that it sums over the changes, found by its path: `amount_usd`,
 * `order.total_usd`. A path that no action has is an error, because a sum of nothing would look like a result.
 */

import { z } from "zod";
import { HoldpointError } from "../../../kernel/errors.ts";
import { isJsonObject, type Json } from "../../../kernel/json.ts";
import { type MoneyJson, moneyText } from "../../../kernel/money.ts";
import { closestName } from "../../../kernel/spelling.ts";
import { visible } from "../../../kernel/text.ts";
import { id, moneyOnWire, timestamp } from "../../../kernel/values.ts";
import { PERSON_DECISIONS } from "./replay-state.ts";

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
    "of those compared: refused by limits of the supervised run, which apply whatever a policy says",
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
    field === null
      ? []
      : [`${visible(field)} ${plainMicros(amount.micros)} in ${actionCount(amount.count)}`];
  return [...known, ...sum, ...costless(row)];
}

const DEEPEST = 4;
const MOST_PATHS = 200;
const MOST_NAMED = 12;

/** The path to find and, until it is found, the paths that exist. */
export type AmountSearch = { readonly path: string; isThere: boolean; readonly others: Set<string> };

export const startAmountSearch = (path: string): AmountSearch => ({
  path,
  isThere: false,
  others: new Set(),
});

/** A key may contain dots. */
function valueAt(args: Json, path: string): Json | undefined {
  if (!isJsonObject(args)) return undefined;
  if (Object.hasOwn(args, path)) return args[path];
  const dot = path.indexOf(".");
  const key = path.slice(0, dot);
  if (dot < 0 || !Object.hasOwn(args, key)) return undefined;
  return valueAt(args[key] ?? null, path.slice(dot + 1));
}

function note(others: Set<string>, args: Json, before = "", depth = 1): void {
  if (!isJsonObject(args) || depth > DEEPEST) return;
  for (const [key, value] of Object.entries(args)) {
    if (others.size >= MOST_PATHS) return;
    if (typeof value === "number") others.add(before + key);
    else note(others, value ?? null, `${before + key}.`, depth + 1);
  }
}

/** In millionths of its unit. */
export function readAmount(sought: AmountSearch | null, args: Json): bigint | null {
  if (sought === null) return null;
  const value = valueAt(args, sought.path);
  if (typeof value !== "number") {
    if (!sought.isThere) note(sought.others, args);
    return null;
  }
  sought.isThere = true;
  const micros = Math.round(value * 1e6);
  return Number.isSafeInteger(micros) ? BigInt(micros) : null;
}

function namesOf({ path, others }: AmountSearch): string {
  if (others.size === 0) return "None of them has a number among its arguments; leave the amount out.";
  const meant = closestName(path, others);
  const list = [...others].filter((one) => one !== meant).toSorted();
  const named = (meant === undefined ? list : [meant, ...list]).slice(0, MOST_NAMED);
  const left = others.size - named.length;
  return `There are: ${named.join(", ")}${left > 0 ? `, and ${left} more` : ""}.`;
}

/** A sum of nothing would look like a result. */
export function checkAmountFound(sought: AmountSearch | null, compared: number): void {
  if (sought === null || sought.isThere || compared === 0) return;
  const meant = closestName(sought.path, sought.others);
  const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
  const what = `None of ${compared} recorded actions has a number "${sought.path}" among its arguments.${hint}`;
  throw new HoldpointError("invalid_input", what, { next: namesOf(sought) });
}
