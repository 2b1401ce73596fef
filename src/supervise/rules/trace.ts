/**
 * Rows of a supervised run's trace and history, built from the journal's entries of each turn and each gated call:
 * proposed, decided, executed, observed.
 */

import type { ApprovalEvent } from "../../approvals/stream.ts";
import type { ExecutedFrom, ReviewFacts } from "../../effects/state.ts";
import type { ActionEvent } from "../../effects/stream.ts";
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { type Refusal, refusal } from "../../kernel/refusals.ts";
import type { FinalProposal, ModelProposal, ToolProposal } from "./proposal.ts";
import { type RunStop, stopOfRefusal } from "./stop-reason.ts";
import {
  FINAL_TOOL,
  type HistoryRow,
  type HumanApproval,
  type RunEnd,
  type SupervisorInfo,
  type TraceRow,
  type Turn,
} from "./turn.ts";

type CallEntry = { readonly type: string; readonly at: number; readonly body: Json };

type CallRevision = {
  readonly by: string;
  readonly reason: string;
  readonly rule: string;
  readonly args: Json;
};

type CallApproval = {
  readonly status: "pending" | "approved" | "rejected" | "expired" | "cancelled";
  readonly by: readonly string[];
  /** The approvers' notes, or their reason to refuse. */
  readonly words: readonly string[];
};

type CallEnd =
  | { readonly kind: "open" }
  | { readonly kind: "applied"; readonly result: Json }
  | { readonly kind: "in_doubt"; readonly reason: string }
  | { readonly kind: "refused"; readonly refusal: Refusal };

export type CallStory = {
  readonly tool: string;
  readonly proposed: Json;
  readonly proposedDigest: string;
  readonly args: Json;
  readonly argsDigest: string;
  readonly from: ExecutedFrom;
  readonly revisions: readonly CallRevision[];
  readonly reviews: readonly ReviewFacts[];
  readonly people: CallApproval | null;
  /** Id of the standing grant that replaced a vote. */
  readonly grant: string | null;
  readonly end: CallEnd;
  /** When the approvers decided, when the effect started, and when it ended. */
  readonly decidedAt: number;
  readonly startedAt: number | null;
  readonly doneAt: number | null;
};

const EMPTY_STORY: CallStory = {
  tool: "",
  proposed: {},
  proposedDigest: "",
  args: {},
  argsDigest: "",
  from: "original",
  revisions: [],
  reviews: [],
  people: null,
  grant: null,
  end: { kind: "open" },
  decidedAt: 0,
  startedAt: null,
  doneAt: null,
};

function addRevision(
  story: CallStory,
  { by, args, argsDigest, reason, rule }: CallRevision & { argsDigest: string },
) {
  const isPerson = by !== "policy" || story.from === "human_revised";
  const from = isPerson ? "human_revised" : "supervisor_revised";
  const revisions = [...story.revisions, { by, args, reason, rule }];
  return { ...story, args, argsDigest, from, revisions } as const;
}

function applyActionEntry(story: CallStory, event: ActionEvent, at: number): CallStory {
  switch (event.type) {
    case "action.proposed": {
      const { tool, args, argsDigest } = event.body;
      return { ...story, tool, proposed: args, proposedDigest: argsDigest, args, argsDigest };
    }
    case "action.revised":
      return addRevision(story, event.body);
    case "action.reviewed": {
      const { approval: _, ...review } = event.body;
      return { ...story, reviews: [...story.reviews, review] };
    }
    case "effect.started": {
      const { grant } = event.body;
      return { ...story, startedAt: at, grant: grant.kind === "standing" ? grant.grant : null };
    }
    case "action.held":
    case "action.refused":
      return { ...story, end: { kind: "refused", refusal: event.body }, doneAt: at };
    default:
      return applyEffectEntry(story, event, at);
  }
}

function applyEffectEntry(story: CallStory, event: ActionEvent, at: number): CallStory {
  const doneAt = story.doneAt ?? at;
  switch (event.type) {
    case "effect.applied":
      return { ...story, end: { kind: "applied", result: event.body.result }, doneAt };
    case "effect.in_doubt":
      return { ...story, end: { kind: "in_doubt", reason: event.body.reason }, doneAt };
    case "effect.not_applied":
      return { ...story, end: notApplied(story.tool, event.body.reason), doneAt };
    case "effect.resolved": {
      const { status, result, reason } = event.body;
      return {
        ...story,
        end: status === "applied" ? { kind: "applied", result } : notApplied(story.tool, reason),
      };
    }
    default:
      return story;
  }
}

