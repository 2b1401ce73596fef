/**
 * Windows in turn: every case has its first before any has its second, and every other round goes backwards, so that a
 * machine that becomes slower or faster does so for all. A case that fails is left out of later rounds.
 */
export type Turn<One, Result> = {
  readonly cases: readonly One[];
  readonly rounds: number;
  measure(one: One, round: number): Promise<Result>;
  failed(one: One, error: unknown): void;
};

export async function interleave<One, Result>(turn: Turn<One, Result>): Promise<Map<One, Result[]>> {
  const results = new Map<One, Result[]>(turn.cases.map((one) => [one, []]));
  for (let round = 0; round < turn.rounds; round++) {
    const order = [...results.keys()];
    for (const one of round % 2 === 0 ? order : order.reverse()) {
      try {
        results.get(one)?.push(await turn.measure(one, round));
      } catch (error) {
        results.delete(one);
        turn.failed(one, error);
      }
    }
  }
  return results;
}
