/**
 * Turning a switch, and the switches that cover an action: its tenant's, its agent's, its workflow's, and those of the
 * parent workflows. The commit that starts, sends, repeats or hands out an effect checks all of them.
 */
import type { Within } from "../effects/state.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { channelField, type Via } from "../kernel/principal.ts";
import { agentScope, ROSTER, switchStream, workflowStream } from "../kernel/stream.ts";
import { displayValue } from "../kernel/text.ts";
import type { Draft, Need } from "../kernel/transaction.ts";
import { decideSwitch, type Stoppable, switchScopeOf, TENANT_SCOPE, workflowScope } from "./stream.ts";

export const noWorkflow = (workflow: string): HoldpointError =>
  new HoldpointError("unknown_id", `There is no workflow ${displayValue(workflow)}.`, {
    next: "Check the id; `holdpoint workflows` lists them.",
  });

/** Any person may stop; only one in good standing may release. */
function checkReleaser(draft: Draft, by: string): Need | undefined {
  const more = draft.need({ read: [ROSTER] });
  if (more !== undefined || !draft.state(ROSTER).suspended.includes(by)) return more;
  throw new HoldpointError("not_eligible", `Nothing was released: ${by} is not in good standing.`, {
    data: "The kill switch is as it was.",
    next: "Ask a person in good standing.",
  });
}

/** A switch for an unknown name would stop nothing. Unknown workflows are detectable; unknown agents are not. */
function checkKnown(draft: Draft, workflow: string | undefined): Need | undefined {
  if (workflow === undefined) return undefined;
  const ref = workflowStream(workflow);
  const more = draft.need({ read: [ref] });
  if (more !== undefined) return more;
  if (draft.state(ref).status === "none") throw noWorkflow(workflow);
  return undefined;
}

type Turn = Stoppable & Via & { readonly stop: boolean; readonly by: string; readonly reason: string };

/** Stops or releases all new effects of the tenant, of one agent or service, or of one workflow with its children. */
export function turnSwitch(draft: Draft, command: Turn): Need | { kind: "turned"; changed: boolean } {
  const { stop, by, reason, workflow } = command;
  const ref = switchStream(switchScopeOf(command));
  const more = checkKnown(draft, workflow) ?? (stop ? undefined : checkReleaser(draft, by));
  if (more !== undefined) return more;
  const events = decideSwitch(draft.state(ref), { stop, by, reason, ...channelField(command) });
  draft.append(ref, events);
  return { kind: "turned", changed: events.length > 0 };
}

/** An action, or another operation of an agent, optionally in a workflow. */
export type SwitchSubject = { readonly agent: string; readonly within?: Pick<Within, "workflow"> };

export type SwitchCheck = {
  readonly kind: "looked";
  /** The first switch that is on. */
  readonly on: { readonly scope: string; readonly by: string; readonly reason: string } | undefined;
};

/** Scopes that are known without reading the store. */
export function switchScopes({ agent, within }: SwitchSubject): readonly string[] {
  const own = [TENANT_SCOPE, agentScope(agent)];
  return within === undefined ? own : [...own, workflowScope(within.workflow)];
}

/** Scopes of the parent workflows. If a workflow does not record all its ancestors, reads them one by one. */
function scopesAbove(draft: Draft, within: SwitchSubject["within"]): Need | readonly string[] {
  const scopes: string[] = [];
  for (let id = within?.workflow; id !== undefined; ) {
    const ref = workflowStream(id);
    const more = draft.need({ read: [ref] });
    if (more !== undefined) return more;
    const state = draft.state(ref);
    const parent = state.status === "none" ? null : state.parent;
    const above = parent === null ? [] : [parent.workflow, ...(parent.above ?? [])];
    scopes.push(...above.map(workflowScope));
    id = parent?.above === undefined ? parent?.workflow : undefined;
  }
  return scopes;
}

export function checkKillSwitches(draft: Draft, covered: SwitchSubject): Need | SwitchCheck {
  const { within } = covered;
  const own = switchScopes(covered);
  const flows = within === undefined ? [] : [workflowStream(within.workflow)];
  const more = draft.need({ read: [...own.map(switchStream), ...flows] });
  if (more !== undefined) return more;
  const above = scopesAbove(draft, within);
  if ("kind" in above) return above;
  const missing = draft.need({ read: above.map(switchStream) });
  if (missing !== undefined) return missing;
  for (const scope of [...own, ...above]) {
    const state = draft.state(switchStream(scope));
    if (state.stopped) return { kind: "looked", on: { scope, by: state.by, reason: state.reason } };
  }
  return { kind: "looked", on: undefined };
}
