/**
 * Reads a supervised run from the journal: turns from the workflow's stream, calls from their own streams and those of
 * their approvals. Uses no in-memory state of the loop.
 */

import { isJsonObject, type Json, type JsonObject } from "../kernel/json.ts";
import { isArtifactRef } from "../kernel/stored-value.ts";
import { workflowStream } from "../kernel/stream.ts";
import type { JournalRecord } from "../runtime/contract.ts";
import { readJournal } from "../runtime/journal.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { loadValue } from "../runtime/store-access.ts";
import { entriesOf, loadInto } from "../workflows/entries.ts";
import { emptyTable, type OperationTable, type RecordedOp } from "../workflows/rules/operations.ts";
import type { SuperviseInput } from "./options.ts";
import {
  buildCallStory,
  type CallStory,
  historyRow,
  type RunStep,
  stopAtStep,
  traceRow,
} from "./rules/trace.ts";
import {
  FINALIZE_STEP,
  type HistoryRow,
  PROPOSE_STEP,
  type Tokens,
  type TraceRow,
  type Turn,
} from "./rules/turn.ts";

export type RunRecord = {
  readonly input: SuperviseInput;
  readonly steps: readonly RunStep[];
  /** Every call of the model, including failed attempts. */
  readonly turns: readonly Turn[];
  readonly trace: readonly TraceRow[];
  readonly history: readonly HistoryRow[];
  readonly tokens: Tokens;
  /** Milliseconds spent in the model and in tools. */
  readonly spentMs: number;
};

const VALUES = ["args", "result"];

/** Replaces artifact references with the large values that they refer to. */
async function loadEntryInFull(runtime: Runtime, record: JournalRecord): Promise<JournalRecord> {
  const { body } = record;
  if (!isJsonObject(body) || !VALUES.some((field) => isArtifactRef(body[field] ?? null))) return record;
  const loaded: Record<string, Json> = {};
  for (const field of VALUES) {
    const value = body[field];
    if (value !== undefined) loaded[field] = await loadValue(runtime, value);
  }
  return { ...record, body: { ...body, ...loaded } };
}

async function readCallStory(runtime: Runtime, action: string): Promise<CallStory> {
  const records = await readJournal(runtime, action);
  return buildCallStory(await Promise.all(records.map((record) => loadEntryInFull(runtime, record))));
}

type Times = { readonly taken: readonly number[]; readonly ended: ReadonlyMap<string, number> };

/** When processes took the run up (no process worked on it before that), and when its steps ended. */
async function timesOf(runtime: Runtime, id: string): Promise<Times> {
  const taken: number[] = [];
  const ended = new Map<string, number>();
  for await (const { type, at, body } of entriesOf(runtime, id)) {
    if (type === "workflow.started" || type === "workflow.resumed") taken.push(at);
    if (type === "step.completed") ended.set(String(body["op"]), at);
  }
  return { taken, ended };
}

/** A read starts and ends in one commit, so its time counts from its turn, or from the decision of its approvers. */
function callMs(
  { startedAt, decidedAt, doneAt }: CallStory,
  turnAt: number,
  taken: readonly number[],
): number {
  if (doneAt === null) return 0;
  const isOwnCommit = startedAt !== null && startedAt < doneAt;
  const begun = isOwnCommit ? startedAt : Math.max(turnAt, decidedAt);
  return Math.max(doneAt - Math.max(begun, ...taken.filter((at) => at <= doneAt)), 0);
}

async function turnOf(runtime: Runtime, op: RecordedOp): Promise<Turn | undefined> {
  if (op.settled?.kind !== "value") return undefined;
  return (await loadValue(runtime, op.settled.value)) as unknown as Turn;
}

const isTurn = ({ kind, key }: RecordedOp): boolean =>
  kind === "step" && (key.startsWith(`/${PROPOSE_STEP}#`) || key.startsWith(`/${FINALIZE_STEP}#`));

type CallOfStep = Pick<RunStep, "call" | "misuse" | "isUndone">;

