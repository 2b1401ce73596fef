/**
 * An epoch is one life of one process that performs effects. It ends once, for good.
 *
 * X1. Nothing starts and no outcome is accepted in the name of an epoch that ended.
 * X2. Only effects of ended epochs are recovered.
 */
import { HoldpointError } from "./errors.ts";
import type { Fold, NewEvent } from "./event.ts";

export type EpochState =
  | { readonly life: "none" }
  | { readonly life: "open"; readonly agent: string; readonly process: string }
  | { readonly life: "ended"; readonly how: "closed" | "died" };

export const epochFold: Fold<EpochState> = {
  version: 1,
  initial: { life: "none" },
  evolve(_state, event) {
    if (event.type === "epoch.opened") {
      return { life: "open", agent: String(event.body?.["agent"]), process: String(event.body?.["process"]) };
    }
    if (event.type === "epoch.closed") return { life: "ended", how: "closed" };
    if (event.type === "epoch.died") return { life: "ended", how: "died" };
    throw new HoldpointError("unknown_event", `An epoch met the event "${event.type}".`);
  },
};

export function openEpoch(agent: string, process: string): NewEvent[] {
  return [{ type: "epoch.opened", tv: 1, body: { agent, process } }];
}

/** `died` is said by another process that found its lock free; whoever says it first has ended it. */
export function endEpoch(state: EpochState, how: "closed" | "died", by: string): NewEvent[] {
  if (state.life !== "open") return [];
  return [{ type: `epoch.${how}`, tv: 1, body: { by } }];
}
