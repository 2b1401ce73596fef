/** The end and the sleep of a simulated process. */
import { count, type Life, onLife, type Sim, strikes } from "./sim.ts";

export function crash(sim: Sim, life: Life, why: string): void {
  if (!life.alive) return;
  sim.trace?.(`node ${life.node} (life ${life.number}) crashes ${why}`);
  life.alive = false;
  life.dropStore();
  for (const gone of [...life.crashed]) gone();
}

/** An orderly end, unless it takes too long. */
export async function shutDown(sim: Sim, life: Life): Promise<void> {
  sim.trace?.(`node ${life.node} (life ${life.number}) closes`);
  sim.scheduler.after(sim.random.between(100, 40_000), life, () => crash(sim, life, "while closing"));
  const said = await onLife(life, () => life.runtime.close());
  if (said.kind !== "value") return crash(sim, life, "because closing failed");
  count(sim, "node closed");
  crash(sim, life, "in good order");
}

export function freezeMaybe(sim: Sim, life: Life): void {
  if (!strikes(sim, "node frozen")) return;
  const { leaseMs } = sim.scenario;
  const ms = sim.random.between(100, leaseMs === null ? 8_000 : 2 * leaseMs);
  life.frozenUntil = sim.scheduler.now() + ms;
  sim.trace?.(`node ${life.node} (life ${life.number}) freezes for ${ms} ms`);
  if (leaseMs !== null && ms >= leaseMs) count(sim, "node frozen past its lease");
}
