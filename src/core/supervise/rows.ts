/** Rows of trace and history, out of what the journal says of each turn. */
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import type { CallStory } from "./call-story.ts";
import type { FinalProposal, Proposal, ToolProposal } from "./proposal.ts";
import { stopOf } from "./refusal-stop.ts";
import type { HistoryRow, HumanApproval, RunEnd, SupervisorInfo, TraceRow } from "./result.ts";
import type { Stop } from "./stop-reason.ts";
import { FINAL_TOOL, type Turn } from "./turn.ts";

/** A turn of the model that proposed something or failed to, and the call that it led to. */
export type Step = {
  readonly step: number;
  readonly turn: Extract<Turn, { kind: "proposed" | "invalid" }>;
  readonly call: CallStory | null;
  /** The call could not even be made. */
  readonly misuse: string | null;
  /** Its effect was taken back when the run was rolled back. */
  readonly isUndone?: boolean;
};

export function actionOf(tool: string, args: Json): Proposal {
  const given: JsonObject = isJsonObject(args) ? args : {};
  if (tool === FINAL_TOOL)
    return { kind: "final", answer: String(given["answer"] ?? "") } satisfies FinalProposal;
  return { kind: "tool", name: tool, args: given } satisfies ToolProposal;
}

const STRICTEST = ["block", "escalate", "approve"] as const;

