/**
 * Requests that were refused, in the stream of what they were about.
 *
 * R1. They change nothing, and only so many are recorded: of one principal, and of all. Later ones are answered in the same
 *     way and leave no entry, so that nobody makes another's stream longer without end.
 * R2. A refusal that decides something, such as that of an edit, is none of these and is always recorded.
 */
import type { Draft } from "./draft.ts";
import type { NewEvent } from "./event.ts";
import type { StreamRef } from "./stream.ts";

/** How many stand in a stream, by whom. */
export type Refusals = { readonly [by: string]: number };
/** Of a state whose stream holds any. */
export type Refused = { readonly refusals?: Refusals };

export const MOST_REFUSALS = { each: 20, all: 200 } as const;

function hasRoom({ refusals = {} }: Refused, by: string): boolean {
  const all = Object.values(refusals).reduce((sum, count) => sum + count, 0);
  return (refusals[by] ?? 0) < MOST_REFUSALS.each && all < MOST_REFUSALS.all;
}

/** Answers whether there was room for it. */
export function recordRefusal(
  draft: Draft,
  ref: StreamRef,
  state: Refused,
  event: NewEvent & { readonly body: { readonly by: string } },
): boolean {
  const isRecorded = hasRoom(state, event.body.by);
  if (isRecorded) draft.append(ref, [event]);
  return isRecorded;
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
