/**
 * The context that a definition works with: every operation is journaled, and resolved from the journal when it is
 * requested again.
 * Begins the definition with it, or dry-runs it (and its children's) over what is recorded to learn how steps are
 * undone.
 */
import {
  currentFrame,
  type InstanceKey,
  insideDefinition,
  refuseInside,
} from "../../effects/call-context.ts";
import type { GatedTool } from "../../effects/gate.ts";
import { resultJson } from "../../effects/run-tool.ts";
import { canonicalJson } from "../../kernel/canonical-json.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { rejectInput } from "../../kernel/fields.ts";
import type { Json } from "../../kernel/json.ts";
import { workflowStream } from "../../kernel/stream.ts";
import { ignoreRejection } from "../../runtime/concurrency.ts";
import { loadValue, readState } from "../../runtime/store-access.ts";
import { definitionOf } from "../define.ts";
import type { Current, SentBack, Workflow, WorkflowContext, WorkflowIntent } from "../definition.ts";
import type { ReachedBody } from "../events.ts";
import { keyOfOperation, type RecordedRollback } from "../rules/operations.ts";
import { restoreCaptured } from "../rules/snapshot.ts";
import { openSnapshot } from "../snapshots.ts";
import { underDefinition } from "../workflow-policy.ts";
import { callTool } from "./call.ts";
import { checkpointTool, passCheckpoint } from "./checkpoint.ts";
import { awaitRecorded, deliverRecorded } from "./drive.ts";
import { type Branch, checkName, giveValue, hasPassed, makeBranch, nextKey, opId } from "./operation.ts";
import { makeBell, noteSecrets, openRun, type WorkflowRun } from "./run.ts";
import { readStep, runAsStep } from "./step.ts";
import {
  askQuestionOperation,
  checkSleep,
  sendOperation,
  sleepOperation,
  spawnOperation,
  waitForOperation,
} from "./wait.ts";

/** An attempt after the first, in force once the entry that it went back to was delivered. */
type DefinitionAttempt = { readonly fromSeq: number; readonly number: number; readonly sentBack: SentBack };

type ContextScope = {
  readonly run: WorkflowRun;
  readonly branch: Branch;
  readonly attempts: readonly DefinitionAttempt[];
};

/**
 * Operations recorded before a rollback were requested in an earlier attempt: for them the definition must see the
 * values of that attempt, or it would request something else.
 */
function attemptNow({ run, attempts }: ContextScope): DefinitionAttempt | undefined {
  const { deliveries } = run.table;
  const last = deliveries[run.next - 1]?.seq ?? Math.min(0, (deliveries[0]?.seq ?? 1) - 1);
  return attempts.findLast(({ fromSeq }) => fromSeq <= last);
}

function gatedToolOf(run: WorkflowRun, tool: GatedTool<unknown, unknown>) {
  const name = tool?.toolName;
  const known = run.tools.get(name);
  if (known === undefined)
    throw new HoldpointError(
      "unknown_tool",
      `ctx.call takes a tool made by hp.gate, not ${String(name ?? tool)}.`,
    );
  return underDefinition(known, run.definition);
}

/** All branches end before any error is thrown: none is left running by itself. */
async function runBranches(
  { run, branch, attempts }: ContextScope,
  branches: readonly unknown[],
): Promise<unknown[]> {
  if (!Array.isArray(branches) || !branches.every((one) => typeof one === "function"))
    rejectInput("parallel takes a list of functions.");
  refuseInside(run.id, "ctx.parallel");
  const name = nextKey(branch, "parallel").slice(branch.path.length + 1);
  const path = branch.path === "" ? name : `${branch.path}.${name}`;
  const ended = await Promise.allSettled(
    branches.map(async (one, index) => {
      const inner = { run, branch: makeBranch(`${path}.${index + 1}`.replaceAll("#", "-")), attempts };
      return runWithContext(inner, one as (context: WorkflowContext) => unknown);
    }),
  );
  return ended.map((end) => {
    if (end.status === "rejected") throw end.reason;
    return end.value;
  });
}

const LARGEST_DATA_BYTES = 65_536;

