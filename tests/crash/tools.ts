/** The tools of the load: every effect class against the receivers that fit it, part of them asked, part with a cost. */

import {
  type Cost,
  type EffectClass,
  type GatedTool,
  type Holdpoint,
  NotApplied,
  type Policy,
  type ToolContext,
} from "../../src/index.ts";
import { canonicalJson } from "../../src/kernel/canonical-json.ts";
import { type Mode, REMEMBERED_MS } from "./effects.ts";
import type { Receiver } from "./receiver.ts";

export type Args = { readonly n: number; readonly to: string };

export type Spec = {
  readonly name: string;
  readonly effect: EffectClass;
  readonly mode: Mode | "table";
  readonly policy: Policy<Args>;
  /** How often one key may be applied: an idempotent effect may be repeated where the receiver does not notice. */
  readonly applied: "once" | "every attempt" | "never";
  readonly costs: boolean;
  /** Between two calls of one lane. */
  readonly pauseMs: number;
};

export const BUDGET = "shared";
export const COST: Cost = { budget: BUDGET, amount: { currency: "USD", micros: 1_000_000n } };

const TWO: Policy<Args> = { verdict: "escalate", approvers: { quorum: 2 } };
const usual = { policy: "approve", applied: "once", costs: false, pauseMs: 100 } as const;
const asked = { ...usual, policy: "escalate" } as const;

export const SPECS: readonly Spec[] = [
  { ...usual, name: "once.ignores", effect: "once", mode: "ignores" },
  { ...usual, name: "once.drops", effect: "once", mode: "drops", pauseMs: 400 },
  { ...asked, name: "once.asked", effect: "once", mode: "ignores" },
  { ...usual, name: "once.capped", effect: "once", mode: "ignores", costs: true, pauseMs: 150 },
  { ...usual, name: "keyed.honours", effect: "keyed", mode: "honours" },
  { ...usual, name: "keyed.forgets", effect: "keyed", mode: "forgets" },
  { ...usual, name: "keyed.asked", effect: "keyed", mode: "honours", policy: TWO, costs: true, pauseMs: 150 },
  { ...usual, name: "idempotent.honours", effect: "idempotent", mode: "honours", costs: true, pauseMs: 150 },
  { ...usual, name: "idempotent.forgets", effect: "idempotent", mode: "forgets", applied: "every attempt" },
  { ...usual, name: "probed.ignores", effect: "probed", mode: "ignores" },
  { ...usual, name: "probed.drops", effect: "probed", mode: "drops", pauseMs: 200 },
  { ...asked, name: "probed.asked", effect: "probed", mode: "ignores" },
  { ...usual, name: "read.look", effect: "read", mode: "ignores", applied: "never" },
  { ...usual, name: "table.book", effect: "transactional", mode: "table" },
  { ...asked, name: "table.asked", effect: "transactional", mode: "table" },
];

export const specOf = (name: string): Spec | undefined => SPECS.find((spec) => spec.name === name);

/** Only SQLite has transactional effects. */
export const specsFor = (store: "sqlite" | "postgres"): readonly Spec[] =>
  SPECS.filter((spec) => store === "sqlite" || spec.effect !== "transactional");

export type Hooks = {
  /** The request has left this process and no answer has come. */
  written(): void;
  /** The row is written and nothing is committed. */
  inTransaction(): void;
};

async function send(
  receiver: Receiver,
  mode: Mode,
  args: Args,
  context: ToolContext & Hooks,
): Promise<string> {
  const body = { key: context.idempotencyKey, tool: context.tool, args };
  const { status, result } = await receiver.post(mode, body, context);
  if (status === 422) throw new NotApplied("the receiver refused it");
  if (status !== 200 || result === null) throw new Error(`HTTP ${status}`);
  return result;
}

/** Below what the receiver remembers, with room for a process that is held up between its last look and its send. */
const TIMES = { keyRetentionMs: REMEMBERED_MS / 2, timeoutMs: 100, finalityMs: 300 };

export function declare(
  hp: Holdpoint,
  spec: Spec,
  receiver: Receiver,
  hooks: Hooks,
): GatedTool<Args, unknown> {
  const { name, policy, effect, mode } = spec;
  const shared = { name, policy, ...(spec.costs ? { cost: () => COST } : {}) };
  if (effect === "transactional" || mode === "table")
    return hp.gate<Args, unknown>({
      ...shared,
      effect: "transactional",
      runInTransaction: (args, sql, context) => {
        sql.run("CREATE TABLE IF NOT EXISTS booked (effect TEXT, tool TEXT, args TEXT)");
        sql.run("INSERT INTO booked VALUES (?, ?, ?)", context.effect, context.tool, canonicalJson(args));
        hooks.inTransaction();
        return args.n;
      },
    });
  if (effect === "read")
    return hp.gate<Args, unknown>({
      ...shared,
      effect,
      run: async () => (await receiver.get(mode, null)).result,
    });
  const run = (args: Args, context: ToolContext) => send(receiver, mode, args, { ...context, ...hooks });
  if (effect === "probed")
    return hp.gate<Args, unknown>({
      ...shared,
      effect,
      finalityMs: TIMES.finalityMs,
      run,
      verify: async ({ idempotencyKey }) => {
        const { result } = await receiver.get(mode, idempotencyKey);
        return result === null ? { answer: "not_applied" } : { answer: "applied", result };
      },
    });
  const repeated = effect === "keyed" && mode === "honours" ? { timeoutMs: TIMES.timeoutMs } : {};
  const kept = effect === "keyed" && mode === "forgets" ? { keyRetentionMs: TIMES.keyRetentionMs } : {};
  return hp.gate<Args, unknown>({ ...shared, effect, run, ...repeated, ...kept });
}
