/**
 * The kill switches that cover an action: its tenant's, its agent's, its workflow's, and those of the parent workflows.
 * - The commit that starts, sends, repeats or hands out an effect checks all of them.
 */
import type { Within } from "../effects/state.ts";
import { agentScope, switchStream, workflowStream } from "../kernel/stream.ts";
import type { Draft, Need } from "../kernel/transaction.ts";
import { TENANT_SCOPE, workflowScope } from "./stream.ts";

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
