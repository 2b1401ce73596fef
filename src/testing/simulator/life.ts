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

const HOUR_MS = 3_600_000;

/** Tasks of a frozen process wait. One that wakes may find its clock set back, as after a virtual machine's resumption. */
export function freezeMaybe(
  sim: Sim,
  life: Life,
  fault: "node frozen" | "node frozen while an effect is under way" = "node frozen",
): void {
  if (!strikes(sim, fault)) return;
  const { leaseMs } = sim.scenario;
  const least = fault === "node frozen" ? 100 : (leaseMs ?? 100);
  const ms = sim.random.between(least, leaseMs === null ? 8_000 : 4 * leaseMs);
  life.frozenUntil = sim.scheduler.now() + ms;
  sim.trace?.(`node ${life.node} (life ${life.number}) freezes for ${ms} ms`);
  if (leaseMs !== null && ms >= leaseMs) count(sim, "node frozen past its lease");
  if (!sim.random.chance(0.2)) return;
  life.clockOffset -= sim.random.between(ms, HOUR_MS);
  count(sim, "node clock jump");
}
