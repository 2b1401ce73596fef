/** `ctx.checkpoint`: captures the state, and asks people where the checkpoint says so. */

import { type Reach, reachCheckpoint } from "../../core/workflow/ask.ts";
import { checkCaptured } from "../../core/workflow/check-captured.ts";
import {
  type CheckpointDefinition,
  whetherToAsk,
  whetherToAskStill,
} from "../../core/workflow/checkpoint-rules.ts";
import { checkpointId, checkpointNamed, chosenSet } from "../../core/workflow/checkpoint-sets.ts";
import type { Irreversible, ReachedBody } from "../../core/workflow/events.ts";
import { type Captured, snapshotOf } from "../../core/workflow/snapshot.ts";
import { isStep } from "../../effects/state.ts";
import { rejectInput } from "../../kernel/fields.ts";
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import type { Money } from "../../kernel/money.ts";
import { freshId } from "../../runtime/runtime.ts";

import { loadValue } from "../../runtime/store-access.ts";
import { captureSnapshot } from "../capture.ts";

import { checkPeople, termsOf } from "./approvers-of.ts";
import { callsOfChild } from "./children.ts";
import type { Passed } from "./definition.ts";
import { ask, type Branch, checkName } from "./operation.ts";
import type { RecordedOp, Settlement } from "./recorded.ts";
import { commit, type Run } from "./run.ts";

/** Calls since the last checkpoint that was approved or passed. */
function callsSince(run: Run): readonly RecordedOp[] {
  const last = run.state.passed.at(-1)?.seq ?? 0;
  return [...run.table.ops.values()].filter(
    ({ kind, seq, settled }) => kind === "call" && seq > last && settled?.kind !== "refused",
  );
}

const childrenOf = (run: Run): readonly RecordedOp[] =>
  [...run.table.ops.values()].filter(({ kind, settled }) => kind === "child" && settled?.kind !== "refused");

async function callsOf(run: Run, children: readonly RecordedOp[]): Promise<readonly RecordedOp[]> {
  const calls: RecordedOp[] = [];
  for (const { body } of children) calls.push(...(await callsOfChild(run.runtime, String(body["child"]))));
  return calls;
}

function childCallsSince(run: Run): Promise<readonly RecordedOp[]> {
  const last = run.state.passed.at(-1)?.seq ?? 0;
  return callsOf(
    run,
    childrenOf(run).filter(({ seq }) => seq > last),
  );
}

/** One that was there before the last checkpoint, and not over by then, may have used them since. */
async function toolsSince(run: Run): Promise<readonly string[]> {
  const last = run.state.passed.at(-1)?.seq ?? 0;
  const over = new Set(run.table.deliveries.flatMap(({ key, seq }) => (seq <= last ? [key] : [])));
  const children = childrenOf(run).filter(({ key }) => !over.has(key));
  return [...callsSince(run), ...(await callsOf(run, children))].map(({ body }) => String(body["tool"]));
}

/** Effects that a rejection could not take back. */
export function irreversibleIn(run: Run, calls: readonly RecordedOp[]): readonly Irreversible[] {
  return calls.flatMap(({ op, body, settled }) => {
    const tool = String(body["tool"]);
    const known = run.undos.get(op) ?? (isStep(op, tool) ? undefined : run.tools.get(tool));
    const happened = settled?.kind === "answer" && settled.answer.executed === true;
    return happened && known?.undo === null ? [{ op, action: String(body["action"]), tool }] : [];
  });
}

export function costOf({ resources }: Captured): Money | null {
  const usd = resources?.estimatedCostUsd;
  return usd === undefined ? null : { currency: "USD", micros: BigInt(Math.round(usd * 1_000_000)) };
}

type Reached = { readonly name: string; readonly captured: Captured };

async function factsOf(run: Run, { name, captured }: Reached) {
  const tools = await toolsSince(run);
  const confidence = captured.confidence ?? null;
  return { name, confidence, cost: costOf(captured), tools, captured, attempt: run.state.generation };
}

