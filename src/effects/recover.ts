/**
 * Effects without an outcome: takes over those whose owner died, and probes those in doubt by the tool's `verify`. Only
 * processes that execute do this; a command that only decides never does.
 */

import type { Clock } from "../kernel/clock.ts";
import { isHoldpointError } from "../kernel/errors.ts";
import { actionStream, epochStream, workflowStream } from "../kernel/stream.ts";
import { errorText } from "../kernel/text.ts";
import { endIfDead } from "../runtime/epochs.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { redactJson, redactText, revealSecrets, tryResolveSecrets } from "../runtime/secrets.ts";
import { loadArgs, readState, readStateAt, runCommand } from "../runtime/store-access.ts";
import { actionRows } from "./actions.ts";
import { perform } from "./perform.ts";
import { type ProbeAnswer, recordOutcome, recordProbe } from "./rules/outcome.ts";
import { takeOver } from "./rules/recover.ts";
import { resultJson } from "./run-tool.ts";
import { type ActionIn, isStep, type LiveAction } from "./state.ts";
import type { Tool } from "./tool.ts";

export type Recovered = { readonly retried: number; readonly inDoubt: number; readonly left: number };

/** The tool that the action was proposed for. `"changed"`: this process has another version. null: it has none. */
function toolFor(runtime: Runtime, state: LiveAction, given?: Tool): Tool | "changed" | null {
  const isOwn = state.within !== undefined && isStep(state.within.op, state.tool);
  const tool = given ?? (isOwn ? undefined : runtime.tools.get(state.tool));
  if (tool === undefined) return null;
  const isSame = tool.rules.schemaDigest === state.schema && tool.rules.effectClass === state.effectClass;
  return isSame ? tool : "changed";
}

/** The effect of a step whose workflow has ended: no process will ever have its function again. */
async function isOrphan(runtime: Runtime, { tool, within }: LiveAction): Promise<boolean> {
  if (within === undefined || !isStep(within.op, tool)) return false;
  const workflow = await readState(runtime, workflowStream(within.workflow));
  return workflow.status !== "none" && workflow.end !== null;
}

type RecoveryStep = { readonly kind: "retry"; readonly tool: Tool } | { readonly kind: "in_doubt" | "left" };

/** Our own effect that was never sent and is not being performed: its start was committed but returned an error. */
async function findOwn(
  runtime: Runtime,
  action: string,
  state: ActionIn<"running">,
  given?: Tool,
): Promise<RecoveryStep> {
  const known = toolFor(runtime, state, given);
  const isLost = known === null && (await isOrphan(runtime, state));
  const name = `${action}#${state.effect.attempt}`;
  // Before anything else: the call that started it may learn of the start only now.
  runtime.recovered.add(name);
  if (runtime.sent.has(name) || runtime.performing.has(action)) return { kind: "left" };
  if (isLost) return giveUp(runtime, action, state);
  if (known === null || known === "changed") return { kind: "left" };
  return { kind: "retry", tool: known };
}

/** The call that started it may learn of the start only now, and must not send it while this commit is pending. */
async function giveUp(runtime: Runtime, action: string, state: ActionIn<"running">): Promise<RecoveryStep> {
  const { epoch, attempt } = state.effect;
  const report = { status: "not_applied", reason: "its workflow was over before it was sent" } as const;
  runtime.performing.add(action);
  try {
    await runCommand(runtime, { write: [actionStream(action)] }, (draft) =>
      recordOutcome(draft, { action, epoch, attempt, report }),
    );
  } finally {
    runtime.performing.delete(action);
  }
  return { kind: "left" };
}

