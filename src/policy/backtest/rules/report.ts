/**
 * The report of a back-test, and the argument that it sums over the changes, found by its path: `amount_usd`,
 * `order.total_usd`. A path that no action has is an error, because a sum of nothing would look like a result.
 */

import { HoldpointError } from "../../../kernel/errors.ts";
import { isJsonObject, type Json } from "../../../kernel/json.ts";
import type { MoneyJson } from "../../../kernel/money.ts";
import { closestName } from "../../../kernel/spelling.ts";
import type { PersonDecision } from "./replay-state.ts";

export type FinalVerdict = "approve" | "escalate" | "block";

/** What a policy decided, or would have decided. */
export type PolicySide = {
  readonly verdict: FinalVerdict;
  readonly rule: string;
  readonly reason: string;
  /** The policy changed the arguments first. */
  readonly revised: boolean;
  /** Approvers and terms; only if both sides escalate and these differ. */
  readonly asks?: string;
};

export type VerdictChange = {
  readonly action: string;
  readonly tool: string;
  readonly agent: string;
  readonly at: number;
  readonly workflow: string | null;
  readonly from: PolicySide & { readonly policy: string };
  readonly to: PolicySide;
  /** The human decision; null if there was none. */
  readonly person: {
    readonly decision: PersonDecision;
    readonly by: readonly string[];
    readonly reason: string;
  } | null;
  /** What the policy would have decided about the arguments as a person changed them. */
  readonly edit: PolicySide | null;
  /** Costs declared at the start: the highest per currency. null if the action never started. */
  readonly costs: readonly MoneyJson[] | null;
  /** The argument to sum, in millionths. */
  readonly amount: string | null;
};

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

export type Transition = {
  readonly from: string;
  readonly to: string;
  readonly count: number;
  readonly money: readonly MoneyJson[];
  /** How many never started. Their cost is not in the journal. */
  readonly withoutCost: number;
  /** The sum of the chosen argument in millionths, and how many actions have it. */
  readonly amount: { readonly micros: string; readonly count: number };
};

/** What people decided, and what the policy would have decided without them. */
export type PeopleRow = {
  readonly decision: PersonDecision;
  readonly total: number;
  /** Let through without approval, as proposed or as the policy would have revised it. */
  readonly approve: number;
  readonly escalate: number;
  readonly block: number;
  /** Of those let through: revised to exactly the person's edit. */
  readonly alike: number;
  /** Edits that the policy would have refused. */
  readonly editBlocked: number;
};

export type BacktestReport = {
  readonly policy: { readonly name: string; readonly digest: string };
  readonly since: number | null;
  /** Actions proposed in the period. */
  readonly actions: number;
  readonly compared: number;
  readonly changed: number;
  /** Of those compared: refused by limits of the supervised run itself, which apply regardless of the policy. */
  readonly limited: number;
  /** Of those compared: decided by code in a program. Code cannot be run again, so its recorded decision is used. */
  readonly byCode: number;
  readonly transitions: readonly Transition[];
  readonly people: readonly PeopleRow[];
  /** Rejected or changed by people, but let through by the policy without approval. Review these first. */
  readonly dangers: readonly VerdictChange[];
  readonly changes: readonly VerdictChange[];
  /** Counted above, but not listed. */
  readonly leftOff: { readonly dangers: number; readonly changes: number };
  readonly missing: {
    /** The body of the proposal or of the review was erased. */
    readonly erased: number;
    /** The arguments were stored as an artifact that is gone. */
    readonly gone: number;
    /** Held, refused or withdrawn before a policy judged them. */
    readonly unreviewed: number;
    /** Compared, but part of the history that the policy reads was erased. */
    readonly partHistory: number;
    /** Compared without another document that judged the action and is gone or can only be run by its program. */
    readonly beside: number;
    /** Approval requests and edits whose body was erased. */
    readonly decisions: number;
  };
};

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