function applyApprovalEntry(story: CallStory, event: ApprovalEvent, at: number): CallStory {
  const before = story.people ?? { status: "pending", by: [], words: [] };
  const ended = (people: Partial<CallApproval>): CallStory => ({
    ...story,
    people: { ...before, ...people },
    decidedAt: at,
  });
  switch (event.type) {
    // This approval replaces the previous one, whose votes no longer count.
    case "approval.requested":
      return { ...story, people: { status: "pending", by: [], words: [] } };
    case "approval.voted": {
      const { note } = event.body;
      return note === null ? story : { ...story, people: { ...before, words: [...before.words, note] } };
    }
    case "approval.approved":
    case "approval.modified":
      return ended({ status: "approved", by: event.body.by });
    case "approval.rejected":
      return ended({ status: "rejected", by: [event.body.by], words: [event.body.reason] });
    case "approval.expired":
      return ended({ status: "expired", by: [] });
    case "approval.cancelled":
    case "approval.revoked":
      return ended({ status: "cancelled", by: [event.body.by], words: [event.body.reason] });
    default:
      return story;
  }
}

const notApplied = (tool: string, reason: string): CallEnd => ({
  kind: "refused",
  refusal: refusal("not_applied", `tool ${tool}`, reason),
});

/** Builds the story from records in commit order. Large values must already be loaded. */
export function buildCallStory(records: readonly CallEntry[]): CallStory {
  let story = EMPTY_STORY;
  for (const { type, body, at } of records) {
    // Skip an erased entry; the others are still readable.
    if (body === null) continue;
    const event = { type, tv: 1, body };
    if (type.startsWith("approval."))
      story = applyApprovalEntry(story, event as unknown as ApprovalEvent, at);
    else story = applyActionEntry(story, event as unknown as ActionEvent, at);
  }
  return story;
}

/** A model turn with a valid or invalid proposal, and the call that it led to. */
export type RunStep = {
  readonly step: number;
  readonly turn: Extract<Turn, { kind: "proposed" | "invalid" }>;
  readonly call: CallStory | null;
  /** Why the call could not be made at all. */
  readonly misuse: string | null;
  /** The effect was undone when the run was rolled back. */
  readonly isUndone?: boolean;
};

export function proposalOfCall(tool: string, args: Json): ModelProposal {
  const given: JsonObject = isJsonObject(args) ? args : {};
  if (tool === FINAL_TOOL)
    return { kind: "final", answer: String(given["answer"] ?? "") } satisfies FinalProposal;
  return { kind: "tool", name: tool, args: given } satisfies ToolProposal;
}

const STRICTEST = ["block", "escalate", "approve"] as const;

/** The first of the strictest reviews. An edit is reviewed again, but that does not change what people were asked. */
function strictestReview({ reviews }: CallStory): CallStory["reviews"][number] | undefined {
  for (const verdict of STRICTEST) {
    const found = reviews.find((review) => review.verdict === verdict);
    if (found !== undefined) return found;
  }
  return undefined;
}

function supervisorInfo(call: CallStory): SupervisorInfo | undefined {
  const said = strictestReview(call);
  if (said === undefined) return undefined;
  const isEdit = call.revisions.findIndex(({ by }) => by !== "policy");
  const own = isEdit === -1 ? call.revisions : call.revisions.slice(0, isEdit);
  const last = own.at(-1);
  if (last === undefined) return { decision: said.verdict, reason: said.reason };
  const revised_action = proposalOfCall(call.tool, last.args);
  const [first] = own;
  const revised = own.map(({ reason, rule }) => ({ reason, rule }));
  if (said.verdict !== "approve")
    return { decision: said.verdict, reason: said.reason, revised_action, revised };
  const decision = { decision: "revise", reason: first?.reason ?? "", revised_action } as const;
  return own.length === 1 ? decision : { ...decision, revised };
}

function humanApproval(call: CallStory): HumanApproval | undefined {
  const { people, from } = call;
  if (people === null || (people.status !== "approved" && people.status !== "rejected")) return undefined;
  const said = { approved: people.status === "approved", by: people.by, comment: people.words.join("; ") };
  return from === "human_revised" ? { ...said, revised_action: proposalOfCall(call.tool, call.args) } : said;
}