/** Takes over one action's effect if its owner is dead. On `retry`, the caller performs it. */
async function takeOne(runtime: Runtime, action: string, given?: Tool): Promise<RecoveryStep> {
  const state = await readState(runtime, actionStream(action));
  if (state.phase !== "running" || runtime.performing.has(action)) return { kind: "left" };
  if (state.effect.reportBy !== undefined) return { kind: "left" };
  const own = await runtime.epoch();
  if (state.effect.epoch === own.id) return findOwn(runtime, action, state, given);
  if (!(await endIfDead(runtime, state.effect.epoch, own.id))) return { kind: "left" };
  const here = toolFor(runtime, state, given);
  const known = here === null && (await isOrphan(runtime, state)) ? "changed" : here;
  await runtime.reach("before_recover");
  const command = {
    action,
    epoch: own.id,
    reason: "its process ended before an outcome was recorded",
    tool: known === null || known === "changed" ? known : known.rules,
  };
  const answer = await runCommand(runtime, { write: [actionStream(action)] }, (draft) =>
    takeOver(draft, command),
  );
  await runtime.reach("after_recover");
  if (answer.kind === "in_doubt" && answer.state.phase === "in_doubt") {
    const { effect, outcome } = answer.state;
    runtime.notify({ kind: "in_doubt", action, effect: effect.id, tool: state.tool, reason: outcome.reason });
  }
  if (answer.kind !== "retry") return { kind: answer.kind };
  return known === null || known === "changed" ? { kind: "left" } : { kind: "retry", tool: known };
}

/** Takes over one action's effect if its owner is dead, and performs it again if its class allows. */
export async function recoverAction(
  runtime: Runtime,
  action: string,
  tool?: Tool,
): Promise<RecoveryStep["kind"]> {
  const found = await takeOne(runtime, action, tool);
  if (found.kind === "retry") await perform(runtime, found.tool, action);
  return found.kind;
}

/** The store failed, not a single effect: the next round retries. */
const isStoreTrouble = (error: unknown): boolean => isHoldpointError(error) && error.retryable;

type Recovery = { readonly count: Recovered; readonly performed: readonly Promise<void>[] };

/**
 * Checks every running effect of dead epochs and of our own. Each epoch is checked once. An effect that cannot be taken
 * over does not block the next. Retried effects run concurrently, and this does not wait for them.
 */
export async function startRecovery(runtime: Runtime): Promise<Recovery> {
  const own = await runtime.epoch();
  const alive = new Set<string>();
  const count = { retry: 0, in_doubt: 0, left: 0 };
  const performed: Promise<void>[] = [];
  const failures: unknown[] = [];
  const look = async (action: string, epoch: string): Promise<void> => {
    if (epoch !== own.id && !(await endIfDead(runtime, epoch, own.id))) {
      alive.add(epoch);
      return;
    }
    const found = await takeOne(runtime, action);
    count[found.kind]++;
    if (found.kind === "retry") performed.push(performBeside(runtime, found.tool, action));
  };
  // Effects that agents perform themselves are not recovered by a process; there may be many.
  for (const row of await actionRows(runtime, "running", { dueBy: null })) {
    const epoch = String(row.data["epoch"]);
    if (alive.has(epoch)) continue;
    await look(row.stream.id, epoch).catch((error: unknown) => {
      if (isStoreTrouble(error)) throw error;
      failures.push(error);
    });
  }
  if (failures.length > 0) throw failures[0];
  return { count: { retried: count.retry, inDoubt: count.in_doubt, left: count.left }, performed };
}

function performBeside(runtime: Runtime, tool: Tool, action: string): Promise<void> {
  return runtime.recovering.run(tool.rules.name, action, async () => {
    await perform(runtime, tool, action);
  });
}

/** Recovers now, and waits until the retried effects have been performed. */
export async function recoverDead(runtime: Runtime): Promise<Recovered> {
  const { count, performed } = await startRecovery(runtime);
  await Promise.all(performed);
  return count;
}

const PATIENCE_MS = 30_000;
const ANSWERS: readonly unknown[] = ["applied", "not_applied", "unknown"];

const unknown = (evidence: string): ProbeAnswer => ({ answer: "unknown", evidence, result: null });