/** A log line is not worth a failure: data that cannot be kept is replaced by a note. */
function logData(data: unknown): Json {
  const kept = resultJson(data);
  const bytes = Buffer.byteLength(canonicalJson(kept));
  return bytes <= LARGEST_DATA_BYTES
    ? kept
    : `[${bytes} bytes of data; a log takes at most ${LARGEST_DATA_BYTES}]`;
}

function writeLog({ run, branch }: ContextScope, text: string, data: unknown): void {
  const key = nextKey(branch, "log");
  if (run.table.ops.has(key)) return;
  const body = { op: opId(run, key), text: String(text).toWellFormed(), data: logData(data) };
  run.values.push({ type: "log.written", tv: 1, body });
}

/** Decided once, when a workflow first gets here. If it had passed before the change existed, it keeps the old way. */
function versionAt({ run, branch }: ContextScope, change: string, version: number): number {
  checkName("change", change);
  if (!(Number.isSafeInteger(version) && version >= 1))
    rejectInput(`The version of "${change}" is a whole number of at least 1.`);
  refuseInside(run.id, "ctx.version");
  const name = `version ${change}`;
  const key = `${branch.path}/${name}#${(branch.counts.get(name) ?? 0) + 1}`;
  if (!run.table.ops.has(key) && hasPassed(run, branch)) {
    nextKey(branch, name);
    return 0;
  }
  return Number(giveValue(run, branch, name, () => version));
}

async function sleep(
  { run, branch }: ContextScope,
  ms: number,
  end: (now: number, checked: number) => number,
): Promise<void> {
  const checked = checkSleep(ms);
  await sleepOperation(run, branch, (now) => end(now, checked));
}

function createRandom(run: WorkflowRun): number {
  const bytes = run.runtime.random(6);
  return Buffer.from(bytes).readUIntBE(0, 6) / 2 ** 48;
}

function makeContext(given: ContextScope): WorkflowContext {
  const { run, branch } = given;
  const context = {
    workflow: run.id,
    get attempt() {
      return attemptNow(given)?.number ?? 1;
    },
    get sentBack() {
      return attemptNow(given)?.sentBack ?? null;
    },
    call: (tool: GatedTool<unknown, unknown>, args: unknown, options = {}) =>
      callTool(run, branch, { tool: gatedToolOf(run, tool), args }, options),
    step: (name: string, first: unknown, second?: unknown) =>
      runAsStep(run, branch, readStep(name, first, second)),
    checkpoint: (name: string, captured?: unknown) => passCheckpoint(run, branch, name, captured),
    sleep: (ms: number) => ignoreRejection(sleep(given, ms, (now, length) => now + length)),
    sleepUntil: (time: number | Date) => ignoreRejection(sleep(given, Number(time), (_now, until) => until)),
    ask: (name: string, text: string, options = {}) =>
      askQuestionOperation(run, branch, { name, text, options }),
    send: (name: string, intent: WorkflowIntent) => sendOperation(run, branch, name, intent),
    waitFor: (name: string, intent: string, options = {}) =>
      waitForOperation(run, branch, name, [intent, options]),
    spawn: (child: Workflow<unknown, unknown>, input: unknown) =>
      spawnOperation(run, branch, definitionOf(child), input),
    parallel: (branches: readonly unknown[]) => ignoreRejection(runBranches(given, branches)),
    now: () => Number(giveValue(run, branch, "now", () => run.runtime.clock.now())),
    random: () => Number(giveValue(run, branch, "random", (): Json => createRandom(run))),
    log: (text: string, data: unknown = null) => writeLog(given, text, data),
    version: (change: string, version = 1) => versionAt(given, change, version),
  };
  return context as unknown as WorkflowContext;
}

/** Runs a definition or a branch. A gated tool called within it, at any depth, is a call of its context. */
function runWithContext<Value>(given: ContextScope, body: (context: WorkflowContext) => Value): Value {
  const { id: workflow, definition, runtime } = given.run;
  const ctx = makeContext(given);
  const call = ctx.call as (tool: object, args: unknown, options: object) => Promise<unknown>;
  const frame = {
    kind: "workflow",
    instance: runtime.tools,
    workflow,
    name: definition.name,
    ctx,
    call,
  } as const;
  return insideDefinition(frame, () => body(ctx));
}

