/** After the faults: everything has ended or waits for something that has a name (liveness), and the books agree. */
import type { Sim } from "../sim.ts";
import { expect, type SeenAction, type SeenTenant } from "./seen.ts";
import { isOpen } from "./stages-seen.ts";

function isNamedWait(seen: SeenTenant, action: SeenAction): boolean {
  // Its workflow comes back to it, which is looked at there.
  const flow = seen.flows.get(action.within?.workflow ?? "");
  if (flow !== undefined && flow.end === null) return true;
  // Without a request id nobody can come back to it.
  if (action.phase === "open") return action.held !== null || action.requestId === null;
  if (action.phase !== "waiting") return true;
  if (isOpen(seen.approvals.get(action.approval ?? ""), seen)) return true;
  return action.requestId === null || action.held !== null;
}

export function checkLiveness(sim: Sim, seen: SeenTenant): void {
  for (const action of seen.actions.values()) {
    const stuck = action.phase === "running" || !isNamedWait(seen, action);
    expect(
      { sim },
      !stuck,
      "liveness",
      `${action.id} (${action.tool}) is ${action.phase} for no reason with a name`,
    );
  }
}

/** Every application is known as applied or in doubt, and every receipt has one. */
export function checkBooks(sim: Sim, seen: SeenTenant): void {
  for (const action of seen.actions.values()) {
    if (action.effectClass === "read") continue;
    const times = sim.world.applied.get(sim.world.keyOf.get(action.id) ?? "")?.length ?? 0;
    const known = action.phase === "applied" || action.phase === "in_doubt";
    expect({ sim }, times === 0 || known, "3", `${action.id} was applied and ended ${action.phase}`);
    expect({ sim }, action.phase !== "applied" || times > 0, "4", `${action.id} ended applied and is not`);
  }
}
