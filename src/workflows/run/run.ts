/**
 * One run of a definition in this process: operations requested, settled and still to come; opened from the entries.
 * A run writes through its queue, one commit after the other, under the epoch that took the workflow, and without the
 * values of secrets that the definition passed to its calls.
 * An abandoned run (sent back, cancelled, taken over) settles nothing any more: its promises stay pending.
 */

import type { Tool } from "../../effects/tool.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import { type NewEvent, workflowStream } from "../../kernel/stream.ts";
import { errorText } from "../../kernel/text.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import { ignoreRejection } from "../../runtime/concurrency.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { handlesIn, hasNoSecrets, redactJson, redactText } from "../../runtime/secrets.ts";
import { runCommand } from "../../runtime/store-access.ts";
import type { Definition } from "../definition.ts";
import { entriesOf, loadInto } from "../entries.ts";
import type { Wait } from "../events.ts";
import { type Recorded, type Runner, recordFacts, suspend } from "../rules/lifecycle.ts";
import {
  applyEntry,
  emptyTable,
  type OperationTable,
  type OpKind,
  type RecordedOp,
  type Settlement,
  type WorkflowEntry,
} from "../rules/operations.ts";
import { secretValuesIn } from "../snapshots.ts";
import type { LiveWorkflow } from "../state.ts";
import { workflow } from "../stream.ts";

/** A run: the secrets that its definition has passed so far. */
type SecretHolder = { readonly runtime: Pick<Runtime, "secrets">; readonly handles: Set<string> };

export function noteSecrets(run: SecretHolder, args: Json): void {
  for (const handle of handlesIn(args)) run.handles.add(handle);
}

export async function withoutSecrets(run: SecretHolder, value: Json): Promise<Json> {
  if (run.handles.size === 0) return value;
  return redactJson(value, await secretValuesIn(run.runtime.secrets, run.handles));
}

export async function textWithoutSecrets(run: SecretHolder, text: string): Promise<string> {
  if (run.handles.size === 0) return text;
  return redactText(text, await secretValuesIn(run.runtime.secrets, run.handles));
}

/** Truncated after redaction; otherwise half of a secret could remain. */
export async function errorWithoutSecrets(run: SecretHolder, error: unknown): Promise<string> {
  if (run.handles.size === 0) return errorText(error);
  const known = await secretValuesIn(run.runtime.secrets, run.handles);
  return errorText(error, (text) => redactText(text, known));
}

/** For values that redaction would turn into something else: refuses them instead. */
export async function refuseSecrets(run: SecretHolder, what: string, value: Json): Promise<void> {
  if (run.handles.size === 0) return;
  if (hasNoSecrets(value, await secretValuesIn(run.runtime.secrets, run.handles))) return;
  throw new HoldpointError("secret_transformed", `A secret's value is in ${what}.`);
}

const MAX_LOG_CHARACTERS = 10_000;

type Log = { readonly op: string; readonly text: string; readonly data: Json };

/**
 * Logs are queued unchanged. Secrets known when they are recorded are redacted then, and only after that the text is
 * truncated: otherwise half of a secret could remain.
 */
async function logsWithoutSecrets(
  run: SecretHolder,
  events: readonly NewEvent[],
): Promise<readonly NewEvent[]> {
  if (!events.some(({ type }) => type === "log.written")) return events;
  const known = await secretValuesIn(run.runtime.secrets, run.handles);
  return events.map((event) => {
    if (event.type !== "log.written") return event;
    const { op, text, data } = event.body as Log;
    const cut = redactText(text, known).slice(0, MAX_LOG_CHARACTERS).toWellFormed();
    const body: JsonObject = { op, text: cut, data: redactJson(data, known) };
    return { ...event, body };
  });
}

/** An operation that the definition has requested and that has not settled. */
export type AskedOp = {
  readonly key: string;
  readonly op: string;
  readonly kind: OpKind;
  /** Does its work, as far as possible now. */
  readonly start: (record: RecordedOp | null) => Promise<void>;
  readonly settle: (settlement: Settlement) => Promise<void>;
  isStarted: boolean;
};

export type OpenWait = Wait & { readonly until: number | null };
type DefinitionEnding =
  | { readonly kind: "returned"; readonly value: unknown }
  | { readonly kind: "threw"; readonly error: unknown };

