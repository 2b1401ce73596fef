/** What a back-test says in the end. */
import type { MoneyJson } from "../../kernel/money.ts";
import type { PersonDecision } from "./heard.ts";

export type Spoken = "approve" | "escalate" | "block";

/** What a policy said, or would have said. */
export type Side = {
  readonly verdict: Spoken;
  readonly rule: string;
  readonly reason: string;
  /** It changed the arguments first. */
  readonly revised: boolean;
  /** Whom it asks and on which terms; only where both sides ask people, and not the same. */
  readonly asks?: string;
};

export type Change = {
  readonly action: string;
  readonly tool: string;
  readonly agent: string;
  readonly at: number;
  readonly workflow: string | null;
  readonly from: Side & { readonly policy: string };
  readonly to: Side;
  /** What people decided; null where nobody did. */
  readonly person: {
    readonly decision: PersonDecision;
    readonly by: readonly string[];
    readonly reason: string;
  } | null;
  /** What the policy would have said of the arguments that a person put in their place. */
  readonly edit: Side | null;
  /** Declared when it started: the dearest in each currency. null if it never did. */
  readonly costs: readonly MoneyJson[] | null;
  /** The argument that was asked to be summed up, in millionths. */
  readonly amount: string | null;
};

const label = ({ verdict, revised }: Side): string =>
  revised && verdict !== "block" ? `${verdict}, revised` : verdict;

/** What is counted together. What asks the same verdict of others says so. */
export function labelsOf({ from, to }: Pick<Change, "to"> & { readonly from: Side }): {
  readonly from: string;
  readonly to: string;
} {
  const isOther = to.asks !== undefined && label(from) === label(to);
  return { from: label(from), to: isOther ? `${label(to)}, asks others` : label(to) };
}

export type Transition = {
  readonly from: string;
  readonly to: string;
  readonly count: number;
  readonly money: readonly MoneyJson[];
  /** How many of them never started: what they would have cost is not in the journal. */
  readonly withoutCost: number;
  /** The sum of the chosen argument in millionths, and how many have it. */
  readonly amount: { readonly micros: string; readonly count: number };
};

/** What people decided, and what the policy would have said instead of asking them. */
export type PeopleRow = {
  readonly decision: PersonDecision;
  readonly total: number;
  /** Let through without asking, as the agent proposed it or as the policy would have revised it. */
  readonly approve: number;
  readonly escalate: number;
  readonly block: number;
  /** Of those let through: revised to just what the person made of it. */
  readonly alike: number;
  /** Edits that the policy would have refused. */
  readonly editBlocked: number;
};

export type BacktestReport = {
  readonly policy: { readonly name: string; readonly digest: string };
  readonly since: number | null;
  /** Proposed in that time. */
  readonly actions: number;
  readonly compared: number;
  readonly changed: number;
  /** Of those compared: refused by limits of the supervised run itself, which hold whatever the policy says. */
  readonly limited: number;
  /** Of those compared: decided by code in a program, which cannot be asked again: its part is taken as it was. */
  readonly byCode: number;
  readonly transitions: readonly Transition[];
  readonly people: readonly PeopleRow[];
  /** People rejected or changed them, and the policy would let them through without asking: most of all worth a look. */
  readonly dangers: readonly Change[];
  readonly changes: readonly Change[];
  /** Counted above, not listed. */
  readonly leftOff: { readonly dangers: number; readonly changes: number };
  readonly missing: {
    /** The body of the proposal or of the review was erased. */
    readonly erased: number;
    /** The arguments are kept apart, and are gone. */
    readonly gone: number;
    /** Held, refused or withdrawn before any policy was asked. */
    readonly unreviewed: number;
    /** Compared, but part of the history that the policy looks at was erased. */
    readonly partHistory: number;
    /** Compared without a document that was asked beside it, and is gone or a program's alone. */
    readonly beside: number;
    /** Questions and edits whose body was erased. */
    readonly decisions: number;
  };
};
