/**
 * What a workflow waits for has a name and is still to come. After the faults everything has ended or waits for something
 * that has a name (liveness), and the books agree.
 */

import type { Wait } from "../../../src/workflows/events.ts";
import { parseObstacle } from "../../../src/workflows/state.ts";

import { databaseTime, isRedeployed, type Sim } from "../sim.ts";
import {
  type Commit,
  expect,
  isOpen as isAsked,
  isOpen,
  type SeenAction,
  type SeenFlow,
  type SeenTenant,
} from "./seen.ts";

type OracleView = Pick<Commit, "sim" | "seen">;

function isUndecided({ seen }: OracleView, id: string): boolean {
  return isAsked(seen.approvals.get(id), seen);
}

/** A budget's room is another's a moment later; a switch that is off holds nobody. */
function isHeld({ seen }: OracleView, on: string): boolean {
  const ref = parseObstacle(on);
  return ref !== undefined && (ref.kind === "budget" || seen.stopped.has(ref.id));
}

function isWaitOpen(place: OracleView, flow: SeenFlow, { kind, on }: Wait): boolean {
  const { seen, sim } = place;
  switch (kind) {
    case "approval":
    case "checkpoint":
    case "question":
      return isUndecided(place, on);
    case "doubt":
      return seen.actions.get(on.replace(/^eff_/, "act_"))?.phase === "in_doubt";
    case "held":
      return isHeld(place, on);
    case "child":
      return seen.flows.get(on)?.end === null;
    case "sleep":
    case "retry":
    case "node":
      return flow.wakeAt !== null;
    case "definition":
      return isRedeployed(sim, on);
    default:
      return false;
  }
}

/** A process lets go of a workflow only for what is still to come. */
export function checkWaits(place: OracleView, flow: SeenFlow): void {
  expect(place, flow.waits.length > 0, "W", `${flow.id} was let go of and waits for nothing`);
  for (const wait of flow.waits)
    expect(
      place,
      isWaitOpen(place, flow, wait),
      "W",
      `${flow.id} waits for ${wait.kind} ${wait.on}, which is over`,
    );
}

/** Somebody runs it, should, or will when its time comes. */
export function isRestless(flow: SeenFlow): boolean {
  if (flow.end !== null) return false;
  const isAsleep = flow.wakeAt !== null && flow.status !== "awaiting_approval";
  return flow.runner !== null || flow.isReady || isAsleep;
}

const LATE_MS = 10_000;

export function checkRest(sim: Sim, seen: SeenTenant): void {
  for (const flow of seen.flows.values()) {
    if (flow.end !== null) {
      checkOver(sim, seen, flow);
      continue;
    }
    const { id, status, runner } = flow;
    expect({ sim }, runner === null, "liveness", `${id} (${status}) still runs when all is calm`);
    expect({ sim }, !flow.isReady, "liveness", `${id} (${status}) has something to do and nobody does it`);
    const isAsleep = flow.wakeAt !== null && status !== "awaiting_approval";
    const late = isAsleep && (flow.wakeAt ?? 0) + LATE_MS < databaseTime(sim);
    expect({ sim }, !late, "liveness", `${id} (${status}) was to be woken and is not`);
    // What else it waited for may be over by now, and is looked at after the decision.
    if (flow.pending !== null)
      expect(
        { sim },
        isUndecided({ sim, seen }, flow.pending.approval),
        "liveness",
        `${id} waits for ${flow.pending.approval}, which is over`,
      );
    else if (runner === null && !flow.isReady) checkWaits({ sim, seen }, flow);
  }
}

/** Nobody is left with a question about a workflow that is over, or with an action that nobody comes back to. */
function checkOver(sim: Sim, seen: SeenTenant, flow: SeenFlow): void {
  for (const id of flow.asked)
    expect(
      { sim },
      seen.approvals.get(id)?.status !== "pending",
      "E2",
      `${id} asks about ${flow.id}, which is over`,
    );
  for (const action of seen.actions.values()) {
    if (action.within?.workflow !== flow.id) continue;
    const waits = action.phase === "waiting" && action.held === null;
    expect({ sim }, !waits, "E2", `${action.id} waits for people; ${flow.id} is over`);
  }
}

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
