/**
 * Takes a workflow and runs its definition as far as it goes in this process; for one that was requested by name,
 * first says what the definition adds.
 */

import { resultJson } from "../../effects/run-tool.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import { workflowStream } from "../../kernel/stream.ts";
import { errorText } from "../../kernel/text.ts";
import type { Epoch, Runtime } from "../../runtime/runtime.ts";
import { loadValue, runCommand } from "../../runtime/store-access.ts";
import { buildCreation, validInput } from "../define.ts";
import type { Definition } from "../definition.ts";
import { readChildCalls } from "../entries.ts";
import { completeWorkflow, type Defining, failRun, type Take, takeRun } from "../rules/lifecycle.ts";
import { rollBackRun } from "../rules/rollback.ts";
import type { LiveWorkflow } from "../state.ts";
import { withdrawQuestions } from "../withdraw.ts";
import { beginDefinition } from "./context.ts";
import { type DriveResult, drive } from "./drive.ts";
import { rollBackWorkflow } from "./rollback.ts";
import {
  abandonRun,
  conclude,
  errorWithoutSecrets,
  type OpenWait,
  openRun,
  releaseRun,
  type WorkflowRun,
  withoutSecrets,
} from "./run.ts";

/** Whether a child that was spawned after an entry made a call that is undone by itself when its parent fails. */
async function hasDeclaredUndo(
  { runtime, table }: Pick<WorkflowRun, "runtime" | "table">,
  after: number,
): Promise<boolean> {
  for (const { kind, seq, body, settled } of table.ops.values()) {
    if (kind !== "child" || seq <= after || settled?.kind === "refused") continue;
    const calls = await readChildCalls(runtime, String(body["child"]));
    if (calls.some((call) => call.body["rollback"] === true)) return true;
  }
  return false;
}

/** As if it had been started here, but for who asked: a definition's own poster gives way to them. */
function definedBody(
  runtime: Runtime,
  definition: Definition,
  input: Parameters<typeof validInput>[1],
  { requester, parties }: LiveWorkflow,
): Defining {
  const poster = parties.poster === null ? {} : { poster: parties.poster };
  const origin = { requestId: null, epoch: null, requester, parties: poster };
  const { body } = buildCreation(runtime, definition, validInput(definition, input), origin);
  const { agent, description, version, escrow, complexity, checkpoints } = body;
  const { attempts, rollbackEnabled, onIrreversible } = body;
  return {
    kind: "fits",
    body: {
      ...{ agent, description, version, escrow, complexity, checkpoints },
      ...{ attempts, rollbackEnabled, onIrreversible },
      ...{ requester: body.requester, parties: body.parties, input: body.input },
    },
  };
}

/** Whatever its schema or its functions say against it ends the workflow: nobody waits for an answer here. */
async function defineRequested(
  runtime: Runtime,
  definition: Definition,
  state: LiveWorkflow,
): Promise<Defining> {
  const input = await loadValue(runtime, state.input);
  try {
    return definedBody(runtime, definition, input, state);
  } catch (error) {
    const code = isHoldpointError(error, "invalid_args") ? "invalid_args" : "error";
    const reason = isHoldpointError(error) ? error.what : errorText(error);
    return { kind: "unfit", code, reason, by: runtime.agent };
  }
}

/** How a run left its workflow. */
type RunOutcome = { readonly kind: "over" | "suspended" | "changed" | "left" | "busy" };

/** Whether anything is to be undone after a failure: what was declared so, by the workflow, by itself or in a child. */
async function isUndone(run: WorkflowRun): Promise<boolean> {
  if (run.state.rollbackEnabled) return true;
  const since = run.state.passed.at(-1)?.seq ?? 0;
  const isDeclared = [...run.table.ops.values()].some(
    ({ kind, seq, body }) => kind === "call" && seq > since && body["rollback"] === true,
  );
  return isDeclared || hasDeclaredUndo(run, since);
}

/** What the definition has asked and not waited for, before it is over: afterwards nobody would know of it. */
async function withdrawLeft(run: WorkflowRun): Promise<void> {
  const open = [...run.table.ops.values()].filter(({ settled }) => settled === null);
  const said = { by: run.runtime.agent, reason: `${run.id} has ended without waiting for it` };
  await withdrawQuestions(run.runtime, open, said);
}

/** A definition that ended although people are still asked at a checkpoint: it is over when they have decided. */
async function awaitCheckpoint(run: WorkflowRun): Promise<void> {
  const { pending, status, runner } = run.state;
  if (status !== "awaiting_approval" || pending === null || runner !== run.epoch) return;
  await releaseRun(run, [{ op: pending.op, kind: "checkpoint", on: pending.approval, until: null }]);
}

