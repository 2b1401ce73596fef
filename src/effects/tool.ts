import type { Json } from "../kernel/json.ts";
import type { Money } from "../kernel/money.ts";
import type { ToolRules } from "../policy/rules/tool-rules.ts";
import type { SqlTransaction } from "../stores/store.ts";
import type { ProbeAnswer } from "./rules/outcome.ts";

/** What a tool's function is told about the call it performs. */
export type ToolContext = {
  readonly action: string;
  readonly effect: string;
  readonly requestId: string | null;
  readonly tool: string;
  readonly agent: string;
  /** The same for every attempt of this effect and for no other: hand it to the receiver. */
  readonly idempotencyKey: string;
  readonly attempt: number;
  /** Who agreed, or granted it before, and what they noted; empty when the policy allowed it by itself. */
  readonly approvedBy: readonly string[];
  readonly notes: readonly string[];
  /** Aborts at the tool's time-out. */
  readonly signal: AbortSignal;
  /** Says what it really cost; otherwise the estimate is booked. */
  spent(budget: string, amount: Money): void;
};

/** What a tool's `preview` is told about the call that people will be asked about. */
export type PreviewContext = Pick<ToolContext, "action" | "requestId" | "tool" | "agent" | "signal">;

export type ProbeContext = {
  readonly args: Json;
  readonly idempotencyKey: string;
  readonly action: string;
  readonly startedAt: number;
};

/** A tool with its hands: rules for the core, functions for the engine. */
export type Tool = {
  readonly rules: ToolRules;
  readonly description: string;
  /** Performed by agents from outside, who have so long to say what became of it. It is never run here. */
  readonly outside?: { readonly reportWithinMs: number };
  /** Holdpoint's own, such as what a worker's answer goes through: policies know of it without being told. */
  readonly isOwn?: true;
  /** Of a supervised run that is over: found for what that left behind. Its name is free, and no policy is checked against it. */
  readonly isLeftOver?: true;
  /** Nobody has said who decides about it: people are asked, unless a policy above it says something. */
  readonly isUndecided: boolean;
  /** Attempts in one life of the process, for classes that may be sent again. */
  readonly attempts: number;
  readonly timeoutMs: number | null;
  /** Milliseconds before the attempt after so many; as the engine sees fit unless set. `chance` is 0 to 1. */
  readonly pauseMs?: (tries: number, chance: number) => number;
  /** Something has to be reserved before it runs. */
  readonly hasCosts: boolean;
  run(args: Json, context: ToolContext): unknown;
  /** Only for class transactional: runs inside the journal's own SQL transaction. */
  readonly runInTransaction: ((args: Json, sql: SqlTransaction, context: ToolContext) => unknown) | null;
  /** What it would do, told to people before it is done; null where the tool does not say. */
  readonly preview: ((args: Json, context: PreviewContext) => unknown) | null;
  /** True when an error proves that nothing happened. */
  isDefinite(error: unknown): boolean;
  readonly verify: ((context: ProbeContext) => Promise<ProbeAnswer>) | null;
  /** What takes it back: a tool of its own, nothing where there is nothing to take back, or null where that cannot be done. */
  readonly undo: Tool | "nothing" | null;
};
