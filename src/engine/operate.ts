/** What operators do: stop and go, resolve doubt. */

import { resolveByPerson } from "../core/action/resolve.ts";
import { actionOf } from "../core/action/start.ts";
import type { LiveAction } from "../core/action/state.ts";
import { decideSwitch, type Stoppable, type SwitchState, scopeOf } from "../core/switch.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { checkFields } from "../kernel/fields.ts";
import { isId } from "../kernel/ids.ts";
import { channelField, type Via } from "../kernel/principal.ts";
import { actionStream, ROSTER, switchStream, workflowStream } from "../kernel/stream.ts";
import { displayValue } from "../kernel/text.ts";
import type { Draft, Need } from "../kernel/transaction.ts";
import { checkStoppable } from "../kill-switch/methods.ts";
import { checkSaid, type Said } from "../people/input.ts";
import { redactTexts } from "../people/secret-guesses/limit.ts";
import { readOwnTenant } from "../people/tenants/stream.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { resolveSecrets } from "../runtime/secrets.ts";
import { loadValue, readState, runCommand } from "../runtime/store-access.ts";
import { forgetFree } from "./free-switches.ts";

type Place = Pick<Runtime, "store" | "tenant" | "clock">;

const closed = ({ tenant }: Place): HoldpointError =>
  new HoldpointError("tenant_closed", `The tenant ${tenant} was closed: it is not released again.`);

const noWorkflow = (workflow: string): HoldpointError =>
  new HoldpointError("unknown_id", `There is no workflow ${displayValue(workflow)}.`, {
    next: "Check the id; `holdpoint workflows` lists them.",
  });

/** Anybody stops what goes on; what was stopped goes on by the word of somebody whose word counts. */
function checkReleaser(draft: Draft, by: string): Need | undefined {
  const more = draft.need({ read: [ROSTER] });
  if (more !== undefined || !draft.state(ROSTER).suspended.includes(by)) return more;
  throw new HoldpointError("not_eligible", `Nothing was released: ${by} is not in good standing.`, {
    data: "The kill switch is as it was.",
    next: "Ask a person in good standing.",
  });
}

/** A name that is nobody's stops nobody; of an agent nobody can tell, of a workflow one can. */
function checkKnown(draft: Draft, workflow: string | undefined): Need | undefined {
  if (workflow === undefined) return undefined;
  const ref = workflowStream(workflow);
  const more = draft.need({ read: [ref] });
  if (more !== undefined) return more;
  if (draft.state(ref).status === "none") throw noWorkflow(workflow);
  return undefined;
}

/**
 * Stops (or releases) every new effect of one agent or service, of one workflow with those below it, or of the whole tenant.
 * Answers whether anything changed.
 */
export async function setSwitch(
  place: Place,
  stop: boolean,
  command: Said & Via & Stoppable,
): Promise<boolean> {
  checkSaid(command);
  const ref = switchStream(scopeOf(checkStoppable(command)));
  const { by, reason, workflow } = command;
  try {
    return await runCommand(place, { write: [ref], read: [readOwnTenant(place)] }, (draft) => {
      if (!stop && draft.state(readOwnTenant(place)).status === "closed") throw closed(place);
      const more = checkKnown(draft, workflow) ?? (stop ? undefined : checkReleaser(draft, by));
      if (more !== undefined) return more;
      const events = decideSwitch(draft.state(ref), { stop, by, reason, ...channelField(command) });
      draft.append(ref, events);
      return events.length > 0;
    });
  } finally {
    forgetFree(place.store);
  }
}

/** Whether new effects of the tenant, or of one agent, service or workflow, are stopped; by whom and why. */
export async function getSwitch(place: Place, whose: string | Stoppable = {}): Promise<SwitchState> {
  const given = typeof whose === "string" ? { agent: whose } : whose;
  const named = checkStoppable(checkFields("The switch", given, ["agent", "workflow"]));
  const { workflow } = named;
  if (workflow !== undefined && (await readState(place, workflowStream(workflow))).status === "none")
    throw noWorkflow(workflow);
  return structuredClone(await readState(place, switchStream(scopeOf(named))));
}

export async function resolveDoubt(
  place: Place & Pick<Runtime, "clock" | "secrets">,
  effect: string,
  command: Said & Via & { readonly status: "applied" | "not_applied"; readonly evidence?: string },
): Promise<LiveAction> {
  checkSaid(command);
  if (command.evidence !== undefined) checkSaid({ ...command, reason: command.evidence });
  if (command.status !== "applied" && command.status !== "not_applied")
    throw new HoldpointError(
      "invalid_input",
      `An effect is resolved as applied or not_applied, not "${displayValue(command.status)}".`,
    );
  const action = actionOf(effect);
  const state = isId("act", action)
    ? await readState(place, actionStream(action))
    : { phase: "none" as const };
  if (state.phase === "none")
    throw new HoldpointError("unknown_id", `There is no effect ${displayValue(effect)}.`);
  const { status, by } = command;
  // What people write is kept in clear, so the values of the action's secrets are taken out of it.
  const args = await loadValue(place, state.args);
  const known = await resolveSecrets(place.secrets, args).catch(() => new Map<string, string>());
  const kept = (text: string) => redactTexts(place, { by, text, known });
  const reason = kept(command.reason);
  const evidence = command.evidence === undefined ? null : kept(command.evidence);
  const answer = await runCommand(place, { write: [actionStream(action)] }, (draft) =>
    resolveByPerson(draft, { action, status, by, reason, evidence, ...channelField(command) }),
  );
  if (answer.kind === "not_allowed")
    throw new HoldpointError("not_eligible", `The effect was not resolved: ${answer.reason}.`, {
      data: "Nothing was written; the effect is still in doubt.",
      next: "Ask somebody else, in good standing and not the requester.",
    });
  if (answer.kind === "not_in_doubt")
    throw new HoldpointError("not_in_doubt", `The effect ${effect} is ${answer.state.phase}.`, {
      details: { phase: answer.state.phase },
    });
  return structuredClone(answer.state);
}
