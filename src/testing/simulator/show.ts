/** What simulated tools show of their calls. */

import type { PreviewContext } from "../../engine/tool.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { count, type Life, never, type Sim } from "./sim.ts";

/** What the tool shows: the level of its part of the world, now and then that it cannot tell. */
export async function showOf(
  sim: Sim,
  life: Life,
  { tool, action }: Pick<PreviewContext, "tool" | "action">,
): Promise<Json> {
  if (!life.alive) return never();
  await sim.scheduler.sleep(sim.random.float() * 10);
  const level = sim.world.levels.get(tool) ?? 0;
  const isBroken = sim.faultsOn && level % 3 === 2;
  const shown = isBroken ? { value: "it cannot tell", failed: true } : { value: { level }, failed: false };
  sim.world.previews.set(`${life.number}/${action}`, { digest: digestOf(shown), at: sim.scheduler.now() });
  if (!isBroken) return shown.value;
  count(sim, "preview failed");
  throw new Error("it cannot tell");
}
