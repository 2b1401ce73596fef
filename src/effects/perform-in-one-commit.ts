/**
 * Effects whose start and outcome are one commit.
 * - A read has no side effect, so its start need not be durable. It is decided and run; then the rules run again and
 *   one commit records it.
 * - A transactional effect and the journal share one database transaction: both are written, or neither is.
 */

import { canonicalJson, digestOf } from "../kernel/canonical-json.ts";
import { HoldpointError, isHoldpointError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { actionStream } from "../kernel/stream.ts";
import { errorText } from "../kernel/text.ts";
import {
  type DecideResult,
  type DecisionScope,
  type Draft,
  decideWith,
  isNeed,
  type Need,
  openDraft,
} from "../kernel/transaction.ts";
import type { Executor, Load } from "../policy/rules/tool-rules.ts";
import { ignoreRejection, isThenable } from "../runtime/concurrency.ts";
import type { Runtime } from "../runtime/runtime.ts";
import {
  hasStoredSecrets,
  type KnownSecrets,
  knownSecrets,
  redactJson,
  redactText,
} from "../runtime/secrets.ts";
import { runCommand, runDecide, runWithSql } from "../runtime/store-access.ts";
import type { SqlTransaction } from "../stores/store.ts";
import {
  actionIdIn,
  advanceCall,
  type CallSource,
  createExecutor,
  createInputLoader,
  runCallRules,
  withOwnArgs,
} from "./advance-call.ts";
import { effectFrame, type InstanceKey, insideSync } from "./call-context.ts";
import { type EffectReport, recordOutcome } from "./rules/outcome.ts";
import type { ProposeAnswer } from "./rules/propose.ts";
import { actionIdOf } from "./rules/start.ts";
import { type AttemptCall, attempt, createToolContext, resultJson } from "./run-tool.ts";
import type { ActionIn } from "./state.ts";
import { getLiveAction } from "./stream.ts";
import type { Tool } from "./tool.ts";

/** `action`: set if it is already recorded and may have been started. */
export function closedDuringCall(action?: string): HoldpointError {
  const what = "Holdpoint was closed while the call waited.";
  if (action === undefined) return new HoldpointError("closed", what);
  const data = `${action} is recorded, and may have been started; the next process finds out.`;
  const next =
    "Open Holdpoint again and call with the same request id: what is there is found, not repeated.";
  return new HoldpointError("closed", what, { data, next });
}

type Started = { readonly kind: "started"; readonly state: ActionIn<"running">; readonly args: Json };
type Moved = Need | Load | ProposeAnswer;
type Rules = (draft: Draft) => Moved;

/** The rules of a call, with what was loaded for them. */
function rulesOf(runtime: Runtime, tool: Tool, source: CallSource, digest: string | null) {
  const action = actionIdIn(source);
  const loaded = new Map<string, Json>();
  const known = () => withOwnArgs(source, loaded, digest);
  return {
    action,
    needs: { write: [actionStream(action)] },
    with:
      (executor: Omit<Executor, "loaded">): Rules =>
      (draft) =>
        runCallRules(draft, source, { ...executor, loaded: known() }),
    argsIn: ({ args, argsDigest }: ActionIn<"running">): Json => known().get(argsDigest) ?? args,
    load: async (asked: Load): Promise<void> => {
      loaded.set(asked.key, await createInputLoader(runtime, tool)(asked));
    },
  };
}
type CallRules = ReturnType<typeof rulesOf>;

/** The action that the rules have started, if they have. */
function startedIn(draft: Draft, moved: Moved): { action: string; state: ActionIn<"running"> } | undefined {
  if (moved.kind !== "new" || moved.answer.kind !== "started") return undefined;
  return { action: moved.action, state: getLiveAction(draft, moved.action) as ActionIn<"running"> };
}

/** Runs the rules. A start is returned but not committed. */
function lookAhead(
  rules: Rules,
  { argsIn }: CallRules,
): (sight: DecisionScope) => DecideResult<ProposeAnswer | Started | Load> {
  return (sight) => {
    const draft = openDraft(sight);
    const answer = rules(draft);
    if (isNeed(answer)) return answer;
    const started = startedIn(draft, answer);
    if (started === undefined && answer.kind !== "load") return draft.commit(answer);
    const { state } = started ?? {};
    const result = state === undefined ? answer : { kind: "started" as const, state, args: argsIn(state) };
    return { kind: "commit", append: [], result };
  };
}

/** Runs the rules, then the work, then records its outcome with them. undefined: the work was for other arguments. */
function settle(
  draft: Draft,
  rules: Rules,
  work: (state: ActionIn<"running">) => EffectReport | undefined,
): Moved {
  const answer = rules(draft);
  const started = startedIn(draft, answer);
  if (started === undefined) return answer;
  const { action, state } = started;
  const report = work(state);
  if (report === undefined) return { kind: "new", action, answer: { kind: "moved" } };
  const recorded = recordOutcome(draft, { action, epoch: state.effect.epoch, attempt: 1, report });
  return isNeed(recorded)
    ? recorded
    : { kind: "new", action, answer: { kind: "settled", state: recorded.state } };
}

/** Whether this process has lost the epoch in whose name it acts. That says nothing about the read. */
async function hasLapsed({ begunEpoch }: Runtime, epoch: string): Promise<boolean> {
  const own = await begunEpoch();
  return own?.id !== epoch || own.leaseLeftMs() === 0;
}

/** undefined: the lease expired meanwhile, and the read starts again. */
async function runRead(runtime: Runtime, tool: Tool, call: AttemptCall): Promise<EffectReport | undefined> {
  for (let tries = 1; ; tries++) {
    await runtime.reach("before_send");
    const report = await attempt(runtime, tool, call);
    await runtime.reach("after_send");
    if (report.status !== "failed") return report;
    if (await hasLapsed(runtime, call.state.effect.epoch)) return undefined;
    if (tries >= tool.attempts) return { status: "not_applied", reason: report.reason };
    // Nothing is recorded, so the next caller reads again.
    if (runtime.closing.aborted) throw closedDuringCall();
  }
}

/** Loads the secret values. Returns the outcome of a read whose secrets cannot be loaded. */
async function whyMissing(known: KnownSecrets, args: Json): Promise<EffectReport | undefined> {
  try {
    await known.load(args);
    return undefined;
  } catch (error) {
    if (isHoldpointError(error) && error.retryable) throw error;
    return { status: "not_applied", reason: errorText(error) };
  }
}

/** A read with costs reserves them first, so it takes two commits like any other effect. */
export async function performRead(
  runtime: Runtime,
  tool: Tool,
  source: CallSource,
  digest: string | null,
): Promise<ProposeAnswer> {
  if (tool.hasCosts) return advanceCall(runtime, tool, source, digest);
  let executor = await createExecutor(runtime, tool);
  const call = rulesOf(runtime, tool, source, digest);
  const { action, needs } = call;
  const known = knownSecrets(runtime.secrets);
  for (;;) {
    const rules = call.with(executor);
    const seen = await runDecide(runtime, needs, lookAhead(rules, call));
    if (seen.kind === "load") {
      await call.load(seen);
      continue;
    }
    if (seen.kind !== "started") return seen;
    const { state, args } = seen;
    const before = known.values.size;
    const missing = await whyMissing(known, args);
    // Loading them from the store may have taken long, so run the rules again.
    if (known.values.size > before && hasStoredSecrets(args)) continue;
    const report = missing ?? (await runRead(runtime, tool, { action, state, args, known: known.values }));
    if (report === undefined) {
      executor = await createExecutor(runtime, tool);
      continue;
    }
    await runtime.reach("before_outcome");
    const done = await runCommand(runtime, needs, (draft) =>
      settle(draft, rules, ({ argsDigest }) => (argsDigest === state.argsDigest ? report : undefined)),
    );
    await runtime.reach("after_outcome");
    if (done.kind !== "load") return done;
  }
}

/** The tool's own error, as opposed to ours. */
class ToolFailed extends Error {
  override readonly name = "ToolFailed";
}

type Work = (state: ActionIn<"running">, args: Json) => EffectReport;

function runTool(instance: InstanceKey, tool: Tool, sql: SqlTransaction, known: KnownSecrets): Work {
  return (state, stored) => {
    if (digestOf(stored) !== state.argsDigest)
      throw new HoldpointError(
        "store_corrupt",
        `The arguments of ${state.effect.id} are not those recorded.`,
      );
    // The journal is written after the tool has run, so the tool must not be able to change its arguments.
    const args = JSON.parse(canonicalJson(stored)) as Json;
    const revealed = known.reveal(args);
    const spent = new Map<string, bigint>();
    const context = createToolContext(
      { action: actionIdOf(state.effect.id), state, args },
      new AbortController().signal,
      spent,
    );
    let value: unknown;
    try {
      const frame = effectFrame(instance, context, state.within?.workflow);
      value = insideSync(frame, () => tool.runInTransaction?.(revealed, sql, context));
      // The tool may have swallowed the error that ended its transaction. This throws if the transaction has ended.
      sql.all("SELECT 1");
    } catch (error) {
      const clean = (text: string) => redactText(text, known.values);
      throw new ToolFailed(errorText(error, clean), { cause: error });
    }
    if (isThenable(ignoreRejection(value)))
      throw new ToolFailed("a transactional tool has to be synchronous, and this one returned a promise");
    return {
      status: "applied",
      result: redactJson(resultJson(value), known.values),
      spent: Object.fromEntries(spent),
    };
  };
}

/** The tool failed, or its writes could not be committed. Either way nothing of it was applied. */
function whyNot(error: unknown): string | undefined {
  if (error instanceof ToolFailed) return error.message;
  return isHoldpointError(error) && error.details["application"] === true ? error.what : undefined;
}

export async function performInTransaction(
  runtime: Runtime,
  tool: Tool,
  source: CallSource,
  digest: string | null,
): Promise<ProposeAnswer> {
  const call = rulesOf(runtime, tool, source, digest);
  const rules = call.with(await createExecutor(runtime, tool));
  const { needs } = call;
  const known = knownSecrets(runtime.secrets);
  const inOneTransaction = (sight: DecisionScope, sql: SqlTransaction) => {
    const work = runTool(runtime.tools, tool, sql, known);
    return decideWith((draft) => settle(draft, rules, (state) => work(state, call.argsIn(state))))(sight);
  };
  for (;;) {
    const answer = await runWithSql(runtime, needs, inOneTransaction).catch((error: unknown) => {
      const reason = whyNot(error);
      if (reason === undefined) throw error;
      return runCommand(runtime, needs, (draft) =>
        settle(draft, rules, () => ({ status: "not_applied", reason })),
      );
    });
    if (answer.kind !== "load") return answer;
    await call.load(answer);
  }
}
