/** Seeds in which a group is asked, and people are reminded. Drawn apart, so that other seeds are not touched by it. */
import type { Random } from "./random.ts";
import type { Scenario } from "./scenario.ts";
import type { Ask, PolicySpec } from "./tool-spec.ts";

const EVERY = 8n;
export const hasDesk = (seed: bigint): boolean => seed % EVERY === 3n;
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
