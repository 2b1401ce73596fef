/**
 * One run of a definition in this process: what was asked for, what was answered, what is still to come; opened from
 * the entries.
 * All that a run writes goes through its queue, one commit after the other, in the name of the epoch that took the
 * workflow, and without the values of the secrets that the definition handed to its calls.
 * A run that is abandoned (sent back, cancelled, taken over) answers nothing any more: its promises stay pending.
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
import { workflowFold } from "../stream.ts";

/** A run: the secrets that its definition has handed over so far. */
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

/** Cut after the secrets were taken out, or it could leave half of one. */
export async function errorWithoutSecrets(run: SecretHolder, error: unknown): Promise<string> {
  if (run.handles.size === 0) return errorText(error);
  const known = await secretValuesIn(run.runtime.secrets, run.handles);
  return errorText(error, (text) => redactText(text, known));
}

/** Where the text would be something else than what it stands for, it is not taken at all. */
export async function refuseSecrets(run: SecretHolder, what: string, value: Json): Promise<void> {
  if (run.handles.size === 0) return;
  if (hasNoSecrets(value, await secretValuesIn(run.runtime.secrets, run.handles))) return;
  throw new HoldpointError("secret_transformed", `A secret's value stands in ${what} in clear.`);
}

const MAX_LOG_CHARACTERS = 10_000;

type Log = { readonly op: string; readonly text: string; readonly data: Json };

/**
 * Logs are written at once, as they are; what is known to be a secret by the time they are recorded is taken out then, and
 * only then they are cut: half a secret would stay.
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

/** An operation that the definition has asked for and not been answered. */
export type AskedOp = {
  readonly key: string;
  readonly op: string;
  readonly kind: OpKind;
  /** Does its work, as far as it can be done now. */
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
  /** Approvals that were decided before anything here was known to wait for them. */
  readonly woken: Set<string>;
  /** Values given out that no commit has taken along yet. */
  values: NewEvent[];
  /** The last commit that took some along: nothing that is made of them goes ahead of it. */
  given: Promise<unknown>;
  /** How to undo what this definition did without a tool of its own, by action. */
  readonly undos: Map<string, Tool>;
  /** What it has spawned, by operation. */
  readonly children: Map<string, Definition>;
  /** Secrets that the definition has handed to its calls: their values are taken out of what it says. */
  readonly handles: Set<string>;
  active: number;
  ending: DefinitionEnding | null;
  /** The definition has asked for everything that was recorded before this run. */
  isCaughtUp: boolean;
  /** The workflow stands elsewhere: this run is over. */
  turned: boolean;
  /** Aborted with that: whatever a step still does is of no use to anybody. */
  readonly over: AbortController;
  failure: unknown;
  /** How the definition differs from the one that the journal was written by. */
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

/** What was approved or edited is to be looked at again. */
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

/** What holds it may be gone: it is tried again. */
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
  run.state = workflowFold.evolve(run.state, { ...entry, tv: 1 }) as LiveWorkflow;
  applyEntry(run.table, entry);
  run.seen = entry.seq;
  if (entry.type === "workflow.woken") retryWoken(run, String(entry.body["by"]));
  if (isAbandoned(run)) abandonRun(run);
}

/** Reads what others have written since. Only in the lane. */
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

/** Looks at what others have written. */
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

/** Whatever is made of values waits until they are recorded: if not by this commit, then by one of their own. */
function awaitValues(run: WorkflowRun, done: Promise<Recorded>): void {
  // Not ahead of what is in the lane already, which takes them along and may be made of them.
  const keep = () => run.lane.then(() => (run.values.length > 0 ? keepValues(run) : undefined));
  const recorded = done.then(({ kind }) => (kind === "early" ? keep() : undefined), keep);
  run.given = ignoreRejection(Promise.all([run.given, recorded]));
}

/** Writes facts down, and those values with them that were given out before. */
export function commitRun(run: WorkflowRun, rules: RunRules): Promise<Recorded> {
  const before = run.values;
  run.values = [];
  const done = inLane<Recorded>(run, async () => {
    if (run.turned) return { kind: "turned" };
    // A commit before this one may have failed, and left those behind that it should have taken along.
    if (run.values.length > 0) awaitValues(run, done);
    const taken = [...run.values, ...before];
    run.values = [];
    let isWritten = false;
    try {
      const answer = await writeFacts(run, rules, taken);
      isWritten = answer.kind === "recorded";
      return answer;
    } finally {
      // Nothing was written: the next commit takes along what was given out.
      if (!isWritten) run.values = [...taken, ...run.values];
    }
  });
  if (before.length > 0) awaitValues(run, done);
  return done;
}

/** Writes down what was given out, before something that is made of it is done. */
export function keepValues(run: WorkflowRun): Promise<Recorded> {
  return commitRun(run, (draft, runner, before) =>
    recordFacts(draft, runner, { phase: "run", events: () => before }),
  );
}

/** Whatever ends the run or lets go of it; what came in between is looked at first. */
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

/** Lets go of a workflow that waits. Answers false when something has moved. */
export async function releaseRun(run: WorkflowRun, waits: readonly OpenWait[]): Promise<boolean> {
  // What is held is found by what holds it: only as long as it is here, it is looked at by the clock.
  const times = waits.flatMap(({ kind, until }) => (kind === "held" ? [] : (until ?? [])));
  const wakeAt = times.length === 0 ? null : Math.min(...times);
  const listed = waits.map(({ op, kind, on }) => ({ op, kind, on }));
  // As it was when the caller found it waiting: what the lane sees before this comes to its turn is news.
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
