/** A suggestion as a standing grant: for a week, as often and as much as in the busiest one. */
import type { Suggestion } from "../../core/backtest/suggest.ts";
import type { Money } from "../../kernel/money.ts";
import { reasonOf } from "./suggested-text.ts";

export const GRANTED_DAYS = 7;

export type SuggestedGrant = {
  readonly tool: string;
  readonly agent: string;
  /** Empty where the tool and the agent say it all. */
  readonly when: string;
  readonly uses: number;
  /** What all uses may come to, and the argument that says what one does; null where none is known to be money. */
  readonly limit: { readonly total: Money; readonly amount: string } | null;
  readonly reason: string;
};

const CURRENCY = /_(usd|eur|gbp|chf|jpy)$/;
const CENT = 10_000n;

/** Money that is bounded, where its name says which. */
function limitOf({ letThrough }: Suggestion): SuggestedGrant["limit"] {
  const found = letThrough.sums.find(({ field }) => CURRENCY.test(field));
  const currency = CURRENCY.exec(found?.field ?? "")?.[1]?.toUpperCase();
  const cents = Math.ceil((found?.weekly ?? Number.NaN) * 100);
  if (found === undefined || currency === undefined || !Number.isSafeInteger(cents)) return null;
  return { total: { currency, micros: BigInt(cents) * CENT }, amount: found.path };
}

/** Null where no grant answers it: a grant is one person's word, and these ask several. */
export function grantOf(suggestion: Suggestion): SuggestedGrant | null {
  const { tool, agent, when, letThrough } = suggestion;
  if (letThrough.weekly === 0) return null;
  const limit = limitOf(suggestion);
  return { tool, agent, when, uses: letThrough.weekly, limit, reason: reasonOf(suggestion) };
}
