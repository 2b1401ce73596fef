/** The kill switch: one stream per scope (`tenant`, `agent:<name>`, `workflow:<id>`); every effect start reads those that apply. */
import { HoldpointError } from "./errors.ts";
import type { Fold, NewEvent } from "./event.ts";

export type SwitchState =
  | { readonly stopped: false }
  | { readonly stopped: true; readonly by: string; readonly reason: string; readonly at: number };

export const TENANT_SCOPE = "tenant";
export const agentScope = (agent: string): string => `agent:${agent}`;

export const switchFold: Fold<SwitchState> = {
  version: 1,
  initial: { stopped: false },
  evolve(_state, event) {
    if (event.type === "switch.released") return { stopped: false };
    if (event.type !== "switch.stopped")
      throw new HoldpointError("unknown_event", `A switch met the event "${event.type}".`);
    return {
      stopped: true,
      by: String(event.body?.["by"]),
      reason: String(event.body?.["reason"]),
      at: event.at,
    };
  },
};

/** Stopping what is stopped, or releasing what is not, changes nothing and appends nothing. */
export function decideSwitch(
  state: SwitchState,
  command: { stop: boolean; by: string; reason: string },
): NewEvent[] {
  if (state.stopped === command.stop) return [];
  const type = command.stop ? "switch.stopped" : "switch.released";
  return [{ type, tv: 1, body: { by: command.by, reason: command.reason } }];
}
