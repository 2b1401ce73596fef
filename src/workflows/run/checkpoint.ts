/**
 * A reached checkpoint, of a definition or of a remote agent: captures its state, judges whether people are asked, and
 * builds the question. A rule that no set of people could meet is refused before anything is asked.
 * Also `ctx.checkpoint`, by which a definition reaches one, and how a checkpoint itself undoes what led to it.
 */

import { apartIn, keptApart } from "../../approvals/rules/ask.ts";
import { defineTool } from "../../effects/define-tool.ts";
import { isStep } from "../../effects/state.ts";
import type { Tool } from "../../effects/tool.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { rejectInput } from "../../kernel/fields.ts";
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import type { Money } from "../../kernel/money.ts";
import type { Artifact } from "../../kernel/stored-value.ts";
import { ROSTER } from "../../kernel/stream.ts";
import {
  type ApprovalTerms,
  checkWrittenTerms,
  listStageRules,
  whyUnmeetable,
} from "../../policy/rules/stages.ts";
import { type EligibilityContext, namesGroups } from "../../policy/rules/verdict.ts";
import { freshId, type Runtime } from "../../runtime/runtime.ts";
import { loadValue, readState } from "../../runtime/store-access.ts";
import type { Passed } from "../definition.ts";
import { readChildCalls } from "../entries.ts";
import type { Irreversible, ReachedBody, Snapshot } from "../events.ts";
import { type CheckpointReach, reachCheckpoint } from "../rules/ask.ts";
import {
  type CheckpointDefinition,
  checkpointId,
  checkpointNamed,
  chosenSet,
  whetherToAsk,
  whetherToAskStill,
} from "../rules/checkpoints.ts";
import { callsAfter, irreversibleCalls, type RecordedOp, type Settlement } from "../rules/operations.ts";
import { buildSnapshot, type Captured, checkCaptured } from "../rules/snapshot.ts";
import { captureSnapshot } from "../snapshots.ts";
import type { LiveWorkflow } from "../state.ts";
import { askOperation, type Branch, checkName } from "./operation.ts";
import { commitRun, startAgain, type WorkflowRun } from "./run.ts";

/** The workflow that asks. */
export type AskingWorkflow = { readonly runtime: Runtime; readonly id: string; readonly state: LiveWorkflow };
type PeopleTerms = Omit<ApprovalTerms, "executeWithinMs">;

function refuseUnmeetable(
  { state: { parties, requester } }: AskingWorkflow,
  what: string,
  terms: PeopleTerms,
  known: EligibilityContext,
): void {
  const fault = whyUnmeetable(terms, requester, { ...apartIn(terms, parties), ...known });
  if (fault !== undefined)
    throw new HoldpointError("unsatisfiable_quorum", `${what} cannot be decided: ${fault}.`);
}

/** `what`: with its name, for errors. */
export function checkTerms(
  flow: AskingWorkflow,
  what: string,
  given: Parameters<typeof checkWrittenTerms>[0],
): PeopleTerms {
  const written = checkWrittenTerms(given);
  if (typeof written === "string") return rejectInput(`${what}: ${written}.`);
  const isSeparate = flow.runtime.separate === true;
  const terms = isSeparate ? (checkWrittenTerms(keptApart(given)) as ApprovalTerms) : written;
  refuseUnmeetable(flow, what, terms, {});
  const { executeWithinMs: _never, ...people } = terms;
  return people;
}

/** Checks again, with the members of the named roles and groups. */
export async function checkPeople(flow: AskingWorkflow, what: string, terms: PeopleTerms): Promise<void> {
  if (!listStageRules(terms).some(({ from }) => namesGroups(from))) return;
  refuseUnmeetable(flow, what, terms, { roster: await readState(flow.runtime, ROSTER) });
}

function capturedCost({ resources }: Captured): Money | null {
  const usd = resources?.estimatedCostUsd;
  return usd === undefined ? null : { currency: "USD", micros: BigInt(Math.round(usd * 1_000_000)) };
}

type ReachedCheckpoint = { readonly name: string; readonly captured: Captured };
type Declaration = CheckpointDefinition | "left_out" | undefined;

/** `tools`: called since the previous checkpoint. */
export function judgeCheckpoint(
  { state }: Pick<AskingWorkflow, "state">,
  { name, captured }: ReachedCheckpoint,
  declared: Declaration,
  tools: readonly string[],
) {
  const { confidence = null } = captured;
  const facts = {
    name,
    confidence,
    cost: capturedCost(captured),
    tools,
    captured,
    attempt: state.generation,
  };
  const recorded = state.checkpoints.find((one) => one.name === name);
  return whetherToAskStill(whetherToAsk(declared, facts), declared, recorded);
}

