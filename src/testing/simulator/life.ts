/** The end and the sleep of a simulated process. */
import { count, type Life, type Sim, strikes } from "./sim.ts";

export function crash(sim: Sim, life: Life, why: string): void {
  if (!life.alive) return;
  sim.trace?.(`node ${life.node} (life ${life.number}) crashes ${why}`);
  life.alive = false;
  life.dropStore();
  for (const gone of [...life.crashed]) gone();
}

export function freezeMaybe(sim: Sim, life: Life): void {
  if (!strikes(sim, "node frozen")) return;
  const { leaseMs } = sim.scenario;
  const ms = sim.random.between(100, leaseMs === null ? 8_000 : 2 * leaseMs);
  life.frozenUntil = sim.scheduler.now() + ms;
  sim.trace?.(`node ${life.node} (life ${life.number}) freezes for ${ms} ms`);
  if (leaseMs !== null && ms >= leaseMs) count(sim, "node frozen past its lease");
}
