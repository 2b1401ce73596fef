/** What a back-test found, as one list to look through and one table to sum up. */
import type { PersonDecision } from "../../core/backtest/heard.ts";
import { type BacktestReport, type Change, labelsOf } from "../../core/backtest/report.ts";
import type { ListedArgs } from "./listed-args.ts";
import { sumWords } from "./sum-words.ts";

export type ListedChange = Pick<Change, "action" | "tool" | "agent" | "at"> & {
  readonly from: string;
  readonly to: string;
  /** What the policy on trial says of it. */
  readonly rule: string;
  readonly reason: string;
  readonly people: PersonDecision | null;
  /** As it was proposed; null where that was erased or is gone. */
  readonly args: ListedArgs | null;
};

type Args = ReadonlyMap<string, ListedArgs | null>;

/** `same`, `changed` and `unknown` are all of `actions`. */
export type TrialReport = {
  readonly actions: number;
  readonly same: number;
  readonly changed: number;
  /** People rejected or changed them, and they would be let through without asking. */
  readonly dangers: number;
  /** Not compared: erased, gone, or never before a policy. */
  readonly unknown: number;
  readonly changes: readonly {
    readonly from: string;
    readonly to: string;
    readonly count: number;
    readonly sums: readonly string[];
  }[];
  readonly listed: readonly ListedChange[];
};

function listed(change: Change, args: Args): ListedChange {
  const { action, tool, agent, at, to, person } = change;
  const { rule, reason } = to;
  return {
    ...{ action, tool, agent, at, ...labelsOf(change), rule, reason },
    people: person?.decision ?? null,
    args: args.get(action) ?? null,
  };
}

/** What people rejected or changed comes first. */
export function inOrder({ dangers, changes }: BacktestReport): readonly Change[] {
  const first = new Set(dangers.map(({ action }) => action));
  return [...dangers, ...changes.filter(({ action }) => !first.has(action))];
}

/** `amount`: the argument that was asked to be summed up. */
export function trialReport(
  report: BacktestReport,
  amount: string | undefined,
  args: Args = new Map(),
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
      return { from, to, count, sums: sumWords(row, amount) };
    }),
    listed: inOrder(report).map((change) => listed(change, args)),
  };
}
