/**
 * Replays a journal and reports events of actions: reviews, human decisions, starts.
 * - An action is reported as proposed, with what its policy could see at its first review, without later facts.
 * - An event that cannot be reported because its body was erased is reported as lost. Nothing is skipped silently.
 * - Checkpoints and questions of workflows are not actions, and their approvals are skipped.
 */

import { QUESTION_ENDS, questionEnds } from "../../../approvals/state.ts";
import { isOwnCall, type ReservedCost, type ReviewFacts, type Within } from "../../../effects/state.ts";

import { copyJson } from "../../../kernel/canonical-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../kernel/json.ts";
import { isArtifactRef } from "../../../kernel/stored-value.ts";
import type { PastCall, PolicyInput } from "../../rules/verdict.ts";
import { recordedTerms } from "./compare-answers.ts";
import {
  addCall,
  applyWorkflowEntry,
  changeCall,
  entryBody,
  historyOf,
  markIncomplete,
  type OpenAction,
  type OpenQuestion,
  type PersonDecision,
  type RecordedAction,
  type ReplayEntry,
  type ReplayEvent,
  type ReplayedWorkflow,
  type ReplayState,
  replayedWorkflow,
  seedHistory,
} from "./replay-state.ts";

function recorded(entry: ReplayEntry, body: JsonObject): RecordedAction {
  const facts = body as unknown as RecordedAction & { readonly within?: Within };
  const { tool, effectClass, schema, agent, requester, requestId, args, argsDigest } = facts;
  const said = { tool, effectClass, schema, agent, requester, requestId, args, argsDigest };
  return { id: entry.id, ...said, within: facts.within ?? null, at: entry.at };
}

function callOf({ id, tool, args, at, within }: RecordedAction): PastCall {
  const generation = Number(within?.op.split("/")[1] ?? 1);
  return { action: id, tool, args, status: "waiting", result: null, generation, undone: false, at };
}

function propose(deck: ReplayState, entry: ReplayEntry): ReplayEvent {
  const body = entryBody(entry);
  if (body === null) return { kind: "lost", at: entry.at, what: "proposal" };
  const action = recorded(entry, body);
  const none = { revised: null, reviewed: false, asked: null, edited: null, isEdit: false };
  deck.open.set(entry.id, { action, ...none });
  if (action.within !== null && isOwnCall(action.within)) {
    deck.calls.set(entry.id, action.within.workflow);
    addCall(deck.flows, action.within.workflow, callOf(action));
  }
  return { kind: "proposed", at: entry.at };
}

/** A call whose status can no longer be read may have taken effect. */
const CHANGES: { readonly [type: string]: (body: JsonObject) => Partial<PastCall> } = {
  "action.revised": (body) => ({ args: body["args"] ?? null }),
  "action.refused": () => ({ status: "refused" }),
  "effect.started": () => ({ status: "running" }),
  "effect.applied": (body) => ({ status: "applied", result: body["result"] ?? null }),
  "effect.not_applied": () => ({ status: "not_applied" }),
  "effect.in_doubt": () => ({ status: "in_doubt" }),
  "effect.resolved": (body) =>
    body["status"] === "applied"
      ? { status: "applied", result: body["result"] ?? null }
      : { status: "not_applied" },
};
const AT_REST: readonly unknown[] = ["applied", "not_applied", "refused"];

/** The outcome of a call matters to later calls. */
function follow(deck: ReplayState, entry: ReplayEntry): void {
  const workflow = deck.calls.get(entry.id);
  const change = CHANGES[entry.type];
  if (workflow === undefined || change === undefined) return;
  const body = entryBody(entry);
  if (body === null) markIncomplete(deck.flows, workflow);
  else {
    const made = change(body);
    changeCall(deck.flows, workflow, entry.id, made);
    if (AT_REST.includes(made.status)) deck.calls.delete(entry.id);
  }
}

function review(entry: ReplayEntry, one: OpenAction): ReplayEvent | undefined {
  if (one.reviewed) return undefined;
  one.reviewed = true;
  const body = entryBody(entry);
  if (body === null) return { kind: "lost", at: one.action.at, what: "review" };
  const facts = body as unknown as ReviewFacts;
  const argsDigest = one.revised ?? one.action.argsDigest;
  const said = { ...facts, argsDigest, revised: one.revised !== null };
  return { kind: "reviewed", action: one.action, review: said, now: entry.at };
}

function applyActionEntry(deck: ReplayState, entry: ReplayEntry): ReplayEvent | undefined {
  if (entry.type === "action.proposed") return propose(deck, entry);
  follow(deck, entry);
  const one = deck.open.get(entry.id);
  if (one === undefined) return undefined;
  switch (entry.type) {
    case "action.revised":
      if (!one.reviewed) one.revised = String(entryBody(entry)?.["argsDigest"] ?? "");
      return undefined;
    case "action.reviewed":
      return review(entry, one);
    case "effect.started": {
      deck.open.delete(entry.id);
      const costs = (entryBody(entry)?.["costs"] ?? []) as unknown as readonly ReservedCost[];
      return { kind: "started", action: one.action, costs };
    }
    case "action.refused":
      deck.open.delete(entry.id);
      return undefined;
    default:
      return undefined;
  }
}

/** By event type. */
const DECISIONS: { readonly [type: string]: PersonDecision } = Object.fromEntries(
  questionEnds.map((end) => {
    const { countsAs } = QUESTION_ENDS[end];
    return [`approval.${end}`, countsAs === "modified" ? "edited" : countsAs];
  }),
);

function listed(by: unknown): readonly string[] {
  if (Array.isArray(by)) return by.map(String);
  return typeof by === "string" ? [by] : [];
}

