/** One run of a tool's function: its context, its time-out, and what its answer or error proves. */
import type { Report } from "../core/action/outcome.ts";
import type { ActionIn } from "../core/action/state.ts";
import { canonicalJson } from "../core/canonical-json.ts";
import type { Json } from "../core/json.ts";
import type { Money } from "../core/money.ts";
import type { Runtime } from "./runtime.ts";
import { redactJson, redactText, resolveAll, revealSecrets } from "./secrets.ts";
import type { Tool, ToolContext } from "./tool.ts";

export type Failed = { readonly status: "failed"; readonly reason: string };
export type Call = { readonly action: string; readonly state: ActionIn<"running">; readonly args: Json };

/** Thrown by a tool to say that certainly nothing happened. */
export class NotApplied extends Error {
  override readonly name = "NotApplied";
}

/** What a tool returned, as the journal can keep it. The effect has happened, so nothing here may fail. */
export function resultJson(value: unknown): Json {
  try {
    return JSON.parse(canonicalJson(value ?? null)) as Json;
  } catch {
    try {
      return JSON.parse(canonicalJson(JSON.parse(JSON.stringify(value) ?? "null"))) as Json;
    } catch {
      return null;
    }
  }
}

export function contextOf(call: Call, signal: AbortSignal, spent: Map<string, bigint>): ToolContext {
  const { state, action } = call;
  const { effect } = state;
  const people = effect.grant.kind === "approval" ? effect.grant : { by: [], notes: [] };
  return {
    action,
    effect: effect.id,
    requestId: state.requestId,
    tool: state.tool,
    agent: state.agent,
    idempotencyKey: effect.id,
    attempt: effect.attempt,
    approvedBy: people.by,
    notes: people.notes,
    signal,
    spent: (budget: string, amount: Money) =>
      void spent.set(budget, (spent.get(budget) ?? 0n) + amount.micros),
  };
}

const text = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)) || "no reason given";

async function withTimeOut<Value>(
  runtime: Runtime,
  ms: number | null,
  run: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const over = new AbortController();
  if (ms === null) return run(over.signal);
  const timer = new AbortController();
  const late = runtime.clock.sleep(ms, timer.signal).then(() => {
    if (timer.signal.aborted) return new Promise<never>(() => {});
    over.abort();
    throw new Error(`no answer within ${ms} ms`);
  });
  return Promise.race([run(over.signal), late]).finally(() => timer.abort());
}

export async function attempt(runtime: Runtime, tool: Tool, call: Call): Promise<Report | Failed> {
  const known = await resolveAll(runtime.secrets, call.args).catch((error: unknown) => text(error));
  if (typeof known === "string") return { status: "not_applied", reason: known };
  const spent = new Map<string, bigint>();
  const args = revealSecrets(JSON.parse(canonicalJson(call.args)) as Json, known);
  try {
    const value = await withTimeOut(runtime, tool.timeoutMs, async (signal) =>
      tool.run(args, contextOf(call, signal, spent)),
    );
    return {
      status: "applied",
      result: redactJson(resultJson(value), known),
      spent: Object.fromEntries(spent),
    };
  } catch (error) {
    const reason = redactText(text(error), known);
    if (error instanceof NotApplied || isDefinite(tool, error)) return { status: "not_applied", reason };
    return { status: "failed", reason };
  }
}

/** A judge that fails has proved nothing. */
function isDefinite(tool: Tool, error: unknown): boolean {
  try {
    return tool.isDefinite(error) === true;
  } catch {
    return false;
  }
}
