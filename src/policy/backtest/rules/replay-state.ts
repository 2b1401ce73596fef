/**
 * State and events of a journal replay: entries of all streams in commit order, the calls of each workflow, and the
 * events that a replay reports: proposals, reviews, human decisions, starts. A workflow's calls are the same, and in
 * the same order, as a review passes to a policy: settled ones in the order in which they settled, then open ones, all
 * sorted by the time of their proposal. Only workflows that have not ended are kept. An erased body marks a history as
 * incomplete.
 */
import { questionEnds } from "../../../approvals/state.ts";
import type { ReservedCost, ReviewFacts, Within } from "../../../effects/state.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../kernel/json.ts";
import type { Fork } from "../../../workflows/events.ts";
import type { ApprovalTerms } from "../../rules/stages.ts";
import { type CallKind, UNDO_NOT_NAMED } from "../../rules/tools.ts";
import type { PastCall } from "../../rules/verdict.ts";

export type ReplayEntry = {
  readonly position: number;
  readonly kind: string;
  readonly id: string;
  readonly type: string;
  readonly at: number;
  /** JSON text; null if erased. Parsed only if needed: most of a journal is not. */
  readonly text: string | null;
};

/** Entry types that a replay uses. */
const REPLAYED_TYPES: ReadonlySet<string> = new Set([
  "action.proposed",
  "action.revised",
  "action.reviewed",
  "action.refused",
  "effect.started",
  "effect.applied",
  "effect.not_applied",
  "effect.in_doubt",
  "effect.resolved",
  "approval.requested",
  "approval.edited",
  "approval.revised",
  ...questionEnds.map((end) => `approval.${end}`),
  "approval.revoked",
  "workflow.created",
  "workflow.completed",
  "workflow.failed",
  "workflow.closed",
  "call.made",
  "call.settled",
  "compensation.settled",
  "rollback.ended",
]);

/**
 * Finds the text of a field without parsing the rest. A quote inside a text has a backslash before it, so nothing else
 * looks like a key. A header's keys have a fixed order.
 */
function fieldIn(header: string, key: string): string {
  const start = header.lastIndexOf(key) + key.length;
  return header.slice(start, header.indexOf('"', start));
}

const AT = '{"at":'.length;

function streamIn(header: string): string {
  const stream = fieldIn(header, '"stream":"');
  return stream.includes("\\") ? (JSON.parse(header) as { readonly stream: string }).stream : stream;
}

/** Undefined for an entry that a replay does not use. */
export function parseReplayEntry(entry: {
  readonly position: number;
  readonly header: string;
  readonly body: string | null;
}): ReplayEntry | undefined {
  const { header, position, body } = entry;
  const type = fieldIn(header, '"type":"');
  if (!REPLAYED_TYPES.has(type)) return undefined;
  const stream = streamIn(header);
  const slash = stream.indexOf("/");
  const at = Number(header.slice(AT, header.indexOf(",", AT)));
  return { position, kind: stream.slice(0, slash), id: stream.slice(slash + 1), type, at, text: body };
}

export function entryBody({ text }: ReplayEntry): JsonObject | null {
  return text === null ? null : (JSON.parse(text) as JsonObject);
}

type ReplayedFlow = {
  readonly name: string;
  readonly poster: string;
  generation: number;
  readonly settled: string[];
  readonly open: Set<string>;
  readonly calls: Map<string, PastCall>;
  whole: boolean;
  over: boolean;
};

export type ReplayedWorkflow = {
  readonly id: string;
  readonly name: string;
  readonly poster: string;
  readonly generation: number;
  /** No part of its history was erased. */
  readonly whole: boolean;
};

type ReplayedFlows = Map<string, ReplayedFlow>;

const UNKNOWN = "";

function fresh(name: string, poster = ""): ReplayedFlow {
  return {
    name,
    poster,
    generation: 1,
    settled: [],
    open: new Set(),
    calls: new Map(),
    whole: name !== UNKNOWN,
    over: false,
  };
}