/** `hp.current()`: what the caller runs in, within this instance. */
export function currentIn(instance: InstanceKey): Current | undefined {
  const frame = currentFrame();
  if (frame === undefined || frame.instance !== instance) return undefined;
  switch (frame.kind) {
    case "workflow":
      return {
        kind: "workflow",
        workflow: frame.workflow,
        name: frame.name,
        ctx: frame.ctx as WorkflowContext,
      };
    case "step": {
      const { workflow, step, attempt, idempotencyKey } = frame;
      return { kind: "step", workflow, step, attempt, idempotencyKey };
    }
    case "effect": {
      const { tool, action, effect, requestId, idempotencyKey, attempt } = frame.context;
      return { kind: "effect", tool, action, effect, requestId, idempotencyKey, attempt };
    }
    case "check":
      return { kind: "check", tool: frame.tool, part: frame.part };
  }
}

async function readSentBack(run: WorkflowRun, rollback: RecordedRollback): Promise<SentBack> {
  const { to, toSeq, generation, ...said } = rollback;
  const target = to === null ? undefined : run.table.ops.get(keyOfOperation(to));
  if (target === undefined) return { ...said, lastApprovedCheckpoint: null, restored: null };
  const { name, snapshot } = target.body as unknown as ReachedBody;
  const restored = { ...restoreCaptured(await openSnapshot(run.runtime, snapshot.hash)) };
  return { ...said, lastApprovedCheckpoint: name, restored };
}

/** The definition's attempts, each in force from the entry that it went back to. */
async function readAttempts(run: WorkflowRun): Promise<readonly DefinitionAttempt[]> {
  return Promise.all(
    run.table.rollbacks.map(async (rollback) => ({
      fromSeq: rollback.toSeq,
      number: rollback.generation,
      sentBack: await readSentBack(run, rollback),
    })),
  );
}

/** Begins the definition; its end rings the bell. */
export async function beginDefinition(run: WorkflowRun): Promise<void> {
  const whole = { run, branch: makeBranch(""), attempts: await readAttempts(run) };
  const input = structuredClone(await loadValue(run.runtime, run.state.input));
  noteSecrets(run, input);
  const end = (ending: WorkflowRun["ending"]) => {
    run.ending = ending;
    run.bell.ring();
  };
  Promise.resolve()
    .then(() => runWithContext(whole, (context) => run.definition.body(context, input)))
    .then(
      (value) => end({ kind: "returned", value }),
      (error: unknown) => end({ kind: "threw", error }),
    );
}

/** Only to learn how it would undo its steps: nothing is started, and nothing is written. */
export async function dryRunDefinition(run: WorkflowRun): Promise<void> {
  const dry: WorkflowRun = {
    ...run,
    next: 0,
    asked: new Map(),
    claimed: new Set(),
    waits: new Map(),
    values: [],
    turned: false,
    over: new AbortController(),
    changed: null,
    ending: null,
    lane: Promise.resolve(),
    bell: makeBell(),
  };
  await beginDefinition(dry);
  if ((await deliverRecorded(dry)) === undefined) await awaitRecorded(dry);
  dry.turned = true;
}

/** Dry-runs the children of a run that was itself dry-run. */
export async function dryRunChildren(run: WorkflowRun): Promise<void> {
  for (const [op, definition] of run.children) {
    const record = run.table.ops.get(keyOfOperation(op));
    if (record?.op !== op || record.kind !== "child") continue;
    const id = String(record.body["child"]);
    const state = await readState(run.runtime, workflowStream(id));
    if (state.status === "none") continue;
    const child = await openRun(run.runtime, definition, id, state);
    await dryRunDefinition(child);
    await dryRunChildren(child);
    for (const [step, tool] of child.undos) run.undos.set(step, tool);
    for (const { kind, op: own, body } of child.table.ops.values())
      if (kind === "checkpoint") run.undos.set(own, checkpointTool(child, String(body["name"])));
  }
}
