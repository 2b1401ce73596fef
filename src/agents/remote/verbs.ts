/** Implementation of the verbs of remote agents. */
import { getAction } from "../../effects/actions.ts";
import { isJsonObject, type Json } from "../../kernel/json.ts";
import { actionStream } from "../../kernel/stream.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState } from "../../runtime/store-access.ts";
import { capability, preparedVerb, runVerb } from "../../runtime/verb.ts";
import { checkMayRepresent } from "../identify-agent.ts";
import { readPermitCaller } from "../remote-checks.ts";
import { proposeRemoteAction, takeUpPermit } from "../remote-proposal.ts";
import { answerReport, decideReport, prepareReport } from "../remote-report.ts";
import { type RemoteProposal, remote } from "./contract.ts";

// `kind` with "waiting" and "held": replies that 0.1.0 stored.
const UNSETTLED = new Set<unknown>(["permitted", "pending", "waiting", "held"]);

/** The action of a kept answer that may be outdated by people, time or the kill switch. */
export const unsettledIn = (kept: Json): string | undefined =>
  isJsonObject(kept) && UNSETTLED.has(kept["status"] ?? kept["kind"]) ? String(kept["action_id"]) : undefined;

/** undefined if there is no such action. */
async function phaseOf(runtime: Runtime, id: string): Promise<string | undefined> {
  return (await getAction(runtime, id).catch(() => undefined))?.phase;
}

/** A held action that has not asked people yet may do so when it goes on. */
const isOpen = async (runtime: Runtime, id: string | undefined): Promise<boolean> =>
  id !== undefined && (await phaseOf(runtime, id)) === "open";

/** A question that was already asked is answered regardless of how many are pending. */
export async function mayPropose(
  runtime: Runtime,
  { requestId }: Partial<Pick<RemoteProposal, "requestId">>,
  kept?: Json,
): Promise<boolean> {
  if (kept !== undefined) return isOpen(runtime, unsettledIn(kept));
  if (requestId == null) return true;
  return ["open", undefined].includes(await phaseOf(runtime, requestId));
}

/** Without authentication, a request that names no agent acts as the agent of that action. */
async function defaultActor(runtime: Runtime, id: string): Promise<string> {
  const state = await readState(runtime, actionStream(id));
  return state.phase === "none" ? "agent:unknown" : state.agent;
}

const returning = {
  defaultActor,
  mayAsk: (runtime: Runtime, { id }: { readonly id?: string }) => isOpen(runtime, id),
};

export const remoteVerbs = capability(remote, {
  propose: {
    ...runVerb(({ runtime, caller, isGone }, proposal) => {
      checkMayRepresent(caller, proposal.onBehalfOf);
      return proposeRemoteAction(runtime, proposal, { isGone });
    }),
    mayAsk: mayPropose,
    again(kept) {
      const action = unsettledIn(kept);
      if (action === undefined) return undefined;
      return ({ runtime, isGone }, { agent, ...asked }) =>
        takeUpPermit(runtime, action, { agent, caller: readPermitCaller(runtime, asked, { isGone }) });
    },
  },
  start: {
    ...runVerb(({ runtime, isGone }, { id, agent, ...asked }) =>
      takeUpPermit(runtime, id, { agent, caller: readPermitCaller(runtime, asked, { isGone }) }),
    ),
    ...returning,
  },
  begin: {
    ...runVerb(({ runtime, isGone }, { id, agent, holder }) => {
      const caller = readPermitCaller(runtime, { holder, begin: true }, { isGone });
      return takeUpPermit(runtime, id, { agent, caller });
    }),
    ...returning,
  },
  report: { ...preparedVerb(prepareReport, decideReport, answerReport), defaultActor },
});
