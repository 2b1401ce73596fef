/** What the page shows of the report of a back-test: figures, one list of the changes, and verdicts in their order. */
import { type Tone, toneOf } from "../../ui/tone.ts";
import type { Report } from "./policy-queries.ts";

type Change = Report["changes"][number];
type Side = Change["to"];
export type Listed = Pick<Change, "action_id" | "tool" | "agent" | "at"> & {
  readonly from: string;
  readonly to: string;
  readonly rule: string;
  readonly reason: string;
  readonly people: NonNullable<Change["person"]>["decision"] | null;
  /** Null if they were erased or are gone. */
  readonly args: NonNullable<Change["args"]> | null;
};

type Figures = Pick<Report, "actions" | "compared" | "changed" | "dangers" | "left_off">;

/** `same`, `changed` and `unknown` add up to `actions`. */
export const trialFigures = ({ actions, compared, changed, dangers, left_off }: Figures) => ({
  ...{ actions, changed, same: compared - changed, unknown: actions - compared },
  dangers: dangers.length + left_off.dangers,
});

const label = ({ verdict, revised }: Side): string =>
  revised && verdict !== "block" ? `${verdict}, revised` : verdict;

function listed({ action_id, tool, agent, at, from, to, person, args = null }: Change): Listed {
  const asksOthers = to.asks !== undefined && label(from) === label(to);
  return {
    ...{ action_id, tool, agent, at, rule: to.rule, reason: to.reason, args },
    from: label(from),
    to: asksOthers ? `${label(to)}, asks others` : label(to),
    people: person?.decision ?? null,
  };
}

/** What people rejected or changed comes first, and nothing is listed twice. */
export function listedChanges({ dangers, changes }: Pick<Report, "dangers" | "changes">): readonly Listed[] {
  const first = new Set(dangers.map(({ action_id }) => action_id));
  return [...dangers, ...changes.filter(({ action_id }) => !first.has(action_id))].map(listed);
}

const ORDER = ["approve", "revise", "escalate", "block"];

/** A verdict may be said with more: "escalate, revised". */
const bare = (verdict: string): string => verdict.split(",")[0] ?? "";

const rank = (verdict: string): number => {
  const at = ORDER.indexOf(bare(verdict));
  return at === -1 ? ORDER.length : at;
};

export const byStrictness = (one: string, other: string): number =>
  rank(one) - rank(other) || one.localeCompare(other);

export const verdictTone = (verdict: string): Tone => toneOf(bare(verdict));
