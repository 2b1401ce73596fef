/**
 * Ends of doubt: a probe that knows, or a person with a reason.
 *
 * Q1. "Not applied" by a probe counts only if it was asked after the tool's finality and after the attempt was over, and
 *     if no executor has said otherwise; before that it is unknown.
 * Q2. Only a person in good standing resolves by word; the agent that asked, and whoever it acts for, never does.
 */
import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { channelField, isPerson, type Via } from "../../kernel/principal.ts";
import { actionStream, ROSTER } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import { settleCall, wakeParents } from "../workflow/call.ts";
import { lockEffect, settleCosts } from "./outcome.ts";
import type { ActionIn, LiveAction } from "./state.ts";

export type ProbeAnswer = {
  readonly answer: "applied" | "not_applied" | "unknown";
  readonly evidence: Json;
  readonly result: Json;
};

export type ResolveAnswer =
  | { readonly kind: "resolved" | "unresolved" | "not_in_doubt"; readonly state: LiveAction }
  | { readonly kind: "not_allowed"; readonly reason: string };

type Ending = Via & {
  readonly status: "applied" | "not_applied";
  readonly by: string;
  readonly reason: string;
  readonly result: Json;
  readonly evidence: Json;
};

function end(
  draft: Draft,
  action: string,
  state: ActionIn<"in_doubt">,
  ending: Ending,
): Need | ResolveAnswer {
  const ref = actionStream(action);
  const { result, evidence, ...said } = ending;
  draft.append(ref, [
    {
      type: "effect.resolved",
      tv: 1,
      body: {
        ...said,
        result: draft.keep(result),
        resultDigest: result === null ? null : digestOf(result),
        evidence: draft.keep(evidence),
      },
    },
  ]);
  settleCosts(draft, state.effect, ending.status === "applied", {});
  const more = settleCall(draft, action) ?? wakeParents(draft, action);
  return more ?? { kind: "resolved", state: draft.state(ref) as LiveAction };
}

export function recordProbe(
  draft: Draft,
  command: {
    readonly action: string;
    readonly probe: ProbeAnswer;
    /** The store's time before the probe was asked: what it answered then may be written down much later. */
    readonly askedAt: number;
    /** Whether, before it was asked, the attempt could no longer do anything: it had come back, or its process was dead. */
    readonly isOver: boolean;
    readonly finalityMs: number;
  },
): Need | ResolveAnswer {
  const state = lockEffect(draft, command.action);
  if ("kind" in state) return state;
  if (state.phase !== "in_doubt") return { kind: "not_in_doubt", state };
  const { answer, evidence, result } = command.probe;
  const final = command.askedAt >= state.outcome.at + command.finalityMs;
  const isDenied = state.effect.late.some(({ status }) => status === "applied");
  if (answer === "applied" || (answer === "not_applied" && final && command.isOver && !isDenied)) {
    return end(draft, command.action, state, {
      status: answer,
      by: "probe",
      reason: "the tool's verify said so",
      result,
      evidence,
    });
  }
  const ref = actionStream(command.action);
  // The same answer again is not news, whatever its evidence: probing for days does not grow the journal.
  if (state.effect.probe?.answer !== answer)
    draft.append(ref, [{ type: "effect.probed", tv: 1, body: { answer, evidence: draft.keep(evidence) } }]);
  return { kind: "unresolved", state: draft.state(ref) as LiveAction };
}

export function resolveByPerson(
  draft: Draft,
  command: Via & {
    readonly action: string;
    readonly status: "applied" | "not_applied";
    readonly by: string;
    readonly reason: string;
    /** What they found, in their words; null unless they say. */
    readonly evidence?: string | null;
  },
): Need | ResolveAnswer {
  const state = lockEffect(draft, command.action);
  if ("kind" in state) return state;
  const more = draft.need({ read: [ROSTER] });
  if (more !== undefined) return more;
  const isOut = state.requester.includes(command.by) || draft.state(ROSTER).suspended.includes(command.by);
  if (!isPerson(command.by) || isOut)
    return { kind: "not_allowed", reason: `${command.by} may not resolve this` };
  if (state.phase !== "in_doubt") return { kind: "not_in_doubt", state };
  const { status, by, reason, evidence = null } = command;
  const said = { status, by, reason, ...channelField(command) };
  return end(draft, command.action, state, { ...said, result: null, evidence });
}