export type CheckpointCapture = {
  readonly body: Omit<ReachedBody, "op" | "why">;
  readonly artifact: Artifact;
  /** As stored, without the values of secrets. */
  readonly stored: JsonObject;
};

function layerOf(snapshot: JsonObject, layer: string): JsonObject {
  const value = snapshot[layer];
  return isJsonObject(value) ? value : {};
}

/** Records and cards use the snapshot as stored, which holds no secret. `handles`: of the secrets that it may have met. */
export async function captureCheckpoint(
  { runtime, id: workflow, state }: AskingWorkflow,
  { name, captured }: ReachedCheckpoint,
  handles: Iterable<string> = [],
): Promise<CheckpointCapture> {
  const id = freshId(runtime, "snap");
  const checkpoint = state.checkpoints.find((one) => one.name === name)?.id ?? checkpointId({ name });
  const origin = { snapshot: id, workflow, checkpoint, name, at: runtime.clock.now() };
  const capture = await captureSnapshot(runtime, buildSnapshot(captured, origin), handles);
  const { artifact, ref, snapshot: stored } = capture;
  const snapshot: Snapshot = { id, ...ref };
  const outputs = layerOf(stored, "task_state")["outputs"] ?? {};
  return { body: { name, checkpoint, snapshot, outputs, agent: captured.agent ?? null }, artifact, stored };
}

const textOf = (part: Json | undefined): string | null => (typeof part === "string" ? part : null);

type CheckpointAsk = NonNullable<CheckpointReach["ask"]>;

function pickTerms({ approvers, stages, onTimeout, timeoutSeconds = null }: Partial<CheckpointDefinition>) {
  return {
    ...(approvers === undefined ? {} : { approvers }),
    ...(stages === undefined ? {} : { stages }),
    ...(onTimeout === undefined ? {} : { onTimeout }),
    ...(timeoutSeconds === null ? {} : { decideWithinMs: timeoutSeconds * 1_000 }),
  };
}

type CheckpointQuestion = Pick<CheckpointAsk, "approval" | "nonce" | "irreversible"> & {
  readonly why: string;
  readonly terms: Partial<CheckpointDefinition>;
};

/** `irreversible`: among the calls since the previous checkpoint. */
export async function questionAt(
  flow: AskingWorkflow,
  { body: { name, outputs, snapshot }, stored }: CheckpointCapture,
  { why, terms, irreversible, ...ids }: CheckpointQuestion,
): Promise<Omit<CheckpointAsk, "op">> {
  const shown = layerOf(stored, "approval_interface");
  const { description = "", canRollback = true } = terms;
  const what = `The checkpoint "${name}"`;
  const people = checkTerms(flow, what, pickTerms(terms));
  await checkPeople(flow, what, people);
  return {
    ...ids,
    kind: "checkpoint",
    name,
    args: outputs,
    about: snapshot.hash,
    says: textOf(shown["summary"]) ?? textOf(shown["decision_needed"]),
    reason: description === "" ? why : description,
    ...people,
    canRollback,
    // Includes what earlier attempts could not undo.
    irreversible: [...flow.state.irreversible, ...irreversible],
  };
}

export function notifyCheckpoint(
  { runtime, id }: AskingWorkflow,
  { approval, name: tool, decideWithinMs }: Omit<CheckpointAsk, "op">,
  now: number,
): void {
  const decideBy = decideWithinMs === null ? null : now + decideWithinMs;
  runtime.notify({ kind: "waiting", action: id, approval, tool, decideBy });
}

/** The entry of the last checkpoint that was approved or passed. */
const lastPassed = ({ state }: WorkflowRun): number => state.passed.at(-1)?.seq ?? 0;

const childrenOf = (run: WorkflowRun): readonly RecordedOp[] =>
  [...run.table.ops.values()].filter(({ kind, settled }) => kind === "child" && settled?.kind !== "refused");

async function callsOfChildren(
  run: WorkflowRun,
  children: readonly RecordedOp[],
): Promise<readonly RecordedOp[]> {
  const calls: RecordedOp[] = [];
  for (const { body } of children) calls.push(...(await readChildCalls(run.runtime, String(body["child"]))));
  return calls;
}

/** Includes children that had not ended at the last checkpoint: they may have called tools since. */
async function toolsSince(run: WorkflowRun): Promise<readonly string[]> {
  const last = lastPassed(run);
  const over = new Set(run.table.deliveries.flatMap(({ key, seq }) => (seq <= last ? [key] : [])));
  const children = childrenOf(run).filter(({ key }) => !over.has(key));
  const calls = [...callsAfter(run.table, last), ...(await callsOfChildren(run, children))];
  return calls.map(({ body }) => String(body["tool"]));
}