function settle(flow: ReplayedFlow, action: string): void {
  if (!flow.calls.has(action)) flow.whole = false;
  flow.open.delete(action);
  flow.settled.push(action);
}

function undo(flow: ReplayedFlow, action: string): void {
  const call = flow.calls.get(action);
  if (call !== undefined) flow.calls.set(action, { ...call, undone: true });
}

type Body = Readonly<Record<string, unknown>>;

const MOVES: { readonly [type: string]: (flow: ReplayedFlow, body: Body) => void } = {
  "call.made": (flow, { action }) => {
    if (!flow.calls.has(String(action))) flow.whole = false;
  },
  "call.settled": (flow, { action }) => settle(flow, String(action)),
  "compensation.settled": (flow, { action, status, undoes }) => {
    if (flow.calls.has(String(action))) settle(flow, String(action));
    if (status === "undone") undo(flow, String(undoes));
  },
  "rollback.ended": (flow, { generation }) => {
    flow.generation = Number(generation);
  },
};

const ENDS: ReadonlySet<string> = new Set(["workflow.completed", "workflow.failed"]);

function readPoster(body: JsonObject | null): string {
  const parties = body?.["parties"];
  return isJsonObject(parties) && typeof parties["poster"] === "string" ? parties["poster"] : "";
}

function create(flows: ReplayedFlows, entry: ReplayEntry): Fork | undefined {
  const body = entryBody(entry);
  flows.set(entry.id, fresh(String(body?.["name"] ?? UNKNOWN), readPoster(body)));
  return (body?.["fork"] ?? undefined) as Fork | undefined;
}

function move(flows: ReplayedFlows, entry: ReplayEntry, flow: ReplayedFlow): void {
  const apply = MOVES[entry.type];
  if (apply !== undefined) {
    const body = entryBody(entry);
    if (body === null) flow.whole = false;
    else apply(flow, body);
  }
  if (ENDS.has(entry.type)) flow.over = true;
  if (entry.type === "workflow.closed") flow.open.clear();
  if (flow.over && flow.open.size === 0) flows.delete(entry.id);
}

/** Returns the fork if the workflow starts with another's history, which the caller must pass to `seedHistory`. */
export function applyWorkflowEntry(flows: ReplayedFlows, entry: ReplayEntry): Fork | undefined {
  if (entry.type === "workflow.created") return create(flows, entry);
  const flow = flows.get(entry.id);
  if (flow !== undefined) move(flows, entry, flow);
  return undefined;
}

/** null: the initial history is no longer available. */
export function seedHistory(flows: ReplayedFlows, workflow: string, calls: readonly PastCall[] | null): void {
  const flow = flows.get(workflow);
  if (flow === undefined) return;
  if (calls === null) flow.whole = false;
  for (const call of calls ?? []) {
    flow.calls.set(call.action, call);
    flow.settled.push(call.action);
  }
}

export function addCall(flows: ReplayedFlows, workflow: string, call: PastCall): void {
  const flow = flows.get(workflow);
  flow?.calls.set(call.action, call);
  flow?.open.add(call.action);
}

export function changeCall(
  flows: ReplayedFlows,
  workflow: string,
  action: string,
  change: Partial<PastCall>,
): void {
  const calls = flows.get(workflow)?.calls;
  const call = calls?.get(action);
  if (call !== undefined) calls?.set(action, { ...call, ...change });
}

export function markIncomplete(flows: ReplayedFlows, workflow: string): void {
  const flow = flows.get(workflow);
  if (flow !== undefined) flow.whole = false;
}

export function replayedWorkflow(flows: ReplayedFlows, workflow: string): ReplayedWorkflow | undefined {
  const flow = flows.get(workflow);
  if (flow === undefined) return undefined;
  const { name, poster, generation, whole } = flow;
  return { id: workflow, name, poster, generation, whole };
}