function isOfSeveral({ approvers, stages }: JsonObject): boolean {
  return stages !== undefined || (isJsonObject(approvers) && approvers["quorum"] !== 1);
}

function ask(deck: ReplayState, entry: ReplayEntry): ReplayEvent | undefined {
  const body = entryBody(entry);
  if (body === null) return { kind: "lost", at: entry.at, what: "decision" };
  const one = deck.open.get(String(body["action"]));
  if (one === undefined || body["subject"] !== undefined) return undefined;
  const { action } = one;
  const argsDigest = String(body["argsDigest"]);
  // Requested again for a person's edit: another rule requires approval for it.
  const isEdit = one.edited === argsDigest && (one.asked !== argsDigest || one.isEdit);
  one.asked = argsDigest;
  one.isEdit = isEdit;
  deck.questions.set(entry.id, { action, editedDigest: isEdit ? argsDigest : null });
  const about = { args: body["args"] ?? null, argsDigest, rule: String(body["rule"]) };
  const terms = recordedTerms(body, entry.at);
  return { kind: "asked", action, ...about, terms, ofSeveral: isOfSeveral(body) };
}

function decide(entry: ReplayEntry, question: OpenQuestion, decision: PersonDecision): ReplayEvent {
  const body = entryBody(entry);
  const reason = String(body?.["reason"] ?? "");
  const said = { decision, by: listed(body?.["by"]), reason, now: entry.at };
  return { kind: "decided", ...question, approval: entry.id, ...said };
}

function takeBack(entry: ReplayEntry): ReplayEvent {
  const body = entryBody(entry);
  const reason = String(body?.["reason"] ?? "");
  return { kind: "revoked", approval: entry.id, by: listed(body?.["by"]), reason };
}

function applyApprovalEntry(deck: ReplayState, entry: ReplayEntry): ReplayEvent | undefined {
  if (entry.type === "approval.requested") return ask(deck, entry);
  if (entry.type === "approval.revoked") return takeBack(entry);
  const question = deck.questions.get(entry.id);
  if (question === undefined) return undefined;
  const decision = DECISIONS[entry.type];
  if (decision !== undefined) {
    deck.questions.delete(entry.id);
    return decide(entry, question, decision);
  }
  if (entry.type !== "approval.edited" && entry.type !== "approval.revised") return undefined;
  const body = entryBody(entry);
  if (body === null) return { kind: "lost", at: entry.at, what: "decision" };
  if (entry.type === "approval.revised") {
    question.editedDigest = String(body["argsDigest"]);
    return undefined;
  }
  const { action } = question;
  const one = deck.open.get(action.id);
  if (one !== undefined) one.edited = String(body["argsDigest"]);
  return { kind: "edited", action, args: body["args"] ?? null, by: String(body["by"]), now: entry.at };
}

type ReplayedArgs = { readonly args: Json; readonly now: number };
/** `isWhole` is false if the history was read and part of it was erased, or is stored as an artifact. */
type ReplayedInput = { readonly input: PolicyInput; readonly isWhole: () => boolean };

export type Replay = {
  take(entry: ReplayEntry): ReplayEvent | undefined;
  /** The initial calls of a forked workflow; null if they are no longer available. */
  begin(workflow: string, calls: readonly PastCall[] | null): void;
  /** The input that a policy would receive for an action at this point of the replay. */
  input(action: RecordedAction, told: ReplayedArgs): ReplayedInput;
};

function workflowOfInput(
  { workflow, op }: Within,
  flow: ReplayedWorkflow | undefined,
): PolicyInput["workflow"] {
  const { name = "", poster = "", generation = Number(op.split("/")[1] ?? 1) } = flow ?? {};
  return { id: workflow, name, generation, poster };
}

function ofWorkflow(deck: ReplayState, entry: ReplayEntry): ReplayEvent | undefined {
  const fork = applyWorkflowEntry(deck.flows, entry);
  if (fork === undefined) return undefined;
  return { kind: "forked", workflow: entry.id, fork, position: entry.position };
}

const isPartly = ({ args, result }: PastCall): boolean => isArtifactRef(args) || isArtifactRef(result);

/** The history is built when a policy reads it, at this point of the replay. */
function inputOf(deck: ReplayState, action: RecordedAction, { args, now }: ReplayedArgs): ReplayedInput {
  const { id, tool, effectClass, agent, requester, requestId, within } = action;
  const known = { tool, effectClass, args, agent, requester, requestId, now };
  if (within === null) return { input: { ...known, workflow: null, history: [] }, isWhole: () => true };
  const flow = replayedWorkflow(deck.flows, within.workflow);
  let history: readonly PastCall[] | undefined;
  const input = {
    ...known,
    workflow: workflowOfInput(within, flow),
    get history() {
      // A copy, so that a policy cannot change the original.
      history ??= copyJson(historyOf(deck.flows, within.workflow, id)) as unknown as readonly PastCall[];
      return history;
    },
  };
  const isWhole = () => history === undefined || (flow?.whole === true && !history.some(isPartly));
  return { input, isWhole };
}

export function startReplay(): Replay {
  const deck: ReplayState = { flows: new Map(), open: new Map(), calls: new Map(), questions: new Map() };
  return {
    take(entry) {
      switch (entry.kind) {
        case "action":
          return applyActionEntry(deck, entry);
        case "approval":
          return applyApprovalEntry(deck, entry);
        case "workflow":
          return ofWorkflow(deck, entry);
        default:
          return undefined;
      }
    },
    begin: (workflow, calls) => seedHistory(deck.flows, workflow, calls),
    input: (action, told) => inputOf(deck, action, told),
  };
}
