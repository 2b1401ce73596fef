import type { Json } from "../kernel/json.ts";
import type { Money } from "../kernel/money.ts";
import type { ToolRules } from "../policy/rules/tool-rules.ts";
import type { SqlTransaction } from "../stores/store.ts";
import type { ProbeAnswer } from "./rules/outcome.ts";

/** Context that a tool's function gets for the call it performs. */
export type ToolContext = {
  readonly action: string;
  readonly effect: string;
  readonly requestId: string | null;
  readonly tool: string;
  readonly agent: string;
  /** The same for every attempt of this effect, and unique to it. Pass it to the receiver. */
  readonly idempotencyKey: string;
  readonly attempt: number;
  /** People who approved it or gave the standing grant, and their notes. Empty if the policy allowed it alone. */
  readonly approvedBy: readonly string[];
  readonly notes: readonly string[];
  /** Aborts at the tool's timeout, or when this process loses its lease. */
  readonly signal: AbortSignal;
  /** Reports the true cost. Default: the estimate is booked. */
  spent(budget: string, amount: Money): void;
};

/** Context that a tool's `preview` gets for the call that people will review. */
export type PreviewContext = Pick<ToolContext, "action" | "requestId" | "tool" | "agent" | "signal">;

export type ProbeContext = {
  readonly args: Json;
  readonly idempotencyKey: string;
  readonly action: string;
  readonly startedAt: number;
};

/** A tool as the runtime uses it: rules for decisions, functions for execution. */
export type Tool = {
  readonly rules: ToolRules;
  readonly description: string;
  /** Performed by outside agents, which must report the outcome within this time. Never run here. */
  readonly outside?: { readonly reportWithinMs: number };
  /** Built into Holdpoint, such as the tool behind a worker's answer. Policies know it without a declaration. */
  readonly isOwn?: true;
  /** Of a supervised run that has ended, kept for its leftovers. Its name is free; no policy is checked against it. */
  readonly isLeftOver?: true;
  /** The tool has no policy of its own: people decide, unless a policy above it applies. */
  readonly isUndecided: boolean;
  /** Attempts per lifetime of the process, for classes that may be sent again. */
  readonly attempts: number;
  readonly timeoutMs: number | null;
  /** Back-off in milliseconds after `tries` attempts. Default: exponential. `chance`: 0 to 1. */
  readonly pauseMs?: (tries: number, chance: number) => number;
  /** Costs must be reserved before it runs. */
  readonly hasCosts: boolean;
  run(args: Json, context: ToolContext): unknown;
  /** Class `transactional` only: runs inside the journal's own SQL transaction. */
  readonly runInTransaction: ((args: Json, sql: SqlTransaction, context: ToolContext) => unknown) | null;
  /** Shows people what the call would do. null: the tool has no preview. */
  readonly preview: ((args: Json, context: PreviewContext) => unknown) | null;
  /** True if an error proves that nothing was applied. */
  isDefinite(error: unknown): boolean;
  readonly verify: ((context: ProbeContext) => Promise<ProbeAnswer>) | null;
  /** The tool that undoes it. `"nothing"`: there is nothing to undo. null: it cannot be undone. */
  readonly undo: Tool | "nothing" | null;
};
