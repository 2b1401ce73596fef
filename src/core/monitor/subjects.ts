/**
 * What a rule keeps, by subject: so many at most. The one that was not heard of for the longest time is forgotten first;
 * one of which an alert stands only when there is no other.
 */
import type { Json } from "../../kernel/json.ts";

export const MOST_SUBJECTS = 10_000;

export type Kept = { readonly holds: boolean };

export type Subjects<State extends Kept> = {
  get(subject: string): State | undefined;
  /** The newest from now on. */
  put(subject: string, state: State): void;
  drop(subject: string): void;
  /** Those that hold. */
  holding(): readonly (readonly [string, State])[];
  save(): Json;
};

export function createSubjects<State extends Kept>(saved: Json, most = MOST_SUBJECTS): Subjects<State> {
  const all = new Map<string, State>(savedPairs<State>(saved));
  const holding = new Set([...all].flatMap(([subject, { holds }]) => (holds ? subject : [])));
  const drop = (subject: string) => {
    all.delete(subject);
    holding.delete(subject);
  };
  return {
    get: (subject) => all.get(subject),
    put(subject, state) {
      drop(subject);
      all.set(subject, state);
      if (state.holds) holding.add(subject);
      if (all.size > most) drop(oldest(all, holding));
    },
    drop,
    holding: () =>
      [...holding].flatMap((subject) => {
        const state = all.get(subject);
        return state === undefined ? [] : [[subject, state] as const];
      }),
    save: () => [...all] as unknown as Json,
  };
}

function oldest(all: ReadonlyMap<string, unknown>, holding: ReadonlySet<string>): string {
  let first = "";
  for (const subject of all.keys()) {
    if (!holding.has(subject)) return subject;
    if (first === "") first = subject;
  }
  return first;
}

export function savedPairs<State>(saved: Json): readonly (readonly [string, State])[] {
  return Array.isArray(saved) ? (saved as unknown as readonly (readonly [string, State])[]) : [];
}