/** The strictest of its reviews, as it was first said: an edit is reviewed again, and what was asked stays what was asked. */
function ruling({ reviews }: CallStory): CallStory["reviews"][number] | undefined {
  for (const verdict of STRICTEST) {
    const found = reviews.find((review) => review.verdict === verdict);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function supervisorInfo(call: CallStory): SupervisorInfo | undefined {
  const said = ruling(call);
  if (said === undefined) return undefined;
  const isEdit = call.revisions.findIndex(({ by }) => by !== "policy");
  const own = isEdit === -1 ? call.revisions : call.revisions.slice(0, isEdit);
  const last = own.at(-1);
  if (last === undefined) return { decision: said.verdict, reason: said.reason };
  const revised_action = actionOf(call.tool, last.args);
  const [first] = own;
  const revised = own.map(({ reason, rule }) => ({ reason, rule }));
  if (said.verdict !== "approve")
    return { decision: said.verdict, reason: said.reason, revised_action, revised };
  const decision = { decision: "revise", reason: first?.reason ?? "", revised_action } as const;
  return own.length === 1 ? decision : { ...decision, revised };
}

export function humanApproval(call: CallStory): HumanApproval | undefined {
  const { people, from } = call;
  if (people === null || (people.status !== "approved" && people.status !== "rejected")) return undefined;
  const said = { approved: people.status === "approved", by: people.by, comment: people.words.join("; ") };
  return from === "human_revised" ? { ...said, revised_action: actionOf(call.tool, call.args) } : said;
}

/** Why a run that stops at this step stops; undefined when the step did what it should. */
export function stopAt({ turn, call, misuse }: Pick<Step, "turn" | "call" | "misuse">): Stop | undefined {
  if (turn.kind === "invalid") return { stop_reason: turn.stop_reason, phase: "worker" };
  const tool = turn.proposal.kind === "tool" ? turn.proposal.name : FINAL_TOOL;
  if (misuse !== null) return { stop_reason: `tool_bad_args:${tool}`, phase: "execution" };
  if (call === null || call.end.kind === "open") return undefined;
  if (call.end.kind === "in_doubt") return { stop_reason: `in_doubt:${tool}`, phase: "execution" };
  if (call.end.kind === "refused") return stopOf(call.end.refusal, tool);
  return isUnkept(call.end.result)
    ? { stop_reason: `tool_bad_result:${tool}`, phase: "execution" }
    : undefined;
}

/** What stands in place of a result that no JSON can hold. */
export const isUnkept = (result: Json): boolean =>
  typeof result === "string" && result.startsWith("[a result that could not be kept:");

const undoneIn = ({ isUndone }: Step): { readonly undone?: true } =>
  isUndone === true ? { undone: true } : {};

export function traceRow(step: Step): TraceRow {
  const { turn, call } = step;
  const stop = stopAt(step);
  // What was proposed and never came to its end, because the run was over before, has not happened.
  const ok = stop === undefined && call?.end.kind === "applied" && step.isUndone !== true;
  const end = { ...(stop === undefined ? {} : { stop_reason: stop.stop_reason }), ...undoneIn(step), ok };
  if (turn.kind === "invalid") return { step: step.step, tool: "invalid", ...end };
  const tool = turn.proposal.kind === "tool" ? turn.proposal.name : FINAL_TOOL;
  if (call === null) return { step: step.step, tool, ...end };
  const isExecuted = call.end.kind === "applied" || call.end.kind === "in_doubt";
  const digest = isExecuted ? call.argsDigest : call.proposedDigest;
  const decision = supervisorInfo(call)?.decision;
  const human = humanApproval(call);
  const risk = ruling(call)?.risk;
  return {
    step: step.step,
    tool,
    ...(tool === FINAL_TOOL ? {} : { args_hash: digest.slice(0, 12) }),
    ...(decision === undefined ? {} : { supervisor_decision: decision }),
    executed_from: call.from,
    ...(human === undefined ? {} : { human_approved: human.approved }),
    ...(call.grant === null ? {} : { standing_grant: call.grant }),
    ...(risk === undefined ? {} : { risk_score: risk.score }),
    ...end,
  };
}

/** Where the run was over before its last step had an end of its own, that step says why. */
export function traceTo({ status, stop_reason }: RunEnd, trace: readonly TraceRow[]): readonly TraceRow[] {
  const last = trace.at(-1);
  if (status === "ok" || last === undefined || last.ok || last.stop_reason !== undefined) return trace;
  const { ok, ...row } = last;
  return [...trace.slice(0, -1), { ...row, stop_reason, ok }];
}

/** What the model is told of it: the tool's own words, or the one structure in which anything refuses. */
function observationOf({ turn, call, misuse }: Step): Json {
  if (turn.kind === "invalid") return gatewayRefusal(turn.stop_reason);
  if (misuse !== null) return gatewayRefusal(misuse);
  if (call === null) return {};
  switch (call.end.kind) {
    case "applied":
      if (turn.proposal.kind === "final") return { status: "final" };
      return isJsonObject(call.end.result) ? call.end.result : { result: call.end.result };
    case "refused":
      return { executed: false, ...call.end.refusal };
    case "in_doubt":
      return { executed: "in_doubt", reason: call.end.reason };
    case "open":
      return {};
  }
}

function gatewayRefusal(reason: string): Json {
  const next =
    "Return exactly one JSON object of the shapes that were given, with arguments that fit the tool.";
  return { executed: false, by: "gateway", code: "invalid_action", reason, retry: true, next };
}

export function historyRow(step: Step): HistoryRow {
  const { turn, call } = step;
  const observation = observationOf(step);
  const nothing = { executed_action: null, executed_from: null, observation };
  if (turn.kind === "invalid") return { step: step.step, raw_action: turn.raw, ...nothing };
  if (call === null) return { step: step.step, action: turn.proposal, ...nothing };
  const supervisor = supervisorInfo(call);
  const human = humanApproval(call);
  const ran =
    call.end.kind === "applied" || call.end.kind === "in_doubt"
      ? { executed_action: actionOf(call.tool, call.args), executed_from: call.from, observation }
      : nothing;
  return {
    step: step.step,
    action: actionOf(call.tool, call.proposed),
    ...(supervisor === undefined ? {} : { supervisor }),
    ...(human === undefined ? {} : { human_approval: human }),
    ...ran,
    ...undoneIn(step),
  };
}
