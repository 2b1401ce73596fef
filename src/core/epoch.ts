/**
 * An epoch is one life of one process that performs effects. It ends once, for good.
 *
 * X1. Nothing starts and no outcome is accepted in the name of an epoch that ended.
 * X2. Only effects of ended epochs are recovered.
 */
import { HoldpointError } from "./errors.ts";
import { bodyOf, type Fold, type NewEvent } from "./event.ts";

export type EpochState =
  | { readonly life: "none" }
  | { readonly life: "open"; readonly agent: string; readonly process: string }
  | { readonly life: "ended"; readonly how: "closed" | "died" };

export const epochFold: Fold<EpochState> = {
  version: 1,
  initial: { life: "none" },
  evolve(state, event) {
    const body = bodyOf("An epoch", event, ["epoch.opened", "epoch.closed", "epoch.died"]);
    const isOpening = event.type === "epoch.opened";
    if (state.life !== (isOpening ? "none" : "open"))
      throw new HoldpointError(
        "broken_rule",
        `"${event.type}" cannot happen to an epoch that is ${state.life}.`,
      );
    if (isOpening) return { life: "open", agent: String(body["agent"]), process: String(body["process"]) };
    return { life: "ended", how: event.type === "epoch.closed" ? "closed" : "died" };
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
