/**
 * ctx.checkpoint: captures the state, and asks people if the checkpoint says so; who has to agree, and how a checkpoint
 * itself undoes what led to it. A rule that no set of people could meet is refused before anything is asked.
 */

import { apartIn, keptApart } from "../../approvals/rules/ask.ts";
import { defineTool } from "../../effects/define-tool.ts";
import { isStep } from "../../effects/state.ts";
import type { Tool } from "../../effects/tool.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { rejectInput } from "../../kernel/fields.ts";
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import type { Money } from "../../kernel/money.ts";
import { ROSTER } from "../../kernel/stream.ts";
import {
  type ApprovalTerms,
  checkWrittenTerms,
  listStageRules,
  whyUnmeetable,
} from "../../policy/rules/stages.ts";
import { type ApproverRule, type EligibilityContext, namesGroups } from "../../policy/rules/verdict.ts";
import { freshId } from "../../runtime/runtime.ts";
import { loadValue, readState } from "../../runtime/store-access.ts";
import type { TenantStore } from "../../stores/store.ts";
import type { Passed } from "../definition.ts";
import { readChildCalls } from "../entries.ts";
import type { Irreversible, ReachedBody } from "../events.ts";
import { type CheckpointReach, reachCheckpoint } from "../rules/ask.ts";
import {
  type CheckpointDefinition,
  checkpointId,
  checkpointNamed,
  chosenSet,
  whetherToAsk,
  whetherToAskStill,
} from "../rules/checkpoints.ts";
import type { RecordedOp, Settlement } from "../rules/operations.ts";
import { buildSnapshot, type Captured, checkCaptured } from "../rules/snapshot.ts";
import { captureSnapshot } from "../snapshots.ts";
import type { LiveWorkflow } from "../state.ts";
import { askOperation, type Branch, checkName } from "./operation.ts";
import { commitRun, startAgain, type WorkflowRun } from "./run.ts";

/** The workflow that asks, and its store. */
type AskingRun = {
  readonly runtime: TenantStore;
  readonly state: Pick<LiveWorkflow, "requester" | "parties">;
};
type PeopleTerms = Omit<ApprovalTerms, "executeWithinMs">;

function refuseUnmeetable(run: AskingRun, name: string, terms: PeopleTerms, known: EligibilityContext): void {
  const left = apartIn(terms, run.state.parties);
  const fault = whyUnmeetable(terms, run.state.requester, { ...left, ...known });
  if (fault !== undefined)
    throw new HoldpointError("unsatisfiable_quorum", `The question "${name}" cannot be answered: ${fault}.`);
}

function checkTerms(
  run: WorkflowRun,
  name: string,
  given: Parameters<typeof checkWrittenTerms>[0],
): PeopleTerms {
  const written = checkWrittenTerms(given);
  if (typeof written === "string") return rejectInput(`The question "${name}": ${written}.`);
  const terms =
    run.runtime.separate === true ? (checkWrittenTerms(keptApart(given)) as ApprovalTerms) : written;
  refuseUnmeetable(run, name, terms, {});
  const { executeWithinMs: _never, ...people } = terms;
  return people;
}

/** Checks again, with the members of the named roles and groups. */
export async function checkPeople(run: AskingRun, name: string, terms: PeopleTerms): Promise<void> {
  if (!listStageRules(terms).some(({ from }) => namesGroups(from))) return;
  refuseUnmeetable(run, name, terms, { roster: await readState(run.runtime, ROSTER) });
}

export function checkApprovers(run: WorkflowRun, name: string, given: unknown): ApproverRule {
  const approvers = given as Partial<ApproverRule> | undefined;
  return checkTerms(run, name, approvers === undefined ? {} : { approvers }).approvers;
}

/** Calls since the last checkpoint that was approved or passed. */
function callsSince(run: WorkflowRun): readonly RecordedOp[] {
  const last = run.state.passed.at(-1)?.seq ?? 0;
  return [...run.table.ops.values()].filter(
    ({ kind, seq, settled }) => kind === "call" && seq > last && settled?.kind !== "refused",
  );
}

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

function childCallsSince(run: WorkflowRun): Promise<readonly RecordedOp[]> {
  const last = run.state.passed.at(-1)?.seq ?? 0;
  return callsOfChildren(
    run,
    childrenOf(run).filter(({ seq }) => seq > last),
  );
}

/** Includes children that had not ended at the last checkpoint: they may have called tools since. */
async function toolsSince(run: WorkflowRun): Promise<readonly string[]> {
  const last = run.state.passed.at(-1)?.seq ?? 0;
  const over = new Set(run.table.deliveries.flatMap(({ key, seq }) => (seq <= last ? [key] : [])));
  const children = childrenOf(run).filter(({ key }) => !over.has(key));
  return [...callsSince(run), ...(await callsOfChildren(run, children))].map(({ body }) =>
    String(body["tool"]),
  );
}

/** Effects that a rejection could not undo. */
function irreversibleIn(run: WorkflowRun, calls: readonly RecordedOp[]): readonly Irreversible[] {
  return calls.flatMap(({ op, body, settled }) => {
    const tool = String(body["tool"]);
    const known = run.undos.get(op) ?? (isStep(op, tool) ? undefined : run.tools.get(tool));
    const happened = settled?.kind === "answer" && settled.answer.executed === true;
    return happened && known?.undo === null ? [{ op, action: String(body["action"]), tool }] : [];
  });
}