/** The checkpoint as the definition has it, with its functions. */
export function declaredAs(run: Run, name: string): CheckpointDefinition | "left_out" | undefined {
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
  readonly reach: Omit<Reach, "before" | "ask">;
};

/** What is recorded and shown is taken from the snapshot as it is stored, which holds no secret. */
async function capture(run: Run, op: string, reached: Reached, why: string): Promise<Captures> {
  const { name, captured } = reached;
  const { runtime } = run;
  const id = freshId(runtime, "snap");
  const declared = run.state.checkpoints.find((one) => one.name === name);
  const checkpoint = declared?.id ?? checkpointId({ name });
  const place = { snapshot: id, workflow: run.id, checkpoint, name, at: runtime.clock.now() };
  const { artifact, ref, snapshot } = await captureSnapshot(
    runtime,
    snapshotOf(captured, place),
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
  run: Run,
  { body, says }: Captures,
  definition: CheckpointDefinition | undefined,
): Promise<NonNullable<Reach["ask"]>> {
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
    ...termsOf(run, body.name, {
      ...pickTerms(definition),
      ...(seconds === null ? {} : { decideWithinMs: seconds * 1_000 }),
    }),
    canRollback: definition?.canRollback ?? true,
    // With what earlier attempts could not take back either.
    irreversible: [...run.state.irreversible, ...irreversibleIn(run, calls)],
  };
}

/** While another checkpoint waits, this one is not reached yet. */
function askAgain(run: Run, op: string): void {
  const asked = [...run.asked.values()].find((one) => one.op === op);
  if (asked !== undefined) asked.isStarted = false;
}

async function reach(run: Run, op: string, reached: Reached): Promise<void> {
  const declared = declaredAs(run, reached.name);
  const recorded = run.state.checkpoints.find(({ name }) => name === reached.name);
  const today = whetherToAsk(declared, await factsOf(run, reached));
  const { asks, why } = whetherToAskStill(today, declared, recorded);
  const captures = await capture(run, op, reached, why);
  const definition = declared === "left_out" ? undefined : declared;
  const question = asks ? await questionFor(run, captures, definition) : null;
  if (question !== null) await checkPeople(run, reached.name, question);
  await run.runtime.reach("before_checkpoint");
  const answer = await commit(run, (draft, runner, before) =>
    reachCheckpoint(draft, runner, { ...captures.reach, before, ask: question }),
  );
  await run.runtime.reach("after_checkpoint");
  if (answer.kind !== "recorded") return askAgain(run, op);
  if (question === null) return;
  waitFor(run, op, question.approval);
  const decideBy = question.decideWithinMs === null ? null : answer.now + question.decideWithinMs;
  const { approval } = question;
  run.runtime.notify({ kind: "waiting", action: run.id, approval, tool: reached.name, decideBy });
}

function waitFor(run: Run, op: string, approval: string): void {
  const record = [...run.table.ops.values()].findLast((one) => one.op === op);
  if (record !== undefined && record.settled === null)
    run.waits.set(record.key, { op, kind: "checkpoint", on: approval, until: null });
}

async function passedOf(run: Run, settlement: Settlement): Promise<Passed<Json>> {
  if (settlement.kind !== "checkpoint") throw new TypeError("a checkpoint settled as something else");
  const { decision, by, note } = settlement;
  const outputs = structuredClone(await loadValue(run.runtime, settlement.outputs));
  return { decision, outputs, by: [...by], note };
}

export function passCheckpoint(
  run: Run,
  branch: Branch,
  name: string,
  given: unknown,
): Promise<Passed<Json>> {
  checkName("checkpoint", name);
  if (name === "start") rejectInput('A checkpoint is not named "start": that is where a workflow begins.');
  const captured = checkCaptured(given);
  return ask(run, branch, {
    kind: "checkpoint",
    name,
    start: async (op, record) => {
      if (record === null) await reach(run, op, { name, captured });
      else waitFor(run, op, String(record.body["approval"]));
    },
    read: (settlement) => passedOf(run, settlement),
  });
}
