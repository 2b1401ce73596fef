/**
 * The kill switch: one stream per scope (`tenant`, `agent:<name>` or `service:<name>`, `workflow:<id>`). Fold, decision
 * and list projection. Every effect start reads the switches that apply. A released switch has no row in the list.
 */

import { channelField, type Via } from "../kernel/principal.ts";
import { agentScope, eventBody, type Fold, type NewEvent } from "../kernel/stream.ts";

export type SwitchState =
  | { readonly stopped: false }
  | { readonly stopped: true; readonly by: string; readonly reason: string; readonly at: number };

export const TENANT_SCOPE = "tenant";
export const workflowScope = (id: string): string => `workflow:${id}`;

/** Target whose new effects are stopped. Default: the whole tenant. */
export type Stoppable = {
  readonly agent?: string | undefined;
  readonly workflow?: string | undefined;
};

export function switchScopeOf({ agent, workflow }: Stoppable): string {
  if (workflow !== undefined) return workflowScope(workflow);
  return agent === undefined ? TENANT_SCOPE : agentScope(agent);
}

type Stopped =
  | { readonly what: "tenant" }
  | { readonly what: "agent"; readonly agent: string }
  | { readonly what: "workflow"; readonly workflow: string };

/** The target of a scope's switch. */
export function parseSwitchScope(scope: string): Stopped {
  if (scope === TENANT_SCOPE) return { what: "tenant" };
  const before = workflowScope("");
  if (scope.startsWith(before)) return { what: "workflow", workflow: scope.slice(before.length) };
  return { what: "agent", agent: scope };
}

export const switchFold: Fold<SwitchState> = {
  version: 1,
  initial: { stopped: false },
  evolve(_state, event) {
    const { by, reason } = eventBody("A switch", event, ["switch.stopped", "switch.released"]);
    if (event.type === "switch.released") return { stopped: false };
    return { stopped: true, by: String(by), reason: String(reason), at: event.at };
  },
};

/** Stopping a stopped target, or releasing one that is not stopped, appends nothing. */
export function decideSwitch(
  state: SwitchState,
  command: Via & { stop: boolean; by: string; reason: string },
): NewEvent[] {
  if (state.stopped === command.stop) return [];
  const type = command.stop ? "switch.stopped" : "switch.released";
  return [{ type, tv: 1, body: { by: command.by, reason: command.reason, ...channelField(command) } }];
}

export const switchesView = {
  view: "switches",
  kind: "switch",
  version: 1,
  row(id: string, state: SwitchState) {
    if (!state.stopped) return undefined;
    const { by, reason, at } = state;
    return { bucket: parseSwitchScope(id).what, at, due: null, data: { by, reason } };
  },
} as const;