export type WorkflowRun = {
  readonly runtime: Runtime;
  readonly definition: Definition;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly id: string;
  readonly epoch: string;
  state: LiveWorkflow;
  readonly table: OperationTable;
  /** The next delivery. */
  next: number;
  /** The last entry that was applied. */
  seen: number;
  written: number;
  readonly asked: Map<string, AskedOp>;
  readonly claimed: Set<string>;
  readonly waits: Map<string, OpenWait>;
  /** Approvals that were decided before this run was known to wait for them. */
  readonly woken: Set<string>;
  /** Values returned to the definition that no commit has recorded yet. */
  values: NewEvent[];
  /** The last commit that recorded such values: nothing derived from them may precede it. */
  given: Promise<unknown>;
  /** By operation: how to undo effects of this definition that have no registered tool. */
  readonly undos: Map<string, Tool>;
  /** Spawned definitions, by operation. */
  readonly children: Map<string, Definition>;
  /** Secrets that the definition has passed to its calls: their values are redacted from what it writes. */
  readonly handles: Set<string>;
  active: number;
  ending: DefinitionEnding | null;
  /** The definition has requested everything that was recorded before this run. */
  isCaughtUp: boolean;
  /** The workflow has moved on: this run has ended. */
  turned: boolean;
  /** Aborted at that time: the result of a running step is no longer used. */
  readonly over: AbortController;
  failure: unknown;
  /** How the definition differs from the one that wrote the journal. */
  changed: string | null;
  lane: Promise<void>;
  bell: { wait(): Promise<void>; ring(): void };
};

export function makeBell(): WorkflowRun["bell"] {
  let rung = false;
  let wake: (() => void) | null = null;
  return {
    wait() {
      if (rung) {
        rung = false;
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        wake = () => {
          wake = null;
          rung = false;
          resolve();
        };
      });
    },
    ring() {
      rung = true;
      wake?.();
    },
  };
}

const OVER: readonly string[] = ["rolling_back", "completed", "failed", "settling"];

function isAbandoned(run: WorkflowRun): boolean {
  return run.state.runner !== run.epoch || OVER.includes(run.state.status);
}

export function abandonRun(run: WorkflowRun): void {
  run.turned = true;
  run.over.abort();
}

/** Retries operations whose approval was decided or edited. */
function retryWoken(run: WorkflowRun, by: string): void {
  run.woken.add(by);
  for (const [key, wait] of run.waits) {
    if (wait.on !== by) continue;
    run.woken.delete(by);
    run.waits.delete(key);
    const op = run.asked.get(key);
    if (op !== undefined) op.isStarted = false;
  }
}

/** Retries held operations: the obstacle may be gone. */
export function wakeHeld(run: WorkflowRun): void {
  for (const [key, { kind }] of run.waits) {
    if (kind !== "held") continue;
    run.waits.delete(key);
    const op = run.asked.get(key);
    if (op !== undefined) op.isStarted = false;
  }
  run.bell.ring();
}

function applyToRun(run: WorkflowRun, entry: WorkflowEntry): void {
  run.state = workflow.fold.evolve(run.state, { ...entry, tv: 1 }) as LiveWorkflow;
  applyEntry(run.table, entry);
  run.seen = entry.seq;
  if (entry.type === "workflow.woken") retryWoken(run, String(entry.body["by"]));
  if (isAbandoned(run)) abandonRun(run);
}

/** Reads entries that others have written since. Only in the lane. */
async function catchUp(run: WorkflowRun): Promise<void> {
  for await (const entry of entriesOf(run.runtime, run.id, run.seen + 1)) applyToRun(run, entry);
}

function applyOwn(
  run: WorkflowRun,
  { from, events, now }: Extract<Recorded, { kind: "recorded" }>,
): Promise<void> | undefined {
  if (from !== run.seen || events.length === 0) return catchUp(run);
  events.forEach(({ type, body }, index) => {
    applyToRun(run, { type, body, at: now, seq: from + index + 1 });
  });
  return undefined;
}

function inLane<Value>(run: WorkflowRun, work: () => Promise<Value>): Promise<Value> {
  const done = run.lane.then(work);
  run.lane = done.then(
    () => run.bell.ring(),
    () => run.bell.ring(),
  );
  return done;
}

/** Reads entries that others have written. */
export function readNews(run: WorkflowRun): Promise<void> {
  return inLane(run, () => catchUp(run));
}

type RunRules = (draft: Draft, runner: Runner, before: readonly NewEvent[]) => Need | Recorded;

/** Only in the lane. */
async function writeFacts(run: WorkflowRun, rules: RunRules, given: readonly NewEvent[]): Promise<Recorded> {
  const runner = { workflow: run.id, epoch: run.epoch, written: run.written };
  const values = await logsWithoutSecrets(run, given);
  await run.runtime.reach("before_fact");
  const answer = await runCommand(run.runtime, { write: [workflowStream(run.id)] }, (draft) =>
    rules(draft, runner, values),
  );
  await run.runtime.reach("after_fact");
  if (answer.kind === "recorded") {
    run.written = answer.written;
    await applyOwn(run, answer);
  }
  if (answer.kind === "turned") await catchUp(run);
  return answer;
}

/** Work derived from values waits until they are recorded: by this commit, or by one of their own. */
function awaitValues(run: WorkflowRun, done: Promise<Recorded>): void {
  // Not before the commits already in the lane, which record them and may derive from them.
  const keep = () => run.lane.then(() => (run.values.length > 0 ? keepValues(run) : undefined));
  const recorded = done.then(({ kind }) => (kind === "early" ? keep() : undefined), keep);
  run.given = ignoreRejection(Promise.all([run.given, recorded]));
}

