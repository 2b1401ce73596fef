/**
 * The report of a trial: one list of changes with the proposed arguments (shortened), and one table with sums in words:
 * declared money, and the requested argument.
 */

import { shortFieldsFirst } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { type MoneyJson, moneyText } from "../../kernel/money.ts";
import { actionStream } from "../../kernel/stream.ts";
import { visible } from "../../kernel/text.ts";
import { neverYield, type YieldCheck } from "../../runtime/concurrency.ts";
import type { TenantStore } from "../../stores/store.ts";
import { loadRecordedArgs } from "./replay-journal.ts";
import type { PersonDecision } from "./rules/replay-state.ts";
import { type BacktestReport, changeLabels, type Transition, type VerdictChange } from "./rules/report.ts";

/** The beginning as JSON, short fields first, and the total number of characters. */
type ListedArgs = { readonly text: string; readonly characters: number };

const MOST_LISTED_CHARACTERS = 2_000;

async function readProposedArgs(place: TenantStore, action: string): Promise<ListedArgs | null> {
  const [first] = await place.store.read(place.tenant, actionStream(action), { limit: 1 });
  if (first === undefined || first.body === null) return null;
  const args = await loadRecordedArgs(place, (JSON.parse(first.body) as { readonly args: Json }).args);
  if (args === undefined) return null;
  const text = shortFieldsFirst(args);
  return { text: text.slice(0, MOST_LISTED_CHARACTERS).toWellFormed(), characters: text.length };
}

/** By action; null if erased or gone. */
export async function readListedArgs(
  place: TenantStore,
  actions: Iterable<string>,
  pace: YieldCheck = neverYield,
): Promise<ReadonlyMap<string, ListedArgs | null>> {
  const found = new Map<string, ListedArgs | null>();
  for (const action of actions) {
    found.set(action, await readProposedArgs(place, action));
    await pace();
  }
  return found;
}

const visibleMoney = ({ currency, micros }: MoneyJson): string =>
  visible(moneyText({ currency, micros: BigInt(micros) }));

/** Millionths without a currency. */
export const plainMicros = (micros: string): string =>
  moneyText({ currency: "", micros: BigInt(micros) }).trim();

export const moneyListText = (money: readonly MoneyJson[]): string => money.map(visibleMoney).join(", ");

const actionCount = (count: number): string => `${count} ${count === 1 ? "action" : "actions"}`;

function costless({ withoutCost, count }: Transition): readonly string[] {
  if (withoutCost === 0) return [];
  const many = withoutCost === count ? "none" : `${withoutCost} not`;
  return [`${many} started, so no cost of theirs is recorded`];
}

/** `field`: the argument to sum. */
export function sumsText(transition: Transition, field: string | undefined): readonly string[] {
  const { money, amount } = transition;
  const known = money.length === 0 ? [] : [moneyListText(money)];
  const sum =
    field === undefined
      ? []
      : [`${visible(field)} ${plainMicros(amount.micros)} in ${actionCount(amount.count)}`];
  return [...known, ...sum, ...costless(transition)];
}

export type ListedChange = Pick<VerdictChange, "action" | "tool" | "agent" | "at"> & {
  readonly from: string;
  readonly to: string;
  /** The answer of the policy on trial. */
  readonly rule: string;
  readonly reason: string;
  readonly people: PersonDecision | null;
  /** As proposed; null if erased or gone. */
  readonly args: ListedArgs | null;
};

type ArgsByAction = ReadonlyMap<string, ListedArgs | null>;

/** `same`, `changed` and `unknown` add up to `actions`. */
export type TrialReport = {
  readonly actions: number;
  readonly same: number;
  readonly changed: number;
  /** Rejected or changed by people, but let through without approval. */
  readonly dangers: number;
  /** Not compared: erased, gone, or never judged by a policy. */
  readonly unknown: number;
  readonly changes: readonly {
    readonly from: string;
    readonly to: string;
    readonly count: number;
    readonly sums: readonly string[];
  }[];
  readonly listed: readonly ListedChange[];
};

function listed(change: VerdictChange, args: ArgsByAction): ListedChange {
  const { action, tool, agent, at, to, person } = change;
  const { rule, reason } = to;
  return {
    ...{ action, tool, agent, at, ...changeLabels(change), rule, reason },
    people: person?.decision ?? null,
    args: args.get(action) ?? null,
  };
}

/** Actions that people rejected or changed come first. */
export function sortChanges({ dangers, changes }: BacktestReport): readonly VerdictChange[] {
  const first = new Set(dangers.map(({ action }) => action));
  return [...dangers, ...changes.filter(({ action }) => !first.has(action))];
}

/** `amount`: the argument to sum. */
export function trialReport(
  report: BacktestReport,
  amount: string | undefined,
  args: ArgsByAction = new Map(),
): TrialReport {
  const { actions, compared, changed, transitions, dangers, leftOff } = report;
  return {
    actions,
    same: compared - changed,
    changed,
    dangers: dangers.length + leftOff.dangers,
    unknown: actions - compared,
    changes: transitions.map((row) => {
      const { from, to, count } = row;
      return { from, to, count, sums: sumsText(row, amount) };
    }),
    listed: sortChanges(report).map((change) => listed(change, args)),
  };
}
