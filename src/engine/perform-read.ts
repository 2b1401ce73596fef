/**
 * A read has no side effect, so its start need not be durable: it is decided, run, and written down in one commit,
 * after the rules have been asked once more.
 */
import { type Report, recordOutcome } from "../core/action/outcome.ts";
import type { Proposed } from "../core/action/propose.ts";
import type { ActionIn } from "../core/action/state.ts";
import { isHoldpointError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { actionStream } from "../kernel/stream.ts";
import { errorText } from "../kernel/text.ts";
import {
  type DecideResult,
  type DecisionScope,
  type Draft,
  isNeed,
  type Need,
  openDraft,
} from "../kernel/transaction.ts";
import type { Load } from "../policy/rules/tool-rules.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { hasStoredSecrets, type KnownSecrets, knownSecrets } from "../runtime/secrets.ts";
import { runCommand, runDecide } from "../runtime/store-access.ts";
import { attempt, type Call } from "./attempt.ts";
import { closed } from "./closed.ts";
import { loaderOf } from "./load.ts";
import { actionIn, executorOf, move, moveRules, type Source, withOwnArgs } from "./move.ts";

import type { Tool } from "./tool.ts";

type Started = { readonly kind: "started"; readonly state: ActionIn<"running">; readonly args: Json };
type Rules = (draft: Draft) => Need | Load | Proposed;

const hasStarted = (answer: Proposed): boolean => answer.kind === "new" && answer.answer.kind === "started";

/** Runs the rules; a start is looked at and thrown away. */
function lookAhead(
  rules: Rules,
  args: (draft: Draft) => Json,
): (sight: DecisionScope) => DecideResult<Proposed | Started | Load> {
  return (sight) => {
    const draft = openDraft(sight);
    const answer = rules(draft);
    if (isNeed(answer)) return answer;
    if (answer.kind === "load") return { kind: "commit", append: [], result: answer };
    if (!hasStarted(answer)) return draft.commit(answer);
    const state = draft.state(actionStream((answer as { action: string }).action)) as ActionIn<"running">;
    return { kind: "commit", append: [], result: { kind: "started", state, args: args(draft) } };
  };
}

/** The rules again, and the outcome with them, unless something else is true by now. */
function conclude(
  draft: Draft,
  rules: Rules,
  ran: { digest: string; report: Report },
): Need | Load | Proposed {
  const answer = rules(draft);
  if (answer.kind === "need" || answer.kind === "load" || !hasStarted(answer)) return answer;
  const { action } = answer as { action: string };
  const state = draft.state(actionStream(action)) as ActionIn<"running">;
  if (state.argsDigest !== ran.digest) return { kind: "new", action, answer: { kind: "moved" } };
  const recorded = recordOutcome(draft, {
    action,
    epoch: state.effect.epoch,
    attempt: 1,
    report: ran.report,
  });
  return isNeed(recorded)
    ? recorded
    : { kind: "new", action, answer: { kind: "settled", state: recorded.state } };
}

/** Whether what this process does in the name of an epoch is no longer its own: that says nothing of the read. */
async function hasLapsed({ begunEpoch }: Runtime, epoch: string): Promise<boolean> {
  const own = await begunEpoch();
  return own?.id !== epoch || own.leaseLeftMs() === 0;
}

/** undefined: the lease ran out meanwhile, and it is begun anew. */
async function runRead(runtime: Runtime, tool: Tool, call: Call): Promise<Report | undefined> {
  for (let tries = 1; ; tries++) {
    await runtime.reach("before_send");
    const report = await attempt(runtime, tool, call);
    await runtime.reach("after_send");
    if (report.status !== "failed") return report;
    if (await hasLapsed(runtime, call.state.effect.epoch)) return undefined;
    if (tries >= tool.attempts) return { status: "not_applied", reason: report.reason };
    // Nothing of it is written down: whoever comes next reads anew.
    if (runtime.closing.aborted) throw closed();
  }
}

/** Brings what the handles stand for; what becomes of a read whose secrets cannot be had. */
async function whyMissing(known: KnownSecrets, args: Json): Promise<Report | undefined> {
  try {
    await known.load(args);
    return undefined;
  } catch (error) {
    if (isHoldpointError(error) && error.retryable) throw error;
    return { status: "not_applied", reason: errorText(error) };
  }
}

/** One that costs something reserves it first, and so takes two commits like any other effect. */
export async function performRead(
  runtime: Runtime,
  tool: Tool,
  source: Source,
  digest: string | null,
): Promise<Proposed> {
  if (tool.hasCosts) return move(runtime, tool, source, digest);
  let executor = await executorOf(runtime, tool);
  const loaded = new Map<string, Json>();
  const known = knownSecrets(runtime.secrets);
  const rules: Rules = (draft) =>
    moveRules(draft, source, { ...executor, loaded: withOwnArgs(source, loaded, digest) });
  const action = actionIn(source);
  const argsNow = (draft: Draft): Json => {
    const { args, argsDigest } = draft.state(actionStream(action)) as ActionIn<"running">;
    return withOwnArgs(source, loaded, digest).get(argsDigest) ?? args;
  };
  const needs = { write: [actionStream(action)] };
  for (;;) {
    const seen = await runDecide(runtime, needs, lookAhead(rules, argsNow));
    if (seen.kind === "load") {
      loaded.set(seen.key, await loaderOf(runtime, tool)(seen));
      continue;
    }
    if (seen.kind !== "started") return seen;
    const before = known.values.size;
    const missing = await whyMissing(known, seen.args);
    // To ask the store for them may have taken its time: the rules are asked again.
    if (known.values.size > before && hasStoredSecrets(seen.args)) continue;
    const call = { action, state: seen.state, args: seen.args, known: known.values };
    const report = missing ?? (await runRead(runtime, tool, call));
    if (report === undefined) {
      executor = await executorOf(runtime, tool);
      continue;
    }
    await runtime.reach("before_outcome");
    const done = await runCommand(runtime, needs, (draft) =>
      conclude(draft, rules, { digest: seen.state.argsDigest, report }),
    );
    await runtime.reach("after_outcome");
    if (done.kind !== "load") return done;
  }
}
