/** People who permit things beforehand and take that back, and a world that moves under what tools show. */

import { bindLibrary } from "../../engine/verb.ts";
import { grantVerbs } from "../../grants/verbs.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import { drawGrant, whenOf } from "./beforehand-spec.ts";
import { meet } from "./nodes.ts";
import { aliveIn, type Life, onLife, type Sim } from "./sim.ts";
import { CURRENCY } from "./tool-spec.ts";

const EXPECTED = ["not_eligible", "unknown_tool", "unknown_id"] as const;

async function said<Value>(sim: Sim, life: Life, work: () => Promise<Value>): Promise<void> {
  const answer = await onLife(life, work);
  if (answer.kind !== "error" || EXPECTED.some((code) => isHoldpointError(answer.error, code))) return;
  meet(sim, life, "of a grant", answer.error);
}

export async function giveSome(sim: Sim, life: Life): Promise<void> {
  const { random, scenario } = sim;
  const spec = drawGrant(random);
  const when = whenOf(spec);
  const { agent, uses, forMs, total } = spec;
  await said(sim, life, () =>
    bindLibrary(async () => life.runtime, grantVerbs).give({
      tool: random.pick(scenario.tools).name,
      by: random.pick(scenario.people),
      reason: "routine",
      uses,
      forMs,
      ...(when === null ? {} : { when }),
      ...(agent === null ? {} : { agent }),
      ...(total === null
        ? {}
        : { total: { currency: CURRENCY, micros: BigInt(total) * 1_000_000n }, amount: "args.amount" }),
    }),
  );
}

export async function revokeSome(sim: Sim, life: Life): Promise<void> {
  const { random, scenario } = sim;
  const query = { view: "grants", bucket: "active", limit: 20 };
  const found = await onLife(life, () => life.runtime.store.query(life.tenant, query));
  if (found.kind !== "value" || found.value.length === 0) return;
  const { stream } = random.pick(found.value);
  const command = { by: random.pick(scenario.people), reason: "enough" };
  await said(sim, life, () => bindLibrary(async () => life.runtime, grantVerbs).revoke(stream.id, command));
}

/** Sometimes a person revokes a grant that a call has just found: the next call may still find it listed. */
export function revokeUnder(sim: Sim): void {
  for (const { tenant, grant } of sim.looked.splice(0)) {
    if (!sim.faultsOn || !sim.random.chance(0.15)) continue;
    const life = sim.random.pick(aliveIn(sim, tenant));
    const command = { by: sim.random.pick(sim.scenario.people), reason: "just in time" };
    if (life === undefined) continue;
    void said(sim, life, () => bindLibrary(async () => life.runtime, grantVerbs).revoke(grant, command));
  }
}

/** What a preview shows is another thing from now on. */
export async function moveWorld(sim: Sim): Promise<void> {
  const name = sim.random.pick([...sim.scenario.beforehand.previewed]);
  sim.world.levels.set(name, (sim.world.levels.get(name) ?? 0) + 1);
}

const EARLY = 20;

/** Some are there from the beginning. */
export async function giveEarly(sim: Sim): Promise<void> {
  for (const tenant of sim.scenario.tenants)
    for (let given = 0; given < EARLY; given++) {
      const life = sim.random.pick(aliveIn(sim, tenant));
      if (life !== undefined) await giveSome(sim, life);
    }
}
