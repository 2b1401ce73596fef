/**
 * Seeds whose approvals have stages and ends of time, and seeds whose rules depend on the amount. Drawn apart, so that every other seed
 * plays as it always did.
 */
import type { Random } from "./random.ts";
import type { Scenario } from "./scenario.ts";
import { type Ask, type AskStage, drawAsk, type PolicySpec } from "./tool-spec.ts";

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
