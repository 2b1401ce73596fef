/**
 * What a replay of the journal reads and remembers: entries of all streams in commit order, the calls of each workflow,
 * and the events that a replay reports: what was proposed, how it was reviewed, what people decided, what started.
 * A workflow's calls are those, in the same order, that a review hands to a policy: settled ones in the order in which
 * they settled, then open ones, all of that by the time of their proposal.
 * Only workflows that have not ended are kept. An erased body makes a history incomplete, and the history says so.
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
  /** JSON text; null when it was erased. Read only where it is needed: most of a journal is not. */
  readonly text: string | null;
};

/** Everything that a replay listens to. */
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
 * The text of a field, found without reading the rest: a quote inside of a text has a backslash before it, so that nothing
 * else looks like a key. The keys of a header stand in a fixed order.
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

/** Undefined for what no replay listens to. */
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
  /** Nothing of its history was erased. */
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

/** Answers where a workflow begins with the history of another: that has to be brought with `beginWith`. */
export function applyWorkflowEntry(flows: ReplayedFlows, entry: ReplayEntry): Fork | undefined {
  if (entry.type === "workflow.created") return create(flows, entry);
  const flow = flows.get(entry.id);
  if (flow !== undefined) move(flows, entry, flow);
  return undefined;
}

/** null: what it begins with cannot be known any more. */
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
  /** As proposed; over 64 KiB a reference. */
  readonly args: Json;
  readonly argsDigest: string;
  readonly at: number;
};

/** What a policy is asked about it as. What an agent named as an undo is a call of that tool. */
export const callKindOfAction = ({ within }: Pick<RecordedAction, "within">): CallKind =>
  within === null || within.undoes === null || within.declared !== undefined ? "call" : "undo";

/** Rules under which an undo was let through that the document had nothing to say of. */
const LEFT_TO_THE_PROGRAM: readonly string[] = ["policy", UNDO_NOT_NAMED];

/**
 * May be of a journal from before undos that agents name were reviewed as calls: then a document was asked about one as about
 * what a tool declares, and could leave it to the program.
 */
export const mayBeLeftAlone = (
  { within }: Pick<RecordedAction, "within">,
  { verdict, rule }: Pick<RecordedReview, "verdict" | "rule">,
): boolean => within?.declared !== undefined && verdict === "approve" && LEFT_TO_THE_PROGRAM.includes(rule);

export type RecordedReview = ReviewFacts & { readonly revised: boolean; readonly argsDigest: string };
export type PersonDecision = "approved" | "edited" | "rejected" | "expired" | "cancelled";

type About = { readonly action: RecordedAction };

export type ReplayEvent =
  | { readonly kind: "proposed"; readonly at: number }
  | { readonly kind: "lost"; readonly at: number; readonly what: "proposal" | "review" | "decision" }
  | { readonly kind: "forked"; readonly workflow: string; readonly fork: Fork; readonly position: number }
  | (About & { readonly kind: "reviewed"; readonly review: RecordedReview; readonly now: number })
  /** People were asked, about these arguments. */
  | (About & {
      readonly kind: "asked";
      readonly args: Json;
      readonly argsDigest: string;
      readonly rule: string;
      readonly terms: ApprovalTerms;
      /** More than one of them has to agree, at once or in stages. */
      readonly ofSeveral: boolean;
    })
  /** An approval that was given was taken back before it was used. */
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
      /** Of the arguments that were approved, where a person changed them. */
      readonly editedDigest: string | null;
    })
  | (About & { readonly kind: "started"; readonly costs: readonly ReservedCost[] });

export type OpenAction = {
  readonly action: RecordedAction;
  revised: string | null;
  reviewed: boolean;
  /** Digests of the arguments that people were asked about last, and that one of them last wanted instead. */
  asked: string | null;
  edited: string | null;
  /** What people were asked about last is what one of them had made of it. */
  isEdit: boolean;
};
export type OpenQuestion = { readonly action: RecordedAction; editedDigest: string | null };

/** What a replay remembers on its way. */
export type ReplayState = {
  readonly flows: ReplayedFlows;
  /** Actions that have neither started nor been refused. */
  readonly open: Map<string, OpenAction>;
  /** Calls of workflows whose outcome is still to come, and where they belong. */
  readonly calls: Map<string, string>;
  /** Of approvals that nobody has decided. */
  readonly questions: Map<string, OpenQuestion>;
};
