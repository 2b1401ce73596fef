/** What a workflow waits for has a name and is still to come; when all is calm it has ended or waits for that. */
import type { Wait } from "../../../core/workflow/events.ts";
import { obstacleOf } from "../../../core/workflow/held.ts";
import { databaseTime, isRedeployed, type Sim } from "../sim.ts";
import { type Commit, expect, type SeenTenant } from "./seen.ts";
import type { SeenFlow } from "./seen-flow.ts";
import { isOpen as isAsked } from "./stages-seen.ts";

type Place = Pick<Commit, "sim" | "seen">;

function isUndecided({ seen }: Place, id: string): boolean {
  return isAsked(seen.approvals.get(id), seen);
}

/** A budget's room is another's a moment later; a switch that is off holds nobody. */
function isHeld({ seen }: Place, on: string): boolean {
  const ref = obstacleOf(on);
  return ref !== undefined && (ref.kind === "budget" || seen.stopped.has(ref.id));
}

function isOpen(place: Place, flow: SeenFlow, { kind, on }: Wait): boolean {
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
export function checkWaits(place: Place, flow: SeenFlow): void {
  expect(place, flow.waits.length > 0, "W", `${flow.id} was let go of and waits for nothing`);
  for (const wait of flow.waits)
    expect(
      place,
      isOpen(place, flow, wait),
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
