/**
 * Requests that were refused, in the stream of what they were about.
 *
 * R1. They change nothing, and only so many are recorded: of one principal, and of all. Later ones are answered in the same
 *     way and leave no entry, so that nobody makes another's stream longer without end.
 * R2. A refusal that decides something, such as that of an edit, is none of these and is always recorded.
 */

/** How many stand in a stream, by whom. */
export type Refusals = { readonly [by: string]: number };
/** Of a state whose stream holds any. */
export type Refused = { readonly refusals?: Refusals };

export const MOST_REFUSALS = { each: 20, all: 200 } as const;

/** Whether one more of this principal is recorded. */
export function hasRoom({ refusals = {} }: Refused, by: string): boolean {
  const all = Object.values(refusals).reduce((sum, count) => sum + count, 0);
  return (refusals[by] ?? 0) < MOST_REFUSALS.each && all < MOST_REFUSALS.all;
}

/** The state with one more. */
export function withRefusal<State extends Refused>(state: State, by: string): State {
  const { refusals = {} } = state;
  return { ...state, refusals: { ...refusals, [by]: (refusals[by] ?? 0) + 1 } };
}

/** What became of the data, as an error says it. */
export function refusalData(what: string, isRecorded: boolean, unchanged: string): string {
  return isRecorded
    ? `The refused ${what} was recorded; ${unchanged}.`
    : `The refused ${what} was not recorded, as so many were before; ${unchanged}.`;
}