/** Records events, together with the values returned to the definition before. */
export function commitRun(run: WorkflowRun, rules: RunRules): Promise<Recorded> {
  const before = run.values;
  run.values = [];
  const done = inLane<Recorded>(run, async () => {
    if (run.turned) return { kind: "turned" };
    // An earlier commit may have failed and left behind the values it should have recorded.
    if (run.values.length > 0) awaitValues(run, done);
    const taken = [...run.values, ...before];
    run.values = [];
    let isWritten = false;
    try {
      const answer = await writeFacts(run, rules, taken);
      isWritten = answer.kind === "recorded";
      return answer;
    } finally {
      // Nothing was written: the next commit records these values.
      if (!isWritten) run.values = [...taken, ...run.values];
    }
  });
  if (before.length > 0) awaitValues(run, done);
  return done;
}

/** Records one event of an operation; `body` is made only if it is appended. `notBefore`: by the store's clock. */
export function recordFact(
  run: WorkflowRun,
  type: string,
  body: JsonObject | ((draft: Draft) => JsonObject),
  notBefore?: number,
): Promise<Recorded> {
  const limit = notBefore === undefined ? {} : { notBefore };
  return commitRun(run, (draft, runner, before) => {
    const events = () => [...before, { type, tv: 1, body: typeof body === "function" ? body(draft) : body }];
    return recordFacts(draft, runner, { phase: "run", events, ...limit });
  });
}

/** The requested operation that has this id. */
export const askedOperation = (run: WorkflowRun, op: string): AskedOp | undefined =>
  [...run.asked.values()].find((one) => one.op === op);

/** Has the operation begin again when the run goes on. */
export function startAgain(run: WorkflowRun, op: string): void {
  const asked = askedOperation(run, op);
  if (asked !== undefined) asked.isStarted = false;
}

/** Records returned values before work derived from them is done. */
export function keepValues(run: WorkflowRun): Promise<Recorded> {
  return commitRun(run, (draft, runner, before) =>
    recordFacts(draft, runner, { phase: "run", events: () => before }),
  );
}

/** Ends the run or releases it; if entries came in between, reads them. */
export function conclude<Answer extends { readonly kind: string }>(
  run: WorkflowRun,
  rules: (draft: Draft, runner: Runner, before: readonly NewEvent[]) => Need | Answer,
  what: "fact" | "rest" = "fact",
): Promise<Exclude<Answer, Need>> {
  return inLane(run, async () => {
    const runner = { workflow: run.id, epoch: run.epoch, written: run.written };
    const values = await logsWithoutSecrets(run, run.values);
    await run.runtime.reach(`before_${what}`);
    const answer = await runCommand(run.runtime, { write: [workflowStream(run.id)] }, (draft) =>
      rules(draft, runner, values),
    );
    await run.runtime.reach(`after_${what}`);
    if (answer.kind === "turned" || answer.kind === "moved") await catchUp(run);
    return answer as Exclude<Answer, Need>;
  });
}

/** Releases a workflow that waits. Returns false if something has changed. */
export async function releaseRun(run: WorkflowRun, waits: readonly OpenWait[]): Promise<boolean> {
  // A held workflow is found by its obstacle; its `until` counts only while the run is in memory.
  const times = waits.flatMap(({ kind, until }) => (kind === "held" ? [] : (until ?? [])));
  const wakeAt = times.length === 0 ? null : Math.min(...times);
  const listed = waits.map(({ op, kind, on }) => ({ op, kind, on }));
  // As of when the caller found it waiting: entries that the lane reads before this runs are news.
  const { seen } = run;
  const answer = await conclude(
    run,
    (draft, runner, before) => suspend(draft, runner, { seen, waits: listed, wakeAt, before }),
    "rest",
  );
  if (answer.kind === "moved") wakeHeld(run);
  return answer.kind === "suspended";
}

export async function openRun(
  runtime: Runtime,
  definition: Definition,
  id: string,
  state: LiveWorkflow,
): Promise<WorkflowRun> {
  const table = emptyTable();
  const seen = await loadInto(runtime, table, id, state.seq);
  return {
    runtime,
    definition,
    tools: definition.tools === undefined ? runtime.tools : new Map([...runtime.tools, ...definition.tools]),
    id,
    epoch: state.runner ?? "",
    state,
    table,
    next: 0,
    seen,
    written: state.written,
    asked: new Map(),
    claimed: new Set(),
    waits: new Map(),
    woken: new Set(),
    values: [],
    given: Promise.resolve(),
    undos: new Map(),
    children: new Map(),
    handles: new Set(),
    active: 0,
    ending: null,
    isCaughtUp: false,
    turned: false,
    over: new AbortController(),
    failure: undefined,
    changed: null,
    lane: Promise.resolve(),
    bell: makeBell(),
  };
}
