/**
 * What one seed is about: drawn first, so that seeds differ in kind and not only in luck ("swarm testing").
 * Seeds with stages and deadlines, and seeds in which a group is asked and reminded, are drawn apart, so that every other
 * seed plays as it always did.
 */
import type { Fault } from "./counters.ts";
import type { Random } from "./random.ts";
import {
  type Ask,
  type AskStage,
  drawAsk,
  drawPolicy,
  drawTool,
  NO_PRIOR_PERMISSIONS,
  NO_WORKFLOWS,
  type PolicySpec,
  type PriorPermissions,
  type ToolSpec,
  type ToolVersion,
  type WorkflowSpecs,
} from "./specs.ts";

type Rates = ReadonlyMap<Fault, number>;

export type Scenario = {
  readonly tenants: readonly string[];
  readonly nodes: readonly {
    readonly tenant: string;
    readonly agent: string;
    readonly onBehalfOf: string | null;
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
  readonly flows: WorkflowSpecs;
  readonly beforehand: PriorPermissions;
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
    onBehalfOf: random.chance(0.5) ? random.pick(people) : null,
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
    flows: NO_WORKFLOWS,
    beforehand: NO_PRIOR_PERMISSIONS,
    staged: false,
    desk: false,
    byAmount: false,
  };
}

const STAGES_EVERY = 4n;
export const hasStages = (seed: bigint): boolean => seed % STAGES_EVERY === 0n;

function drawStage(random: Random, people: readonly string[]): AskStage {
  const named = random.chance(0.4) ? people.filter(() => random.chance(0.7)) : [];
  return {
    quorum: people.length > 4 && random.chance(0.2) ? 2 : 1,
    from: named.length > 2 ? named : null,
    veto: random.chance(0.75),
    decideWithinMs: random.chance(0.85) ? random.between(300, 6_000) : null,
  };
}

/** Some of what people are asked is asked in stages; some deadlines do not end it. */
function stagedAsk(random: Random, people: readonly string[], ask: Ask): Ask {
  const onTimeout = random.pick(["expire", "escalate", "escalate", "extend"] as const);
  if (random.chance(0.3)) return { ...ask, onTimeout };
  const most = people.length > 4 ? 3 : 2;
  const stages = Array.from({ length: random.between(2, most) }, () => drawStage(random, people));
  return { ...ask, stages, onTimeout };
}

export function stagedPolicy(random: Random, people: readonly string[], policy: PolicySpec): PolicySpec {
  if (!("ask" in policy) || policy.ask === null) return policy;
  return { ...policy, ask: stagedAsk(random, people, policy.ask) };
}

/** With more of them asked than usual: a stage that nobody reaches shows nothing. */
export function withStages(scenario: Scenario, random: Random): Scenario {
  const { people, firstVersions } = scenario;
  const versions = [...firstVersions].map(([name, version]) => {
    const isFree = version.policy.kind === "approve" || version.policy.kind === "block";
    const ask: Ask = { quorum: 1, from: null, veto: true, decideWithinMs: 4_000, executeWithinMs: null };
    const policy: PolicySpec = isFree && random.chance(0.7) ? { kind: "escalate", ask } : version.policy;
    return [name, { ...version, policy: stagedPolicy(random, people, policy) }] as const;
  });
  return { ...scenario, firstVersions: new Map(versions), staged: true };
}

const AMOUNTS_EVERY = 5n;
export const hasAmounts = (seed: bigint): boolean => seed % AMOUNTS_EVERY === 1n;

/** An edit of the amount may then fall under another approver rule than the proposal did. */
export function amountPolicy(random: Random, people: readonly string[], policy: PolicySpec): PolicySpec {
  if (!("ask" in policy) || policy.ask === null) return policy;
  const above = { amount: random.between(30, 70), ask: drawAsk(random, people) };
  return { ...policy, ask: { ...policy.ask, above } };
}

export function withAmounts(scenario: Scenario, random: Random): Scenario {
  const { people, firstVersions } = scenario;
  const versions = [...firstVersions].map(
    ([name, version]) =>
      [name, { ...version, policy: amountPolicy(random, people, version.policy) }] as const,
  );
  return { ...scenario, firstVersions: new Map(versions), byAmount: true };
}

const DESK_EVERY = 8n;
export const hasDesk = (seed: bigint): boolean => seed % DESK_EVERY === 3n;
export const GROUP = "desk";

function deskAsk(random: Random, people: readonly string[], ask: Ask): Ask {
  const asked = {
    ...ask,
    quorum: random.chance(0.45) ? 1 : 2,
    from: random.chance(0.3) ? [`group:${GROUP}`, random.pick(people)] : [`group:${GROUP}`],
    veto: random.chance(0.6),
    // Long enough to be reminded at half time, or so short that it passes before anybody looks.
    decideWithinMs: random.chance(0.6) ? random.between(60_000, 75_000) : random.between(2_000, 12_000),
  };
  return random.chance(0.5) ? { ...asked, also: [random.pick(people)] } : asked;
}

export function deskPolicy(random: Random, people: readonly string[], policy: PolicySpec): PolicySpec {
  if (!("ask" in policy) || policy.ask === null) return policy;
  return { ...policy, ask: deskAsk(random, people, policy.ask) };
}

/** With more of them asked than usual. */
export function withDesk(scenario: Scenario, random: Random): Scenario {
  const { people, firstVersions } = scenario;
  const versions = [...firstVersions].map(([name, version]) => {
    const isFree = version.policy.kind === "approve" || version.policy.kind === "block";
    const ask: Ask = { quorum: 1, from: null, veto: true, decideWithinMs: 4_000, executeWithinMs: null };
    const policy: PolicySpec = isFree && random.chance(0.7) ? { kind: "escalate", ask } : version.policy;
    return [name, { ...version, policy: deskPolicy(random, people, policy) }] as const;
  });
  return { ...scenario, firstVersions: new Map(versions), desk: true };
}
