/**
 * Runs a tool's functions: one attempt (context, timeout, what its answer or error proves), and its `preview`.
 * - A preview gets the same arguments as the tool, and its result is shown without secrets.
 * - A preview never fails: the text of its error is shown instead.
 */

import type { ShownPreview } from "../approvals/state.ts";
import { copyJson, frozenJson } from "../kernel/canonical-json.ts";
import { type Clock, sleepFor } from "../kernel/clock.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { isMoney } from "../kernel/money.ts";
import { errorText } from "../kernel/text.ts";
import type { PreviewCall } from "../policy/rules/tool-rules.ts";
import type { Epoch, Runtime } from "../runtime/runtime.ts";
import { redactJson, redactText, resolveSecrets, revealSecrets } from "../runtime/secrets.ts";
import { effectFrame, insideFunction } from "./call-context.ts";
import type { EffectReport } from "./rules/outcome.ts";
import type { ActionIn, ReservedCost } from "./state.ts";
import type { PreviewContext, Tool, ToolContext } from "./tool.ts";

export type AttemptFailed = {
  readonly status: "failed";
  readonly reason: string;
  /** The eventual result of a run that was abandoned at its timeout. */
  readonly late: Promise<EffectReport | AttemptFailed> | null;
};
/** Everything that is sent. Nothing is awaited between the last check and the tool's function. */
export type AttemptCall = {
  readonly action: string;
  readonly state: ActionIn<"running">;
  readonly args: Json;
  /** Secret values of the handles in the arguments. */
  readonly known: ReadonlyMap<string, string>;
};

/** Thrown by a tool to say that certainly nothing was applied. */
export class NotApplied extends Error {
  override readonly name = "NotApplied";
}

/** Values that JSON cannot hold exactly become text: large integers, bigints, lone surrogates, `__proto__` keys. */
function keepable(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value))
    return String(value);
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const isHonest = (key: string) => key.isWellFormed() && key !== "__proto__";
  if (Object.keys(value).every(isHonest)) return value;
  const renamed = (key: string) => (key === "__proto__" ? "[__proto__]" : key.toWellFormed());
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [renamed(key), part]));
}

/** A tool's return value as the journal can keep it. The effect was applied, so this must not fail. */
export function resultJson(value: unknown): Json {
  try {
    return frozenJson(value ?? null);
  } catch {
    try {
      return frozenJson(JSON.parse(JSON.stringify(value, keepable) ?? "null"));
    } catch (error) {
      return `[a result that could not be kept: ${errorText(error)}]`;
    }
  }
}

/** An invalid amount would falsify a budget, so it is the tool's own failure. */
function bookSpent(spent: Map<string, bigint>, costs: readonly ReservedCost[]): ToolContext["spent"] {
  return (budget, amount) => {
    const reserved = costs.find((cost) => cost.budget === budget);
    if (reserved === undefined)
      throw new HoldpointError("invalid_input", `The tool's cost names no budget "${String(budget)}".`);
    if (!isMoney(amount) || amount.micros < 0n || amount.currency !== reserved.currency)
      throw new HoldpointError(
        "invalid_input",
        `What was spent on "${budget}" is { currency: "${reserved.currency}", micros } with micros as a bigint of at least 0.`,
      );
    spent.set(budget, (spent.get(budget) ?? 0n) + amount.micros);
  };
}

export function createToolContext(
  call: Omit<AttemptCall, "known">,
  signal: AbortSignal,
  spent: Map<string, bigint>,
): ToolContext {
  const { state, action } = call;
  const { effect } = state;
  const { grant } = effect;
  const by = grant.kind === "verdict" ? [] : grant.by;
  const notes = grant.kind === "approval" ? grant.notes : [];
  return {
    action,
    effect: effect.id,
    requestId: state.requestId,
    tool: state.tool,
    agent: state.agent,
    idempotencyKey: effect.id,
    attempt: effect.attempt,
    approvedBy: [...by],
    notes: [...notes],
    signal,
    spent: bookSpent(spent, effect.costs),
  };
}

type AttemptEnded = EffectReport | AttemptFailed;

/** An `isDefinite` that throws proves nothing, and neither does an error that cannot be inspected. */
function isProof(tool: Tool, error: unknown): boolean {
  try {
    return error instanceof NotApplied || tool.isDefinite(error) === true;
  } catch {
    return false;
  }
}

/** Never rejects. */
async function judged(
  tool: Tool,
  known: ReadonlyMap<string, string>,
  run: () => Promise<Ran>,
): Promise<AttemptEnded> {
  try {
    const { value, spent } = await run();
    return {
      status: "applied",
      result: redactJson(resultJson(value), known),
      spent: Object.fromEntries(spent),
    };
  } catch (error) {
    const reason = errorText(error, (text) => redactText(text, known));
    return isProof(tool, error)
      ? { status: "not_applied", reason }
      : { status: "failed", reason, late: null };
  }
}

type Ran = { readonly value: unknown; readonly spent: ReadonlyMap<string, bigint> };