async function irreversibleSince(run: WorkflowRun): Promise<readonly Irreversible[]> {
  const last = lastPassed(run);
  const children = childrenOf(run).filter(({ seq }) => seq > last);
  const calls = [...callsAfter(run.table, last), ...(await callsOfChildren(run, children))];
  return irreversibleCalls(calls, ({ op, body }) => {
    const tool = String(body["tool"]);
    return (run.undos.get(op) ?? (isStep(op, tool) ? undefined : run.tools.get(tool)))?.undo === null;
  });
}

/** The checkpoint as the definition has it, with its functions. */
function declaredAs(run: WorkflowRun, name: string): CheckpointDefinition | "left_out" | undefined {
  const { checkpoints } = run.definition.options;
  return checkpoints === undefined
    ? undefined
    : checkpointNamed(chosenSet(checkpoints, run.state.complexity), name);
}

async function reach(
  run: WorkflowRun,
  op: string,
  reached: { readonly name: string; readonly captured: Captured },
): Promise<void> {
  const declared = declaredAs(run, reached.name);
  const { asks, why } = judgeCheckpoint(run, reached, declared, await toolsSince(run));
  const capture = await captureCheckpoint(run, reached, run.handles);
  const question = asks ? await questionOf(run, op, capture, why) : null;
  const { artifact } = capture;
  const body = { ...capture.body, op, why };
  await run.runtime.reach("before_checkpoint");
  const answer = await commitRun(run, (draft, runner, before) =>
    reachCheckpoint(draft, runner, { body, artifact, before, ask: question }),
  );
  await run.runtime.reach("after_checkpoint");
  // While another checkpoint is pending, this one is not reached yet.
  if (answer.kind !== "recorded") return startAgain(run, op);
  if (question === null) return;
  waitFor(run, op, question.approval);
  notifyCheckpoint(run, question, answer.now);
}

async function questionOf(run: WorkflowRun, op: string, capture: CheckpointCapture, why: string) {
  const declared = declaredAs(run, capture.body.name);
  const irreversible = await irreversibleSince(run);
  const question = await questionAt(run, capture, {
    approval: freshId(run.runtime, "apr"),
    nonce: freshId(run.runtime, "non"),
    why,
    terms: typeof declared === "object" ? declared : {},
    irreversible,
  });
  return { ...question, op };
}

function waitFor(run: WorkflowRun, op: string, approval: string): void {
  const record = [...run.table.ops.values()].findLast((one) => one.op === op);
  if (record !== undefined && record.settled === null)
    run.waits.set(record.key, { op, kind: "checkpoint", on: approval, until: null });
}

async function passedOf(run: WorkflowRun, settlement: Settlement): Promise<Passed<Json>> {
  if (settlement.kind !== "checkpoint") throw new TypeError("a checkpoint settled as something else");
  const { decision, by, note } = settlement;
  const outputs = structuredClone(await loadValue(run.runtime, settlement.outputs));
  return { decision, outputs, by: [...by], note };
}

export function passCheckpoint(
  run: WorkflowRun,
  branch: Branch,
  name: string,
  given: unknown,
): Promise<Passed<Json>> {
  checkName("checkpoint", name);
  if (name === "start") rejectInput('A checkpoint is not named "start": that is where a workflow begins.');
  const captured = checkCaptured(given);
  return askOperation(run, branch, {
    kind: "checkpoint",
    name,
    start: async (op, record) => {
      if (record === null) await reach(run, op, { name, captured });
      else waitFor(run, op, String(record.body["approval"]));
    },
    read: (settlement) => passedOf(run, settlement),
  });
}

/** Represents a checkpoint of the run's own definition: a tool that does nothing, with the checkpoint's undo. */
export function checkpointTool(run: WorkflowRun, checkpoint: string): Tool {
  const name = `checkpoint.${checkpoint.replaceAll(/[^A-Za-z0-9_.:-]/g, "_")}`;
  const definition = declaredAs(run, checkpoint);
  const undo = typeof definition === "object" ? definition.undo : undefined;
  const tool = defineTool<Json, null>({ name, policy: "approve", undo: "nothing", run: () => null });
  return undo === undefined ? tool : { ...tool, undo: undoTool(`${name}.undo`, undo) };
}

function undoTool(name: string, undo: NonNullable<CheckpointDefinition["undo"]>): Tool {
  return defineTool<{ readonly result: Json }, unknown>({
    name,
    effect: undo.effect ?? "once",
    policy: undo.policy ?? "approve",
    undo: "nothing",
    run: ({ result }, { attempt, signal, idempotencyKey }) =>
      undo.run(result as JsonObject, { attempt, signal, idempotencyKey }),
  });
}