export function capturedCost({ resources }: Captured): Money | null {
  const usd = resources?.estimatedCostUsd;
  return usd === undefined ? null : { currency: "USD", micros: BigInt(Math.round(usd * 1_000_000)) };
}

type ReachedCheckpoint = { readonly name: string; readonly captured: Captured };

async function readFacts(run: WorkflowRun, { name, captured }: ReachedCheckpoint) {
  const tools = await toolsSince(run);
  const confidence = captured.confidence ?? null;
  return { name, confidence, cost: capturedCost(captured), tools, captured, attempt: run.state.generation };
}

/** The checkpoint as the definition has it, with its functions. */
function declaredAs(run: WorkflowRun, name: string): CheckpointDefinition | "left_out" | undefined {
  const { checkpoints } = run.definition.options;
  return checkpoints === undefined
    ? undefined
    : checkpointNamed(chosenSet(checkpoints, run.state.complexity), name);
}

function textOf(part: Json | undefined): string | null {
  return typeof part === "string" ? part : null;
}

type Captures = {
  readonly body: ReachedBody;
  readonly says: string | null;
  readonly reach: Omit<CheckpointReach, "before" | "ask">;
};

/** Records and cards use the snapshot as stored, which holds no secret. */
async function captureState(
  run: WorkflowRun,
  op: string,
  reached: ReachedCheckpoint,
  why: string,
): Promise<Captures> {
  const { name, captured } = reached;
  const { runtime } = run;
  const id = freshId(runtime, "snap");
  const declared = run.state.checkpoints.find((one) => one.name === name);
  const checkpoint = declared?.id ?? checkpointId({ name });
  const place = { snapshot: id, workflow: run.id, checkpoint, name, at: runtime.clock.now() };
  const { artifact, ref, snapshot } = await captureSnapshot(
    runtime,
    buildSnapshot(captured, place),
    run.handles,
  );
  const part = (layer: string): JsonObject => {
    const value = snapshot[layer];
    return isJsonObject(value) ? value : {};
  };
  const outputs = part("task_state")["outputs"] ?? {};
  const shown = part("approval_interface");
  const says = textOf(shown["summary"]) ?? textOf(shown["decision_needed"]);
  const agent = captured.agent ?? null;
  const body = { op, name, checkpoint, snapshot: { id, ...ref }, outputs, agent, why };
  return { body, says, reach: { body, artifact } };
}

function pickTerms({ approvers, stages, onTimeout }: Partial<CheckpointDefinition> = {}) {
  return {
    ...(approvers === undefined ? {} : { approvers }),
    ...(stages === undefined ? {} : { stages }),
    ...(onTimeout === undefined ? {} : { onTimeout }),
  };
}

async function questionFor(
  run: WorkflowRun,
  { body, says }: Captures,
  definition: CheckpointDefinition | undefined,
): Promise<NonNullable<CheckpointReach["ask"]>> {
  const { runtime } = run;
  const calls = [...callsSince(run), ...(await childCallsSince(run))];
  const seconds = definition?.timeoutSeconds ?? null;
  return {
    approval: freshId(runtime, "apr"),
    nonce: freshId(runtime, "non"),
    kind: "checkpoint",
    op: body.op,
    name: body.name,
    args: body.outputs,
    about: body.snapshot.hash,
    says,
    reason: definition?.description ?? body.why,
    ...checkTerms(run, body.name, {
      ...pickTerms(definition),
      ...(seconds === null ? {} : { decideWithinMs: seconds * 1_000 }),
    }),
    canRollback: definition?.canRollback ?? true,
    // Includes what earlier attempts could not undo.
    irreversible: [...run.state.irreversible, ...irreversibleIn(run, calls)],
  };
}

async function reach(run: WorkflowRun, op: string, reached: ReachedCheckpoint): Promise<void> {
  const declared = declaredAs(run, reached.name);
  const recorded = run.state.checkpoints.find(({ name }) => name === reached.name);
  const today = whetherToAsk(declared, await readFacts(run, reached));
  const { asks, why } = whetherToAskStill(today, declared, recorded);
  const captures = await captureState(run, op, reached, why);
  const definition = declared === "left_out" ? undefined : declared;
  const question = asks ? await questionFor(run, captures, definition) : null;
  if (question !== null) await checkPeople(run, reached.name, question);
  await run.runtime.reach("before_checkpoint");
  const answer = await commitRun(run, (draft, runner, before) =>
    reachCheckpoint(draft, runner, { ...captures.reach, before, ask: question }),
  );
  await run.runtime.reach("after_checkpoint");
  // While another checkpoint is pending, this one is not reached yet.
  if (answer.kind !== "recorded") return startAgain(run, op);
  if (question === null) return;
  waitFor(run, op, question.approval);
  const decideBy = question.decideWithinMs === null ? null : answer.now + question.decideWithinMs;
  const { approval } = question;
  run.runtime.notify({ kind: "waiting", action: run.id, approval, tool: reached.name, decideBy });
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
