/**
 * Setting, reading and listing kill switches, and the checks of that input.
 * Anybody may stop; only a person in good standing releases, and a closed tenant is never released.
 * Also a short-lived cache of "all switches were off": a workflow step, which is no effect, need not check again so
 * soon.
 * Effects never use the cache: they check in the commit that starts them.
 */

import { agentScope, type Stoppable } from "../core/switch.ts";
import { isPlainObject, rejectInput } from "../kernel/fields.ts";
import { isId } from "../kernel/ids.ts";
import { isPrincipal } from "../kernel/principal.ts";
import { displayValue } from "../kernel/text.ts";

/** Its bare name or its principal; undefined means the whole tenant. */
function checkAgent(agent: unknown): void {
  if (agent === undefined) return;
  const isOther = typeof agent === "string" && /^(person|service):/.test(agent);
  if (typeof agent !== "string" || isOther || !isPrincipal(agentScope(agent)))
    rejectInput(`"${displayValue(agent)}" is not an agent's name.`);
}

/** Whom the kill switch is for: one agent or service, one workflow, or everybody of the tenant. */
export function checkStoppable(given: unknown): Stoppable {
  if (!isPlainObject(given))
    return rejectInput("The switch is of an agent, { agent }, or of a workflow, { workflow }.");
  const { agent, workflow } = given as { readonly agent?: unknown; readonly workflow?: unknown };
  if (agent !== undefined && workflow !== undefined)
    rejectInput("The switch is of an agent or of a workflow: one of them, not both.");
  if (workflow !== undefined)
    return isId("wf", workflow)
      ? { workflow }
      : rejectInput(`"${displayValue(workflow)}" is not a workflow's id: wf_….`);
  if (!(typeof agent === "string" && agent.startsWith("service:") && isPrincipal(agent))) checkAgent(agent);
  return agent === undefined ? {} : { agent: agent as string };
}