async function endRun(run: WorkflowRun): Promise<void> {
  const { ending } = run;
  if (ending === null) return;
  if (ending.kind === "returned") {
    await withdrawLeft(run);
    const result = await withoutSecrets(run, resultJson(ending.value));
    await conclude(run, (draft, runner, before) => completeWorkflow(draft, runner, { result, before }));
    return awaitCheckpoint(run);
  }
  const reason = await errorWithoutSecrets(run, ending.error);
  if (await isUndone(run)) {
    const plan = { reason, scope: "declared" } as const;
    await conclude(run, (draft, runner, before) => rollBackRun(draft, runner, { ...plan, before }));
    return;
  }
  await withdrawLeft(run);
  const failure = { code: "error", reason, by: "workflow", report: null } as const;
  await conclude(run, (draft, runner, before) => failRun(draft, runner, { failure, before }));
}

async function refuseChanged(run: WorkflowRun, difference: string): Promise<void> {
  run.values = [];
  run.runtime.notify({ kind: "definition_changed", workflow: run.id, name: run.definition.name, difference });
  const wait = {
    op: `${run.id}/${run.state.generation}/`,
    kind: "definition",
    on: difference,
    until: null,
  } as const;
  // Somebody may write at the same time: what they wrote is looked at, and it is let go of all the same.
  while (!(await releaseRun(run, [wait])) && !run.turned);
}

/** One stretch: until it ends, is let go of, or is sent back. */
async function runStretch(run: WorkflowRun): Promise<DriveResult["kind"]> {
  try {
    await beginDefinition(run);
    const driven = await drive(run);
    if (driven.kind === "ended") await endRun(run);
    if (driven.kind === "changed") await refuseChanged(run, driven.difference);
    return driven.kind;
  } finally {
    // Whatever the definition still does cannot reach the journal any more.
    abandonRun(run);
  }
}

async function takeWorkflow(
  runtime: Runtime,
  definition: Definition,
  command: Take,
): Promise<LiveWorkflow | "left" | "over"> {
  const taken = await runCommand(runtime, { write: [workflowStream(command.workflow)] }, (draft) =>
    takeRun(draft, command),
  );
  if (taken.kind === "taken") return taken.state;
  if (taken.kind === "left") return taken.state?.end == null ? "left" : "over";
  const defining = await defineRequested(runtime, definition, taken.state);
  return takeWorkflow(runtime, definition, { ...command, defining });
}

type RunAssignment = { readonly definition: Definition; readonly id: string; readonly dead: string | null };

async function runOnce(run: WorkflowRun): Promise<RunOutcome["kind"] | "again"> {
  if (run.state.status !== "rolling_back") {
    const kind = await runStretch(run);
    return kind === "suspended" || kind === "changed" ? kind : "again";
  }
  const back = await rollBackWorkflow(run);
  if (back === "waits") return "suspended";
  if (back === "unfit") return "changed";
  return back === "again" ? "again" : "over";
}

const MOST_HAND_OVERS = 5;

/**
 * The process ends in good order: it lets go at once, for another to go on with, and not only when its slowest effect has
 * ended. What cannot be let go of now is free when its epoch ends.
 */
async function handOver(run: WorkflowRun): Promise<void> {
  const { id, epoch } = run;
  if (run.active > 0) return;
  for (let tries = 0; tries < MOST_HAND_OVERS; tries++) {
    const { status, pending, runner, generation } = run.state;
    if (runner !== epoch) return;
    const wait: OpenWait =
      status === "awaiting_approval" && pending !== null
        ? { op: pending.op, kind: "checkpoint", on: pending.approval, until: null }
        : { op: `${id}/${generation}/`, kind: "node", on: epoch, until: null };
    if (await releaseRun(run, [wait])) return;
  }
}

/** Only while the epoch that took it lasts: in the name of another one nothing of this run can be written. */
async function whileHeld<Value>(
  run: WorkflowRun,
  { lost }: Epoch,
  work: () => Promise<Value>,
): Promise<Value> {
  const turn = () => {
    abandonRun(run);
    run.bell.ring();
  };
  lost.addEventListener("abort", turn);
  if (lost.aborted) turn();
  return work().finally(() => lost.removeEventListener("abort", turn));
}

/** Runs a workflow until it is over, waits, or belongs to somebody else. */
export async function performRun(
  runtime: Runtime,
  { definition, id, dead: given }: RunAssignment,
  onRun: (run: WorkflowRun) => void,
): Promise<RunOutcome> {
  for (let dead = given; ; ) {
    if (runtime.closing.aborted) return { kind: "left" };
    const own = await runtime.epoch();
    // Here and not further down, so that whatever a test makes of it holds for the whole run.
    await runtime.reach("before_take");
    const state = await takeWorkflow(runtime, definition, { workflow: id, epoch: own.id, dead });
    await runtime.reach("after_take");
    if (state === "left" || state === "over") return { kind: state };
    const run = await openRun(runtime, definition, id, state);
    onRun(run);
    const kind = await whileHeld(run, own, () => runOnce(run));
    if (kind !== "again") return { kind };
    // Its own run of it is over: it goes on in the name of its next epoch, unless somebody else was first.
    if (own.lost.aborted) dead = own.id;
    if (runtime.closing.aborted) await handOver(run).catch(() => undefined);
  }
}