async function readCallOfStep(
  runtime: Runtime,
  op: RecordedOp,
  { undos }: Pick<OperationTable, "undos">,
): Promise<CallOfStep> {
  if (op.settled?.kind === "refused") return { call: null, misuse: op.settled.error };
  const action = (op.body as JsonObject)["action"];
  const isUndone = undos.some(({ undoes, status }) => undoes === action && status === "undone");
  const call = typeof action === "string" ? await readCallStory(runtime, action) : null;
  return { call, misuse: null, ...(isUndone ? { isUndone } : {}) };
}

type TimedStep = RunStep & { readonly turnAt: number };
type TurnsAndSteps = { readonly turns: Turn[]; readonly steps: TimedStep[] };

/** A failed attempt is a turn but not a step. */
function addTurn({ turns, steps }: TurnsAndSteps, turn: Turn, turnAt: number): void {
  turns.push(turn);
  if (turn.kind === "proposed" || turn.kind === "invalid")
    steps.push({ step: steps.length + 1, turn, call: null, misuse: null, turnAt });
}

/** Operations in the order in which they were requested: a turn, then the call that it led to. */
async function readTurnsAndSteps(
  runtime: Runtime,
  table: OperationTable,
  { ended }: Times,
): Promise<TurnsAndSteps> {
  const ops = [...table.ops.values()].toSorted((a, b) => a.seq - b.seq);
  const tale: TurnsAndSteps = { turns: [], steps: [] };
  for (const op of ops) {
    const turn = isTurn(op) ? await turnOf(runtime, op) : undefined;
    if (turn !== undefined) addTurn(tale, turn, ended.get(op.op) ?? op.at);
    const last = op.kind === "call" ? tale.steps.pop() : undefined;
    if (last !== undefined) tale.steps.push({ ...last, ...(await readCallOfStep(runtime, op, table)) });
  }
  return tale;
}

function timeSpent({ turns, steps }: TurnsAndSteps, { taken }: Times): number {
  const inModel = turns.reduce((sum, turn) => sum + ("ms" in turn ? turn.ms : 0), 0);
  const inTool = ({ call, turnAt }: TimedStep) => (call === null ? 0 : callMs(call, turnAt, taken));
  return steps.reduce((sum, step) => sum + inTool(step), inModel);
}

function tokensOf(turns: readonly Turn[]): Tokens {
  const all = turns.flatMap((turn) => ("tokens" in turn ? [turn.tokens] : []));
  const sum = (field: keyof Tokens) => all.reduce((total, tokens) => total + (tokens[field] ?? 0), 0);
  const isCached = all.some(({ cached }) => cached !== undefined);
  return { input: sum("input"), output: sum("output"), ...(isCached ? { cached: sum("cached") } : {}) };
}

/** A refusal is in the history only if it was returned to the model. */
function isInHistory({ onRefusal }: SuperviseInput, step: RunStep): boolean {
  return onRefusal === "continue" || stopAtStep(step) === undefined;
}

export async function readRun(runtime: Runtime, id: string): Promise<RunRecord> {
  const table = emptyTable();
  await loadInto(runtime, table, id, Number.MAX_SAFE_INTEGER);
  const times = await timesOf(runtime, id);
  const tale = await readTurnsAndSteps(runtime, table, times);
  const { turns, steps } = tale;
  const input = await readInput(runtime, id);
  return {
    input,
    steps,
    turns,
    trace: steps.map(traceRow),
    history: steps.filter((step) => isInHistory(input, step)).map(historyRow),
    tokens: tokensOf(turns),
    spentMs: timeSpent(tale, times),
  };
}

export async function readInput(runtime: Runtime, id: string): Promise<SuperviseInput> {
  const [first] = await runtime.store.read(runtime.tenant, workflowStream(id), { fromSeq: 1, limit: 1 });
  const body = JSON.parse(first?.body ?? "{}") as { readonly input?: Json };
  return (await loadValue(runtime, body.input ?? {})) as unknown as SuperviseInput;
}
