/**
 * Takes a workflow and runs its definition as far as it goes in this process. For one that was requested by name, it
 * first records what the definition adds.
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
import { withdrawQuestions } from "../operate.ts";
import { completeWorkflow, type Defining, failRun, type Take, takeRun } from "../rules/lifecycle.ts";
import { rollBackRun } from "../rules/rollback.ts";
import type { LiveWorkflow } from "../state.ts";
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

/** Whether a child spawned after an entry made a call that is undone automatically when its parent fails. */
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

/** As if started here, except for the requester: a poster in the request replaces the definition's. */
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

/** An error in its schema or functions ends the workflow: no caller waits for the result here. */
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

/** Whether a failure undoes anything: as declared by the workflow, by a call, or in a child. */
async function isUndone(run: WorkflowRun): Promise<boolean> {
  if (run.state.rollbackEnabled) return true;
  const since = run.state.passed.at(-1)?.seq ?? 0;
  const isDeclared = [...run.table.ops.values()].some(
    ({ kind, seq, body }) => kind === "call" && seq > since && body["rollback"] === true,
  );
  return isDeclared || hasDeclaredUndo(run, since);
}

/** Withdraws what the definition requested and did not wait for, before it ends: no record leads to it later. */
async function withdrawLeft(run: WorkflowRun): Promise<void> {
  const open = [...run.table.ops.values()].filter(({ settled }) => settled === null);
  const said = { by: run.runtime.agent, reason: `${run.id} has ended without waiting for it` };
  await withdrawQuestions(run.runtime, open, said);
}

/** If the definition ended while a checkpoint is pending, the run waits for the decision. */
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
  // Another process may write at the same time: read its entries, then release the run all the same.
  while (!(await releaseRun(run, [wait])) && !run.turned);
}

/** Runs until it ends, is released, or is sent back. */
async function runStretch(run: WorkflowRun): Promise<DriveResult["kind"]> {
  try {
    await beginDefinition(run);
    const driven = await drive(run);
    if (driven.kind === "ended") await endRun(run);
    if (driven.kind === "changed") await refuseChanged(run, driven.difference);
    return driven.kind;
  } finally {
    // From now on the definition cannot reach the journal.
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
 * On an orderly shutdown the process releases the run at once, so that another can continue it, without waiting for its
 * slowest effect. A run that cannot be released now is free when its epoch ends.
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

/** Only while the epoch that took it lasts: another epoch cannot write anything of this run. */
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

/** Runs a workflow until it has ended, waits, or belongs to another process. */
export async function performRun(
  runtime: Runtime,
  { definition, id, dead: given }: RunAssignment,
  onRun: (run: WorkflowRun) => void,
): Promise<RunOutcome> {
  for (let dead = given; ; ) {
    if (runtime.closing.aborted) return { kind: "left" };
    const own = await runtime.epoch();
    // Here and not further down, so that a fault injected by a test applies to the whole run.
    await runtime.reach("before_take");
    const state = await takeWorkflow(runtime, definition, { workflow: id, epoch: own.id, dead });
    await runtime.reach("after_take");
    if (state === "left" || state === "over") return { kind: state };
    const run = await openRun(runtime, definition, id, state);
    onRun(run);
    const kind = await whileHeld(run, own, () => runOnce(run));
    if (kind !== "again") return { kind };
    // Its own epoch ended: continue under the next one, unless another process was first.
    if (own.lost.aborted) dead = own.id;
    if (runtime.closing.aborted) await handOver(run).catch(() => undefined);
  }
}