/** The run continues after the timeout: what it has begun cannot be undone. */
async function withinTime(
  clock: Clock,
  ms: number,
  ended: Promise<AttemptEnded>,
  over: AbortController,
): Promise<AttemptEnded> {
  const timer = new AbortController();
  const late = sleepFor(clock, ms, timer.signal).then((): AttemptEnded | Promise<AttemptEnded> => {
    if (timer.signal.aborted) return ended;
    over.abort();
    return { status: "failed", reason: `no answer within ${ms} ms`, late: ended };
  });
  return Promise.race([ended, late]).finally(() => timer.abort());
}

/** A changed clock can make a lease look expired. The store knows, if it answers within this time. */
const ASKED_MS = 1_000;

async function holdsStill(own: Epoch, idle: Clock, ended: AbortSignal): Promise<boolean> {
  await Promise.race([own.confirm().catch(() => undefined), idle.sleep(ASKED_MS, ended)]);
  return own.leaseLeftMs() !== 0;
}

/** A run that has not returned. `stop` ends what watches it. */
type RunWatch = { isEnded: boolean; stop: () => void };

/**
 * Aborts when the lease of the sending epoch was lost or has expired: another process may have taken over the effect.
 * The tool's answer is still heard, but the process that took over determines the outcome.
 */
async function watchLease(
  { idle, begunEpoch }: Pick<Runtime, "idle" | "begunEpoch">,
  epoch: string,
  over: AbortController,
  watch: RunWatch,
): Promise<void> {
  const lapse = () => over.abort(new Error("the lease of this process has run out"));
  const own = await begunEpoch();
  if (watch.isEnded) return;
  if (own === undefined || own.id !== epoch) return lapse();
  own.lost.addEventListener("abort", lapse, { once: true });
  watch.stop = () => own.lost.removeEventListener("abort", lapse);
  // An abort costs as much as a small commit: without a lease there is nothing to wait for, and so to interrupt.
  if (own.leaseLeftMs() === null) return;
  const ended = new AbortController();
  watch.stop = () => {
    own.lost.removeEventListener("abort", lapse);
    ended.abort();
  };
  await untilLapsed(own, idle, ended.signal, lapse);
}

async function untilLapsed(own: Epoch, idle: Clock, ended: AbortSignal, lapse: () => void): Promise<void> {
  while (!ended.aborted) {
    const left = own.leaseLeftMs();
    if (left === null) return;
    if (left === 0 && !(await holdsStill(own, idle, ended)) && !ended.aborted) return lapse();
    await idle.sleep(left, ended);
  }
}

export function attempt(runtime: Runtime, tool: Tool, call: AttemptCall): Promise<AttemptEnded> {
  const { known } = call;
  const spent = new Map<string, bigint>();
  const args = revealSecrets(copyJson(call.args), known);
  const over = new AbortController();
  const context = createToolContext(call, over.signal, spent);
  const frame = effectFrame(runtime.tools, context, call.state.within?.workflow);
  const run = async () => ({ value: await tool.run(args, context), spent });
  const ended = insideFunction(frame, () => judged(tool, known, run));
  const watch: RunWatch = { isEnded: false, stop: () => undefined };
  void watchLease(runtime, call.state.effect.epoch, over, watch);
  void ended.then(() => {
    watch.isEnded = true;
    watch.stop();
  });
  return tool.timeoutMs === null ? ended : withinTime(runtime.clock, tool.timeoutMs, ended, over);
}

type PreviewDependencies = Pick<Runtime, "clock" | "secrets">;

/** Default timeout of a preview. */
const PREVIEW_MS = 30_000;

function createPreviewContext(
  tool: Tool,
  { action, requestId, agent }: PreviewCall,
  signal: AbortSignal,
): PreviewContext {
  return { action, requestId, agent, tool: tool.rules.name, signal };
}

async function rejectAfter(clock: Runtime["clock"], ms: number, over: AbortController): Promise<never> {
  await sleepFor(clock, ms, over.signal);
  throw new Error(`no answer within ${ms} ms`);
}

async function runPreview(
  { clock }: PreviewDependencies,
  tool: Tool,
  call: PreviewCall,
  known: ReadonlyMap<string, string>,
): Promise<ShownPreview> {
  const over = new AbortController();
  const args = revealSecrets(copyJson(call.args), known);
  try {
    const run = async () => tool.preview?.(args, createPreviewContext(tool, call, over.signal));
    const late = rejectAfter(clock, tool.timeoutMs ?? PREVIEW_MS, over);
    late.catch(() => undefined);
    const value = resultJson(await Promise.race([run(), late]));
    return { value: redactJson(value, known), failed: false };
  } catch (error) {
    return { value: errorText(error, (text) => redactText(text, known)), failed: true };
  } finally {
    over.abort();
  }
}

export async function computePreview(
  place: PreviewDependencies,
  tool: Tool,
  call: PreviewCall,
): Promise<Json> {
  const known = await resolveSecrets(place.secrets, call.args).catch((error: unknown) => errorText(error));
  return typeof known === "string" ? { value: known, failed: true } : runPreview(place, tool, call, known);
}