/** A probe that throws or returns an invalid answer counts as `unknown`. */
async function ask(
  verify: () => Promise<ProbeAnswer>,
  known: ReadonlyMap<string, string>,
): Promise<ProbeAnswer> {
  try {
    const said = await verify();
    if (!ANSWERS.includes(said?.answer))
      return unknown("verify did not answer applied, not_applied or unknown");
    const clean = (value: unknown) => redactJson(resultJson(value), known);
    return { answer: said.answer, evidence: clean(said.evidence), result: clean(said.result) };
  } catch (error) {
    return unknown(errorText(error, (text) => redactText(text, known)));
  }
}

/** A probe that does not return counts as `unknown`, and does not block others. */
async function inTime<Value>(work: () => Promise<Value>, clock: Clock, signal: AbortSignal): Promise<Value> {
  const over = new AbortController();
  const late = clock.sleep(PATIENCE_MS, AbortSignal.any([signal, over.signal])).then(() => {
    throw new Error(`verify did not answer within ${PATIENCE_MS} ms`);
  });
  return Promise.race([work(), late]).finally(() => over.abort());
}

/**
 * Whether the attempt can do nothing more. This process knows which of its own attempts returned. An attempt of another
 * process has ended when that process is dead.
 */
async function isOver(runtime: Runtime, action: string, state: ActionIn<"in_doubt">): Promise<boolean> {
  // There is no way to know whether an outside agent has stopped.
  if (state.effect.reportBy !== undefined) return false;
  const own = await runtime.epoch();
  const { epoch } = state.effect;
  if (epoch !== own.id) {
    const { life } = await readState(runtime, epochStream(epoch));
    return life === "ended" || endIfDead(runtime, epoch, own.id);
  }
  const finalityMs = runtime.tools.get(state.tool)?.rules.finalityMs ?? 0;
  const out = [...runtime.overdue].filter(([name]) => name.startsWith(`${action}#`));
  if (out.some(([, age]) => age === null || age() < finalityMs)) return false;
  for (const [name] of out) runtime.overdue.delete(name);
  return true;
}

/** Probes one effect in doubt. Returns whether that resolved it. The wait for `verify` sleeps on `clock`. */
export async function probeAction(runtime: Runtime, action: string, clock: Clock): Promise<boolean> {
  const { state, now: askedAt } = await readStateAt(runtime, actionStream(action));
  if (state.phase !== "in_doubt") return false;
  const tool = runtime.tools.get(state.tool);
  const verify = tool?.verify ?? null;
  if (tool === undefined || verify === null || tool.rules.schemaDigest !== state.schema) return false;
  const args = await loadArgs(runtime, state);
  const known = await tryResolveSecrets(runtime.secrets, args);
  const context = {
    args: revealSecrets(args, known),
    idempotencyKey: state.effect.id,
    action,
    startedAt: state.effect.startedAt,
  };
  const over = await isOver(runtime, action, state);
  const probe = await ask(() => inTime(() => verify(context), clock, runtime.closing), known);
  if (runtime.closing.aborted) return false;
  const command = { action, probe, askedAt, isOver: over, finalityMs: tool.rules.finalityMs };
  const answer = await runCommand(runtime, { write: [actionStream(action)] }, (draft) =>
    recordProbe(draft, command),
  );
  return answer.kind === "resolved";
}

/** Probes every effect in doubt whose tool has a `verify` in this process, without waiting for the answers. */
export async function startProbing(runtime: Runtime, clock: Clock = runtime.clock): Promise<void> {
  for (const row of await actionRows(runtime, "in_doubt")) {
    const tool = String(row.data["tool"]);
    const action = row.stream.id;
    if ((runtime.tools.get(tool)?.verify ?? null) === null) continue;
    void runtime.probing.run(tool, action, async () => {
      await probeAction(runtime, action, clock);
    });
  }
}
