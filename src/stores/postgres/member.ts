/** One call of `transact` on its way: what it needs, and who waits for its answer. */
import { HoldpointError } from "../../kernel/errors.ts";
import type { Decide, Needs } from "../../kernel/transaction.ts";

import { MOST_ROUNDS } from "../plan.ts";

export type Member = {
  readonly tenant: string;
  /** Grows when the decision asks for more; it is then decided again, from the start, in a later batch. */
  needs: Needs;
  readonly decide: Decide<unknown>;
  /** When it is no longer tried again. */
  readonly deadline: number;
  rounds: number;
  tries: number;
  /** Its batch failed: it is tried by itself. */
  alone: boolean;
  /** It declared nothing to write, and writes artifacts. */
  writes: boolean;
  answer(result: unknown): void;
  refuse(error: unknown): void;
};

export const onlyReads = ({ needs, writes }: Member): boolean =>
  !writes && (needs.write ?? []).length + (needs.names ?? []).length === 0;

/** About how many locks it takes. */
export const weightOf = ({ needs }: Member): number =>
  (needs.write ?? []).length + (needs.read ?? []).length + (needs.names ?? []).length;

/** Throws when a decision asks for more without end. */
export function wantMore(member: Member, more: Needs): void {
  if (++member.rounds >= MOST_ROUNDS)
    throw new HoldpointError("broken_rule", `A decision asked for more streams ${MOST_ROUNDS} times.`);
  const { write = [], read = [], names = [], index = [] } = member.needs;
  member.needs = {
    write: [...write, ...(more.write ?? [])],
    read: [...read, ...(more.read ?? [])],
    names: [...names, ...(more.names ?? [])],
    index: [...index, ...(more.index ?? [])],
  };
}