export function historyOf(flows: ReplayedFlows, workflow: string, except: string): readonly PastCall[] {
  const flow = flows.get(workflow);
  const ids = flow === undefined ? [] : [...flow.settled, ...flow.open];
  const calls = ids.flatMap((id) => (id === except ? [] : (flow?.calls.get(id) ?? [])));
  return calls.sort((a, b) => a.at - b.at);
}

export type RecordedAction = {
  readonly id: string;
  readonly tool: string;
  readonly effectClass: string;
  readonly schema: string;
  readonly agent: string;
  readonly requester: readonly string[];
  readonly requestId: string | null;
  readonly within: Within | null;
  /** As proposed; a reference if over 64 KiB. */
  readonly args: Json;
  readonly argsDigest: string;
  readonly at: number;
};

/** The kind under which a policy judges it. An undo named by an agent is a call of that tool. */
export const callKindOfAction = ({ within }: Pick<RecordedAction, "within">): CallKind =>
  within === null || within.undoes === null || within.declared !== undefined ? "call" : "undo";

/** Rules that approved an undo about which the document said nothing. */
const LEFT_TO_THE_PROGRAM: readonly string[] = ["policy", UNDO_NOT_NAMED];

/**
 * For older journals: undos named by agents were once reviewed like compensations declared by a tool, and a document
 * could leave them to the program.
 */
export const mayBeLeftAlone = (
  { within }: Pick<RecordedAction, "within">,
  { verdict, rule }: Pick<RecordedReview, "verdict" | "rule">,
): boolean => within?.declared !== undefined && verdict === "approve" && LEFT_TO_THE_PROGRAM.includes(rule);

export type RecordedReview = ReviewFacts & { readonly revised: boolean; readonly argsDigest: string };
export const PERSON_DECISIONS = ["rejected", "edited", "approved", "expired", "cancelled"] as const;
export type PersonDecision = (typeof PERSON_DECISIONS)[number];

type About = { readonly action: RecordedAction };

export type ReplayEvent =
  | { readonly kind: "proposed"; readonly at: number }
  | { readonly kind: "lost"; readonly at: number; readonly what: "proposal" | "review" | "decision" }
  | { readonly kind: "forked"; readonly workflow: string; readonly fork: Fork; readonly position: number }
  | (About & { readonly kind: "reviewed"; readonly review: RecordedReview; readonly now: number })
  /** An approval was requested for these arguments. */
  | (About & {
      readonly kind: "asked";
      readonly args: Json;
      readonly argsDigest: string;
      readonly rule: string;
      readonly terms: ApprovalTerms;
      /** Several people have to approve, at once or in stages. */
      readonly ofSeveral: boolean;
    })
  /** A granted approval was revoked before it was used. */
  | {
      readonly kind: "revoked";
      readonly approval: string;
      readonly by: readonly string[];
      readonly reason: string;
    }
  | (About & { readonly kind: "edited"; readonly args: Json; readonly by: string; readonly now: number })
  | (About & {
      readonly kind: "decided";
      readonly approval: string;
      readonly decision: PersonDecision;
      readonly by: readonly string[];
      readonly reason: string;
      readonly now: number;
      /** Digest of the approved arguments, if a person changed them. */
      readonly editedDigest: string | null;
    })
  | (About & { readonly kind: "started"; readonly costs: readonly ReservedCost[] });

export type OpenAction = {
  readonly action: RecordedAction;
  revised: string | null;
  reviewed: boolean;
  /** Digests of the arguments of the last request, and of the last edit by a person. */
  asked: string | null;
  edited: string | null;
  /** The last request was about a person's edit. */
  isEdit: boolean;
};
export type OpenQuestion = { readonly action: RecordedAction; editedDigest: string | null };

/** State of a replay. */
export type ReplayState = {
  readonly flows: ReplayedFlows;
  /** Actions that have neither started nor been refused. */
  readonly open: Map<string, OpenAction>;
  /** Workflow calls without an outcome yet, with their workflow. */
  readonly calls: Map<string, string>;
  /** Undecided approvals. */
  readonly questions: Map<string, OpenQuestion>;
};
