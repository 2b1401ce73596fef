/** One run of a tool's function: its context, its time-out, and what its answer or error proves. */
import type { ReservedCost } from "../core/action/events.ts";
import type { Report } from "../core/action/outcome.ts";
import type { ActionIn } from "../core/action/state.ts";
import { copyJson, frozenJson } from "../kernel/canonical-json.ts";
import { type Clock, sleepFor } from "../kernel/clock.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { isMoney } from "../kernel/money.ts";
import { errorText } from "../kernel/text.ts";
import type { Epoch, Runtime } from "../runtime/runtime.ts";
import { redactJson, redactText, revealSecrets } from "../runtime/secrets.ts";
import { effectFrame, insideFunction } from "./ambient.ts";

import type { Tool, ToolContext } from "./tool.ts";

export type Failed = {
  readonly status: "failed";
  readonly reason: string;
  /** What the run comes to in the end, when it was given up at its time-out. */
  readonly late: Promise<Report | Failed> | null;
};
/** What is sent. All of it is at hand: nothing is waited for between the last look and the tool's function. */
export type Call = {
  readonly action: string;
  readonly state: ActionIn<"running">;
  readonly args: Json;
  /** What the handles in the arguments stand for. */
  readonly known: ReadonlyMap<string, string>;
};

/** Thrown by a tool to say that certainly nothing happened. */
export class NotApplied extends Error {
  override readonly name = "NotApplied";
}

/** What JSON cannot hold exactly becomes text: a large integer, a bigint, half a character, a key of JavaScript's own. */
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

/** What a tool returned, as the journal can keep it. The effect has happened, so nothing here may fail. */
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

/** Nonsense here would falsify a budget, so it is the tool's own failure. */
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

export function contextOf(
  call: Omit<Call, "known">,
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

type Ended = Report | Failed;

/** A judge that fails has proved nothing, and neither has an error that cannot be looked at. */
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
): Promise<Ended> {
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

/** After the time-out the run goes on: nobody can take back what it has begun. */
async function withinTime(
  clock: Clock,
  ms: number,
  ended: Promise<Ended>,
  over: AbortController,
): Promise<Ended> {
  const timer = new AbortController();
  const late = sleepFor(clock, ms, timer.signal).then((): Ended | Promise<Ended> => {
    if (timer.signal.aborted) return ended;
    over.abort();
    return { status: "failed", reason: `no answer within ${ms} ms`, late: ended };
  });
  return Promise.race([ended, late]).finally(() => timer.abort());
}

/** A clock that was set makes a lease look over; the store knows, if it answers in time. */
const ASKED_MS = 1_000;

async function holdsStill(own: Epoch, idle: Clock, ended: AbortSignal): Promise<boolean> {
  await Promise.race([own.confirm().catch(() => undefined), idle.sleep(ASKED_MS, ended)]);
  return own.leaseLeftMs() !== 0;
}

/**
 * Aborts when the lease of the epoch that sends was lost or has run out: another process may have taken the effect for its
 * own by now. What the tool does then is still heard; that it happened is for whoever took over to find out.
 */
async function watchLease(
  { idle, begunEpoch }: Pick<Runtime, "idle" | "begunEpoch">,
  epoch: string,
  over: AbortController,
  ended: AbortSignal,
): Promise<void> {
  const lapse = () => over.abort(new Error("the lease of this process has run out"));
  const own = await begunEpoch();
  if (ended.aborted) return;
  if (own === undefined || own.id !== epoch) return lapse();
  own.lost.addEventListener("abort", lapse, { once: true, signal: ended });
  while (!ended.aborted) {
    const left = own.leaseLeftMs();
    if (left === null) return;
    if (left === 0 && !(await holdsStill(own, idle, ended)) && !ended.aborted) return lapse();
    await idle.sleep(left, ended);
  }
}

export function attempt(runtime: Runtime, tool: Tool, call: Call): Promise<Ended> {
  const { known } = call;
  const spent = new Map<string, bigint>();
  const args = revealSecrets(copyJson(call.args), known);
  const over = new AbortController();
  const context = contextOf(call, over.signal, spent);
  const frame = effectFrame(runtime.tools, context, call.state.within?.workflow);
  const run = async () => ({ value: await tool.run(args, context), spent });
  const ended = insideFunction(frame, () => judged(tool, known, run));
  const watched = new AbortController();
  void watchLease(runtime, call.state.effect.epoch, over, watched.signal);
  void ended.then(() => watched.abort());
  over.signal.addEventListener("abort", () => watched.abort(), { once: true });
  return tool.timeoutMs === null ? ended : withinTime(runtime.clock, tool.timeoutMs, ended, over);
}
