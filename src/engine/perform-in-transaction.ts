/** A transactional effect and our journal share one database transaction: both are there, or neither is. */
import { type Report, recordOutcome } from "../core/action/outcome.ts";
import type { Proposed } from "../core/action/propose.ts";
import { actionOf } from "../core/action/start.ts";
import type { ActionIn } from "../core/action/state.ts";
import { canonicalJson, digestOf } from "../kernel/canonical-json.ts";
import { HoldpointError, isHoldpointError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { actionStream } from "../kernel/stream.ts";
import { errorText } from "../kernel/text.ts";
import {
  type DecideResult,
  type DecisionScope,
  type Draft,
  isNeed,
  openDraft,
} from "../kernel/transaction.ts";
import type { Load } from "../policy/rules/tool-rules.ts";
import { ignoreRejection, isThenable } from "../runtime/concurrency.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { type KnownSecrets, knownSecrets, redactJson, redactText } from "../runtime/secrets.ts";
import { runDecide, runWithSql } from "../runtime/store-access.ts";
import type { SqlTransaction } from "../stores/store.ts";
import { effectFrame, type Instance, insideSync } from "./ambient.ts";
import { contextOf, resultJson } from "./attempt.ts";
import { loaderOf } from "./load.ts";
import { actionIn, executorOf, moveRules, type Source, withOwnArgs } from "./move.ts";

import type { Tool } from "./tool.ts";

/** The tool's own error, told apart from ours. */
class ToolFailed extends Error {
  override readonly name = "ToolFailed";
}

type Work = (state: ActionIn<"running">, args: Json) => Report;

/** The rules, then the work, then its outcome, all in one draft. */
function settle(
  draft: Draft,
  move: (draft: Draft) => ReturnType<typeof moveRules>,
  argsOf: (state: ActionIn<"running">) => Json,
  work: Work,
): DecideResult<Proposed | Load> {
  const answer = move(draft);
  if (isNeed(answer)) return answer;
  if (answer.kind === "load") return { kind: "commit", append: [], result: answer };
  if (answer.kind !== "new" || answer.answer.kind !== "started") return draft.commit(answer);
  const { action } = answer;
  const state = draft.state(actionStream(action)) as ActionIn<"running">;
  const report = work(state, argsOf(state));
  const recorded = recordOutcome(draft, { action, epoch: state.effect.epoch, attempt: 1, report });
  if (isNeed(recorded)) return recorded;
  return draft.commit<Proposed>({ kind: "new", action, answer: { kind: "settled", state: recorded.state } });
}

function runTool(instance: Instance, tool: Tool, sql: SqlTransaction, known: KnownSecrets): Work {
  return (state, stored) => {
    if (digestOf(stored) !== state.argsDigest)
      throw new HoldpointError(
        "store_corrupt",
        `The arguments of ${state.effect.id} are not those recorded.`,
      );
    // The journal is written after the tool has run: its arguments must be out of the tool's reach.
    const args = JSON.parse(canonicalJson(stored)) as Json;
    const revealed = known.reveal(args);
    const spent = new Map<string, bigint>();
    const context = contextOf(
      { action: actionOf(state.effect.id), state, args },
      new AbortController().signal,
      spent,
    );
    let value: unknown;
    try {
      const frame = effectFrame(instance, context, state.within?.workflow);
      value = insideSync(frame, () => tool.runInTransaction?.(revealed, sql, context));
      // A tool may have swallowed what ended its transaction; this throws if it is over.
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

/** The tool failed, or what it wrote could not be committed: either way nothing of it is there. */
function whyNot(error: unknown): string | undefined {
  if (error instanceof ToolFailed) return error.message;
  return isHoldpointError(error) && error.details["application"] === true ? error.what : undefined;
}

export async function performInTransaction(
  runtime: Runtime,
  tool: Tool,
  source: Source,
  digest: string | null,
): Promise<Proposed> {
  const executor = await executorOf(runtime, tool);
  const loaded = new Map<string, Json>();
  const known = knownSecrets(runtime.secrets);
  const move = (draft: Draft) =>
    moveRules(draft, source, { ...executor, loaded: withOwnArgs(source, loaded, digest) });
  const argsOf = (state: ActionIn<"running">) =>
    withOwnArgs(source, loaded, digest).get(state.argsDigest) ?? state.args;
  const needs = { write: [actionStream(actionIn(source))] };
  const inOneTransaction = (sight: DecisionScope, sql: SqlTransaction) =>
    settle(openDraft(sight), move, argsOf, runTool(runtime.tools, tool, sql, known));
  for (;;) {
    const answer = await runWithSql(runtime, needs, inOneTransaction).catch((error: unknown) => {
      const reason = whyNot(error);
      if (reason === undefined) throw error;
      const report: Report = { status: "not_applied", reason };
      return runDecide(runtime, needs, (sight) => settle(openDraft(sight), move, argsOf, () => report));
    });
    if (answer.kind !== "load") return answer;
    loaded.set(answer.key, await loaderOf(runtime, tool)(answer));
  }
}
