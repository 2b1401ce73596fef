/**
 * A supervised run as the journal tells it: its turns out of the workflow's stream, and of each call what its own streams and
 * its approvals' say. What the loop remembers is not asked.
 */
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { isArtifactRef } from "../../core/stored-value.ts";
import { workflowStream } from "../../core/stream.ts";
import { type CallStory, storyOf } from "../../core/supervise/call-story.ts";
import type { HistoryRow, TraceRow } from "../../core/supervise/result.ts";
import { historyRow, type Step, stopAt, traceRow } from "../../core/supervise/rows.ts";
import { FINALIZE, PROPOSE, type Tokens, type Turn } from "../../core/supervise/turn.ts";
import { type JournalRecord, readJournal } from "../journal.ts";
import { loadValue } from "../read-state.ts";
import type { Runtime } from "../runtime.ts";
import { entriesOf } from "../workflow/entries.ts";
import { loadInto } from "../workflow/open-run.ts";
import { emptyTable, type RecordedOp } from "../workflow/recorded.ts";
import type { SuperviseInput } from "./options.ts";

export type RunRecord = {
  readonly input: SuperviseInput;
  readonly steps: readonly Step[];
  /** Every time the model was asked, those included that came to nothing. */
  readonly turns: readonly Turn[];
  readonly trace: readonly TraceRow[];
  readonly history: readonly HistoryRow[];
  readonly tokens: Tokens;
  /** Milliseconds in the model and in tools. */
  readonly spentMs: number;
};

const VALUES = ["args", "result"];

/** With large values in place of the references that stand for them. */
async function inFull(runtime: Runtime, record: JournalRecord): Promise<JournalRecord> {
  const { body } = record;
  if (!isJsonObject(body) || !VALUES.some((field) => isArtifactRef(body[field] ?? null))) return record;
  const loaded: Record<string, Json> = {};
  for (const field of VALUES) {
    const value = body[field];
    if (value !== undefined) loaded[field] = await loadValue(runtime, value);
  }
  return { ...record, body: { ...body, ...loaded } };
}

async function storyOfCall(runtime: Runtime, action: string): Promise<CallStory> {
  const records = await readJournal(runtime, action);
  return storyOf(await Promise.all(records.map((record) => inFull(runtime, record))));
}

/** When processes took it up: until then nobody worked on it. */
async function takenAt(runtime: Runtime, id: string): Promise<readonly number[]> {
  const times: number[] = [];
  for await (const { type, at } of entriesOf(runtime, id))
    if (type === "workflow.started" || type === "workflow.resumed") times.push(at);
  return times;
}

/** From when nobody was waited for to when the tool had done. */
function callMs({ freeAt, doneAt }: CallStory, taken: readonly number[]): number {
  if (doneAt === null) return 0;
  const begun = Math.max(freeAt, ...taken.filter((at) => at <= doneAt));
  return Math.max(doneAt - begun, 0);
}

async function turnOf(runtime: Runtime, op: RecordedOp): Promise<Turn | undefined> {
  if (op.settled?.kind !== "value") return undefined;
  return (await loadValue(runtime, op.settled.value)) as unknown as Turn;
}

const isTurn = ({ kind, key }: RecordedOp): boolean =>
  kind === "step" && (key.startsWith(`/${PROPOSE}#`) || key.startsWith(`/${FINALIZE}#`));

type Called = Pick<Step, "call" | "misuse">;

async function calledBy(runtime: Runtime, op: RecordedOp): Promise<Called> {
  if (op.settled?.kind === "refused") return { call: null, misuse: op.settled.error };
  const action = (op.body as JsonObject)["action"];
  return { call: typeof action === "string" ? await storyOfCall(runtime, action) : null, misuse: null };
}

/** Its operations in the order in which they were asked for: a turn, then the call that it led to. */
async function stepsOf(runtime: Runtime, ops: readonly RecordedOp[]) {
  const turns: Turn[] = [];
  const steps: Step[] = [];
  for (const op of ops) {
    if (isTurn(op)) {
      const turn = await turnOf(runtime, op);
      if (turn === undefined) continue;
      turns.push(turn);
      if (turn.kind === "proposed" || turn.kind === "invalid")
        steps.push({ step: steps.length + 1, turn, call: null, misuse: null });
    }
    const last = op.kind === "call" ? steps.pop() : undefined;
    if (last !== undefined) steps.push({ ...last, ...(await calledBy(runtime, op)) });
  }
  return { turns, steps };
}

function tokensOf(turns: readonly Turn[]): Tokens {
  const sum = (field: "input" | "output") =>
    turns.reduce((total, turn) => total + ("tokens" in turn ? turn.tokens[field] : 0), 0);
  return { input: sum("input"), output: sum("output") };
}

/** What was refused goes into the history only where it went back to the model. */
function isInHistory({ onRefusal }: SuperviseInput, step: Step): boolean {
  return onRefusal === "continue" || stopAt(step) === undefined;
}

export async function readRun(runtime: Runtime, id: string): Promise<RunRecord> {
  const table = emptyTable();
  await loadInto(runtime, table, id, Number.MAX_SAFE_INTEGER);
  const ops = [...table.ops.values()].toSorted((a, b) => a.seq - b.seq);
  const { turns, steps } = await stepsOf(runtime, ops);
  const taken = await takenAt(runtime, id);
  const input = await inputOf(runtime, id);
  const inModel = turns.reduce((sum, turn) => sum + ("ms" in turn ? turn.ms : 0), 0);
  const inTools = steps.reduce((sum, { call }) => sum + (call === null ? 0 : callMs(call, taken)), 0);
  return {
    input,
    steps,
    turns,
    trace: steps.map(traceRow),
    history: steps.filter((step) => isInHistory(input, step)).map(historyRow),
    tokens: tokensOf(turns),
    spentMs: inModel + inTools,
  };
}

async function inputOf(runtime: Runtime, id: string): Promise<SuperviseInput> {
  const [first] = await runtime.store.read(runtime.tenant, workflowStream(id), { fromSeq: 1, limit: 1 });
  const body = JSON.parse(first?.body ?? "{}") as { readonly input?: Json };
  return (await loadValue(runtime, body.input ?? {})) as unknown as SuperviseInput;
}
