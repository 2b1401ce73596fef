/** What one seed is about: drawn first, so that seeds differ in kind and not only in luck ("swarm testing"). */
import { type Beforehand, NOTHING_BEFOREHAND } from "./beforehand-spec.ts";
import type { Fault } from "./counters.ts";
import { type Flows, NO_FLOWS } from "./flow-spec.ts";
import type { Random } from "./random.ts";
import { drawPolicy, drawTool, type ToolSpec, type ToolVersion } from "./tool-spec.ts";

export type Rates = ReadonlyMap<Fault, number>;

export type Scenario = {
  readonly tenants: readonly string[];
  readonly nodes: readonly {
    readonly tenant: string;
    readonly agent: string;
    readonly actsFor: string | null;
  }[];
  readonly leaseMs: number | null;
  readonly people: readonly string[];
  readonly tools: readonly ToolSpec[];
  readonly firstVersions: ReadonlyMap<string, ToolVersion>;
  readonly budgets: readonly { readonly id: string; readonly limit: number }[];
  readonly rates: Rates;
  readonly requests: number;
  /** How long callers come, in true milliseconds. */
  readonly workMs: number;
  /** A packet is under way this long at most; a third of a lease is more. */
  readonly flightMs: number;
  /** Whether the database's own clock is ever set. */
  readonly databaseClockMoves: boolean;
  readonly latencyMs: number;
  readonly flows: Flows;
  readonly beforehand: Beforehand;
  /** Approvals have stages, and deadlines that do not just end them. */
  readonly staged: boolean;
  /** A group is asked, whose members come and go; seats are handed over, and people reminded. */
  readonly desk: boolean;
  /** Other people are asked about larger amounts, and amounts are edited more often. */
  readonly byAmount: boolean;
};

/** Chances per opportunity, at full strength. */
const STRENGTH: readonly (readonly [Fault, number])[] = [
  ["crash before a port call", 0.006],
  ["crash after a port call", 0.006],
  ["crash at a named point", 0.01],
  ["node closed while a call is under way", 0.03],
  ["store error, nothing applied", 0.04],
  ["unknown commit, applied", 0.08],
  ["unknown commit, lost", 0.05],
  ["slow store", 0.02],
  ["node frozen", 0.004],
  ["node frozen while an effect is under way", 0.35],
  ["wake lost", 0.05],
  ["wake duplicated", 0.05],
  ["wake late and out of order", 0.05],
  ["notice lost", 0.3],
  ["notice duplicated", 0.3],
  ["effect refused, definite", 0.15],
  ["effect refused, indefinite", 0.2],
  ["effect applied, response lost", 0.3],
  ["effect applied, error answered", 0.25],
  ["effect slow", 0.2],
];

function drawRates(random: Random): Rates {
  const rates = new Map<Fault, number>();
  for (const [fault, strength] of STRENGTH)
    rates.set(fault, random.chance(0.65) ? strength * (0.2 + 0.8 * random.float()) : 0);
  return rates;
}

function drawNodes(random: Random, tenants: readonly string[], people: readonly string[]): Scenario["nodes"] {
  const count = Math.max(tenants.length, random.between(1, 5));
  return Array.from({ length: count }, (_, index) => ({
    tenant: tenants[index % tenants.length] as string,
    agent: `agent:a${random.int(3)}`,
    actsFor: random.chance(0.5) ? random.pick(people) : null,
  }));
}

export function drawScenario(random: Random): Scenario {
  const people = Array.from({ length: random.between(3, 5) }, (_, index) => `person:p${index}`);
  const tenants = random.chance(0.3) ? ["ten_a", "ten_b"] : ["ten_a"];
  const leaseMs = random.chance(0.55) ? random.between(2_000, 6_000) : null;
  const databaseClockMoves = leaseMs === null && random.chance(0.45);
  const flightMs = Math.floor((leaseMs ?? 6_000) / 3) - 100;
  const budgets = Array.from({ length: random.int(4) }, (_, index) => ({
    id: `b${index}`,
    limit: random.between(100, 2_000),
  }));
  const first = random.int(5);
  const tools = Array.from({ length: random.between(3, 6) }, (_, index) =>
    drawTool(random, {
      index: first + index,
      budgets: budgets.map(({ id }) => id),
      saneClock: !databaseClockMoves,
      flightMs,
    }),
  );
  return {
    tenants,
    nodes: drawNodes(random, tenants, people),
    leaseMs,
    people,
    tools,
    firstVersions: new Map(
      tools.map(({ name }) => [name, { policy: drawPolicy(random, people), schema: 1 }]),
    ),
    budgets,
    rates: drawRates(random),
    requests: random.between(15, 40),
    workMs: random.between(12_000, 40_000),
    flightMs,
    databaseClockMoves,
    latencyMs: random.pick([1, 3, 10]),
    flows: NO_FLOWS,
    beforehand: NOTHING_BEFOREHAND,
    staged: false,
    desk: false,
    byAmount: false,
  };
}