/** Why a run that stops at this step stops; undefined if the step succeeded. */
export function stopAtStep({
  turn,
  call,
  misuse,
}: Pick<RunStep, "turn" | "call" | "misuse">): RunStop | undefined {
  if (turn.kind === "invalid") return { stop_reason: turn.stop_reason, phase: "worker" };
  const tool = turn.proposal.kind === "tool" ? turn.proposal.name : FINAL_TOOL;
  if (misuse !== null) return { stop_reason: `tool_bad_args:${tool}`, phase: "execution" };
  if (call === null || call.end.kind === "open") return undefined;
  if (call.end.kind === "in_doubt") return { stop_reason: `in_doubt:${tool}`, phase: "execution" };
  if (call.end.kind === "refused") return stopOfRefusal(call.end.refusal, tool);
  return isUnstorableResult(call.end.result)
    ? { stop_reason: `tool_bad_result:${tool}`, phase: "execution" }
    : undefined;
}

/** Recognizes the placeholder for a result that JSON cannot represent. */
export const isUnstorableResult = (result: Json): boolean =>
  typeof result === "string" && result.startsWith("[a result that could not be kept:");

const undoneIn = ({ isUndone }: RunStep): { readonly undone?: true } =>
  isUndone === true ? { undone: true } : {};

export function traceRow(step: RunStep): TraceRow {
  const { turn, call } = step;
  const stop = stopAtStep(step);
  // A proposed call that had not ended when the run ended was not executed.
  const ok = stop === undefined && call?.end.kind === "applied" && step.isUndone !== true;
  const end = { ...(stop === undefined ? {} : { stop_reason: stop.stop_reason }), ...undoneIn(step), ok };
  if (turn.kind === "invalid") return { step: step.step, tool: "invalid", ...end };
  const tool = turn.proposal.kind === "tool" ? turn.proposal.name : FINAL_TOOL;
  if (call === null) return { step: step.step, tool, ...end };
  const isExecuted = call.end.kind === "applied" || call.end.kind === "in_doubt";
  const digest = isExecuted ? call.argsDigest : call.proposedDigest;
  const decision = supervisorInfo(call)?.decision;
  const human = humanApproval(call);
  const risk = strictestReview(call)?.risk;
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

/** If the run ended before its last step did, gives that step the run's stop reason. */
export function traceWithStop(
  { status, stop_reason }: RunEnd,
  trace: readonly TraceRow[],
): readonly TraceRow[] {
  const last = trace.at(-1);
  if (status === "ok" || last === undefined || last.ok || last.stop_reason !== undefined) return trace;
  const { ok, ...row } = last;
  return [...trace.slice(0, -1), { ...row, stop_reason, ok }];
}

/** What the model sees: the tool's result, or a refusal in the common structure. */
function observationOf({ turn, call, misuse }: RunStep): Json {
  if (turn.kind === "invalid") return gatewayRefusal(turn.stop_reason);
  if (misuse !== null) return gatewayRefusal(misuse);
  if (call === null) return {};
  switch (call.end.kind) {
    case "applied":
      if (turn.proposal.kind === "final") return { status: "final" };
      return isJsonObject(call.end.result) ? call.end.result : { result: call.end.result };
    case "refused":
      return { status: call.end.refusal.code === "not_applied" ? "failed" : "refused", ...call.end.refusal };
    case "in_doubt":
      return { status: "in_doubt", reason: call.end.reason };
    case "open":
      return {};
  }
}

function gatewayRefusal(reason: string): Json {
  const next =
    "Return exactly one JSON object of the shapes that were given, with arguments that fit the tool.";
  return { status: "refused", by: "gateway", code: "invalid_action", reason, retry: true, next };
}

export function historyRow(step: RunStep): HistoryRow {
  const { turn, call } = step;
  const observation = observationOf(step);
  const nothing = { executed_action: null, executed_from: null, observation };
  if (turn.kind === "invalid") return { step: step.step, raw_action: turn.raw, ...nothing };
  if (call === null) return { step: step.step, action: turn.proposal, ...nothing };
  const supervisor = supervisorInfo(call);
  const human = humanApproval(call);
  const ran =
    call.end.kind === "applied" || call.end.kind === "in_doubt"
      ? { executed_action: proposalOfCall(call.tool, call.args), executed_from: call.from, observation }
      : nothing;
  return {
    step: step.step,
    action: proposalOfCall(call.tool, call.proposed),
    ...(supervisor === undefined ? {} : { supervisor }),
    ...(human === undefined ? {} : { human_approval: human }),
    ...ran,
    ...undoneIn(step),
  };
}
