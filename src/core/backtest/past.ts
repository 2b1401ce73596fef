/**
 * What each workflow had called, as it stood at any place of the tape.
 *
 * H1. The same calls in the same order as `action/review.ts` hands to a policy: settled ones in the order in which
 *     they settled, then open ones, and all of that by the time of their proposal.
 * H2. Only workflows that have not come to their end are kept.
 * H3. What was erased makes a history incomplete, and it says so.
 */
import { isJsonObject, type JsonObject } from "../../kernel/json.ts";
import type { PastCall } from "../verdict.ts";
import type { Fork } from "../workflow/events.ts";
import { bodyIn, type TapeEntry } from "./tape.ts";

type Flow = {
  readonly name: string;
  readonly poster: string;
  generation: number;
  readonly settled: string[];
  readonly open: Set<string>;
  readonly calls: Map<string, PastCall>;
  whole: boolean;
  over: boolean;
};

export type FlowFacts = {
  readonly id: string;
  readonly name: string;
  readonly poster: string;
  readonly generation: number;
  /** Nothing of its history was erased. */
  readonly whole: boolean;
};

export type Flows = Map<string, Flow>;

const UNKNOWN = "";

function fresh(name: string, poster = ""): Flow {
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

function settle(flow: Flow, action: string): void {
  if (!flow.calls.has(action)) flow.whole = false;
  flow.open.delete(action);
  flow.settled.push(action);
}

function undo(flow: Flow, action: string): void {
  const call = flow.calls.get(action);
  if (call !== undefined) flow.calls.set(action, { ...call, undone: true });
}

type Body = Readonly<Record<string, unknown>>;

const MOVES: { readonly [type: string]: (flow: Flow, body: Body) => void } = {
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

function posterIn(body: JsonObject | null): string {
  const parties = body?.["parties"];
  return isJsonObject(parties) && typeof parties["poster"] === "string" ? parties["poster"] : "";
}

function create(flows: Flows, entry: TapeEntry): Fork | undefined {
  const body = bodyIn(entry);
  flows.set(entry.id, fresh(String(body?.["name"] ?? UNKNOWN), posterIn(body)));
  return (body?.["fork"] ?? undefined) as Fork | undefined;
}

function move(flows: Flows, entry: TapeEntry, flow: Flow): void {
  const apply = MOVES[entry.type];
  if (apply !== undefined) {
    const body = bodyIn(entry);
    if (body === null) flow.whole = false;
    else apply(flow, body);
  }
  if (ENDS.has(entry.type)) flow.over = true;
  if (entry.type === "workflow.closed") flow.open.clear();
  if (flow.over && flow.open.size === 0) flows.delete(entry.id);
}

/** Answers where a workflow begins with the history of another: that has to be brought with `beginWith`. */
export function takeWorkflow(flows: Flows, entry: TapeEntry): Fork | undefined {
  if (entry.type === "workflow.created") return create(flows, entry);
  const flow = flows.get(entry.id);
  if (flow !== undefined) move(flows, entry, flow);
  return undefined;
}

/** null: what it begins with cannot be known any more. */
export function beginWith(flows: Flows, workflow: string, calls: readonly PastCall[] | null): void {
  const flow = flows.get(workflow);
  if (flow === undefined) return;
  if (calls === null) flow.whole = false;
  for (const call of calls ?? []) {
    flow.calls.set(call.action, call);
    flow.settled.push(call.action);
  }
}

export function addCall(flows: Flows, workflow: string, call: PastCall): void {
  const flow = flows.get(workflow);
  flow?.calls.set(call.action, call);
  flow?.open.add(call.action);
}

export function changeCall(flows: Flows, workflow: string, action: string, change: Partial<PastCall>): void {
  const calls = flows.get(workflow)?.calls;
  const call = calls?.get(action);
  if (call !== undefined) calls?.set(action, { ...call, ...change });
}

export function damage(flows: Flows, workflow: string): void {
  const flow = flows.get(workflow);
  if (flow !== undefined) flow.whole = false;
}

export function flowFacts(flows: Flows, workflow: string): FlowFacts | undefined {
  const flow = flows.get(workflow);
  if (flow === undefined) return undefined;
  const { name, poster, generation, whole } = flow;
  return { id: workflow, name, poster, generation, whole };
}

export function historyOf(flows: Flows, workflow: string, except: string): readonly PastCall[] {
  const flow = flows.get(workflow);
  const ids = flow === undefined ? [] : [...flow.settled, ...flow.open];
  const calls = ids.flatMap((id) => (id === except ? [] : (flow?.calls.get(id) ?? [])));
  return calls.sort((a, b) => a.at - b.at);
}
