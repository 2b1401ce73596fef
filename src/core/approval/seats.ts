/**
 * Seats of a stage that were handed over from one person to another.
 *
 * H1. Whoever handed their seat over may not decide while it is handed over; whoever has it may. Never both.
 * H2. A seat is worth what its first holder is: it is gone when they, or anybody it went through, may not decide any more.
 */
export type Delegation = {
  readonly by: string;
  readonly to: string;
  readonly reason: string;
  readonly via: string;
  /** From 1 on; only where there are several stages. */
  readonly stage?: number;
  readonly at: number;
};

/** From the first holder to the last there are at most that many steps. */
export const MOST_STEPS = 3;

type Pair = Pick<Delegation, "by" | "to">;
export type Standing = {
  /** Never, whoever hands over what. */
  readonly isOut: (person: string) => boolean;
  /** In their own right. */
  readonly isNamed: (person: string) => boolean;
};

/** Whom the seats of a person went through, the nearest first; a person is met once. */
export function originsOf(handed: readonly Pair[], person: string): readonly string[] {
  const met: string[] = [];
  let next = [person];
  while (next.length > 0) {
    next = handed
      .filter(({ to, by }) => next.includes(to) && by !== person && !met.includes(by))
      .map(({ by }) => by);
    met.push(...new Set(next));
  }
  return met;
}

/** Has a seat, or would have if they had not handed it on. */
export function isSeated(
  handed: readonly Pair[],
  person: string,
  standing: Standing,
  steps = MOST_STEPS,
): boolean {
  if (standing.isOut(person)) return false;
  if (standing.isNamed(person)) return true;
  if (steps === 0) return false;
  return handed.some(({ by, to }) => to === person && isSeated(handed, by, standing, steps - 1));
}

export function mayTakePart(handed: readonly Pair[], person: string, standing: Standing): boolean {
  return !handed.some(({ by }) => by === person) && isSeated(handed, person, standing);
}

/** How many steps a seat has gone to come to this person: 0 in their own right. */
export function stepsTo(handed: readonly Pair[], person: string): number {
  const rest = handed.filter(({ to }) => to !== person);
  const before = handed.filter(({ to }) => to === person);
  return before.length === 0 ? 0 : 1 + Math.max(...before.map(({ by }) => stepsTo(rest, by)));
}

/** Everybody a person's seat went on to. */
export function holdersAfter(handed: readonly Pair[], person: string): readonly string[] {
  const next = handed.find(({ by }) => by === person)?.to;
  if (next === undefined) return [];
  const rest = handed.filter(({ by }) => by !== person);
  return [next, ...holdersAfter(rest, next)];
}
