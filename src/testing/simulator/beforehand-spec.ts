/** What is permitted before it is asked for, and what tools show of their calls: drawn apart, for every second seed. */
import { createRandom, type Random } from "./random.ts";
import type { ToolSpec } from "./tool-spec.ts";

export type Beforehand = {
  /** People give standing grants. */
  readonly grants: boolean;
  /** Tools that show what they would do. */
  readonly previewed: ReadonlySet<string>;
};

export const NOTHING_BEFOREHAND: Beforehand = { grants: false, previewed: new Set() };

const EVERY = 2n;
const SALT = 0x9e37_79b9_7f4a_7c15n;

export function drawBeforehand(seed: bigint, tools: readonly ToolSpec[]): Beforehand {
  if (seed % EVERY !== 0n) return NOTHING_BEFOREHAND;
  const random = createRandom(seed ^ SALT);
  const shown = tools.filter(() => random.chance(0.5)).map(({ name }) => name);
  return { grants: random.chance(0.8), previewed: new Set(shown) };
}

/** The terms of a grant as data: what production is given as expressions, the oracle evaluates on its own. */
export type GrantSpec = {
  readonly most: number | null;
  readonly agent: string | null;
  readonly uses: number;
  /** In units; null: no limit. */
  readonly total: number | null;
  readonly forMs: number;
};

export function drawGrant(random: Random): GrantSpec {
  return {
    most: random.chance(0.35) ? random.between(20, 90) : null,
    agent: random.chance(0.15) ? `agent:a${random.int(3)}` : null,
    uses: random.between(1, 4),
    total: random.chance(0.4) ? random.between(30, 300) : null,
    forMs: random.chance(0.3) ? random.between(300, 4_000) : random.between(4_000, 40_000),
  };
}

export const whenOf = ({ most }: GrantSpec): string | null =>
  most === null ? null : `args.amount <= ${most}`;
/** The bound in a condition that `whenOf` made. */
export const mostIn = (when: string): number => Number(/<= (\d+)$/.exec(when)?.[1]);
