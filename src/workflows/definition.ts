/** The types a workflow's author works with: options, the context passed to the definition, and results. */

import type { OutgoingIntent } from "../agents/intents/contract.ts";
import type { Waited } from "../agents/intents/delivery.ts";
import type { Answer } from "../effects/answer.ts";
import type { InputSchema } from "../effects/arguments.ts";
import type { CheckPart } from "../effects/call-context.ts";
import type { Policy } from "../effects/define-tool.ts";
import type { GatedTool } from "../effects/gate.ts";
import type { Tool, ToolContext } from "../effects/tool.ts";
import type { Money } from "../kernel/money.ts";
import type { CompiledPolicy } from "../policy/rules/compile.ts";
import type { EffectClass } from "../policy/rules/tool-rules.ts";
import type { ApproverRule } from "../policy/rules/verdict.ts";
import type { Notice } from "../runtime/notices.ts";
import type { RunGuard } from "../supervise/rules/limits.ts";
import type { FailureCode, RollbackReport } from "./events.ts";
import type { CheckpointDefinition, CheckpointSets } from "./rules/checkpoints.ts";
import type { Captured } from "./rules/snapshot.ts";

export type Retries = {
  /** Attempts in total. Default: 1. */
  readonly attempts?: number;
  /** Wait before the second attempt; doubles before each further one. Default: 1000. */
  readonly backOffMs?: number;
  readonly longestBackOffMs?: number;
  /** Random share of the wait, 0 to 1. Default: 0.2. */
  readonly jitter?: number;
};

export type StepContext<Args = unknown> = {
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly idempotencyKey: string;
  /** The step's `args` as approved: including changes by policy or a person, with secrets filled in. */
  readonly args: Args;
};

export type StepOptions<Result, Args = unknown> = {
  readonly retries?: Retries;
  readonly timeoutMs?: number;
  /** A person must approve the step before it runs. Makes it a gated action, with `args` on its card. */
  readonly approvalRequired?: boolean;
  /** Undo the step when the workflow fails, even if the workflow's own `rollbackEnabled` is off. */
  readonly rollbackEnabled?: boolean;
  /** Undoes the step when the workflow rolls back past it. Makes it a gated action. */
  readonly undo?: (result: Result, context: StepContext<Args>) => unknown;
  /** What an approver sees and may edit; the step reads the result from its context. Makes it a gated action. */
  readonly args?: Args;
  /** For a gated step: its promise about being repeated. Default: `once`. */
  readonly effect?: Exclude<EffectClass, "transactional" | "probed">;
};

export type WorkflowCallOptions = {
  readonly rationale?: string;
  /** Which of several agents makes the call. Default: the program's own. */
  readonly agent?: string;
  readonly approvalRequired?: boolean;
  readonly rollbackEnabled?: boolean;
  /** Go on while the effect is in doubt. Default: the workflow waits until the outcome is known. */
  readonly continueInDoubt?: boolean;
};

export type Passed<Outputs> = {
  readonly decision: "approved" | "modified" | "passed";
  /** As approved, including a person's edits. */
  readonly outputs: Outputs;
  readonly by: readonly string[];
  readonly note: string;
};

export type QuestionAnswer<Value> =
  | { readonly answered: true; readonly answer: Value; readonly by: readonly string[]; readonly note: string }
  | {
      readonly answered: false;
      /** `invalid`: people answered, but the answer does not fit the question's schema. */
      readonly why: "rejected" | "expired" | "cancelled" | "invalid";
      readonly reason: string;
    };

export type QuestionOptions<Value> = {
  /** Schema that an answer must fit. */
  readonly answer?: InputSchema<Value>;
  /** Used as the answer unless the person writes another. */
  readonly suggestion?: Value;
  readonly approvers?: Partial<ApproverRule>;
  readonly withinMs?: number;
};

/** An intent sent by a workflow: `from` is its agent, the request id comes from the operation. */
export type WorkflowIntent = Omit<OutgoingIntent, "from" | "requestId">;

/** Why the definition runs again from a checkpoint. */
export type SentBack = {
  readonly rejectedCheckpoint: string | null;
  readonly lastApprovedCheckpoint: string | null;
  readonly by: string;
  readonly reason: string;
  readonly undone: readonly string[];
  readonly irreversible: readonly string[];
  /** The captured state of the checkpoint that it went back to; null at the start. */
  readonly restored: { readonly [field: string]: unknown } | null;
};

export type WorkflowContext = {
  readonly workflow: string;
  /** 1-based; grows by one each time the workflow is sent back. */
  readonly attempt: number;
  readonly sentBack: SentBack | null;
  call<Args, Result>(
    tool: GatedTool<Args, Result>,
    args: Args,
    options?: WorkflowCallOptions,
  ): Promise<Answer<Result>>;
  step<Result>(name: string, run: (context: StepContext) => Result | Promise<Result>): Promise<Result>;
  step<Result, Args>(
    name: string,
    options: StepOptions<Result, Args>,
    run: (context: StepContext<Args>) => Result | Promise<Result>,
  ): Promise<Result>;
  checkpoint<Outputs>(
    name: string,
    captured?: Omit<Captured, "outputs"> & { readonly outputs?: Outputs },
  ): Promise<Passed<Outputs>>;
  sleep(ms: number): Promise<void>;
  sleepUntil(time: number | Date): Promise<void>;
  ask<Value>(name: string, text: string, options?: QuestionOptions<Value>): Promise<QuestionAnswer<Value>>;
  /** Sends an intent once and returns its id. It is cancelled if the workflow rolls back past this or fails. */
  send(name: string, intent: WorkflowIntent): Promise<string>;
  /** Waits for an intent, even for days. A timeout is returned as a result, and the intent goes on. */
  waitFor(name: string, intent: string, options?: { readonly timeoutSeconds?: number }): Promise<Waited>;
  spawn<Input, Result>(child: Workflow<Input, Result>, input: Input): Promise<Result>;
  /** Runs branches concurrently, each with its own context. Waits for all of them, then throws the first error. */
  parallel<Results extends readonly unknown[]>(
    branches: { readonly [Branch in keyof Results]: (context: WorkflowContext) => Promise<Results[Branch]> },
  ): Promise<Results>;
  now(): number;
  /** At least 0 and below 1. */
  random(): number;
  log(text: string, data?: unknown): void;
  /** 0 for a workflow that passed this point before the change existed, else `version`. */
  version(change: string, version?: number): number;
};

export type WorkflowOptions<Input> = {
  readonly description?: string;
  readonly version?: string;
  readonly checkpoints?: readonly CheckpointDefinition[] | CheckpointSets;
  /** Chooses among sets of checkpoints. */
  readonly complexity?: (input: Input) => "simple" | "medium" | "complex";
  readonly input?: InputSchema<Input>;
  readonly parties?: { readonly poster?: string; readonly executor?: string; readonly supervisor?: string };
  /** Recorded only; no money is locked until payments exist. */
  readonly escrow?: Money;
  /** Attempts in total before a rejection is final. Default: 5. */
  readonly attempts?: number;
  /** On failure, undo what was done since the last approved checkpoint. */
  readonly rollbackEnabled?: boolean;
  /** Applies to every call that it and its children make, in addition to the tool's policy; the strictest wins. */
  readonly policy?: Policy<never>;
  /** What a rollback does at an effect without an undo. Default: `fail`. */
  readonly onIrreversible?: "fail" | "continue";
};

export type RunOptions = {
  /** The same id always leads to the same workflow, so a restarted program finds its workflow again. */
  readonly requestId?: string;
  readonly parties?: { readonly poster?: string; readonly executor?: string; readonly supervisor?: string };
  /** Asks people about every call that policy alone would let through, also in its children, until it ends. */
  readonly approvalRequired?: boolean;
  /**
   * The name of a budget (`hp.budgets.limit`) that all costs declared by its tools count against, in addition to the
   * budgets that the tools name. A tool that declares no cost is not counted.
   */
  readonly budget?: string;
  /**
   * Notified of what this workflow waits for, in addition to the instance's own listener. Or the address of an endpoint,
   * `slack://<name>`, where the approvals that it and its children ask for are sent, whatever the endpoint subscribes to.
   */
  readonly notify?: ((notice: Notice) => void) | string;
};

export type WorkflowResult<Result> =
  | { readonly status: "completed"; readonly workflow: string; readonly result: Result }
  | {
      readonly status: "failed";
      readonly workflow: string;
      readonly code: FailureCode;
      readonly reason: string;
      readonly by: string;
      /** Set after a rollback. */
      readonly report: RollbackReport | null;
    };

export type WorkflowHandle<Result> = {
  readonly id: string;
  /** Waits for its end, however long that takes. */
  result(): Promise<WorkflowResult<Result>>;
};

export type Workflow<Input, Result> = {
  readonly workflowName: string;
  /** Creates and starts it; resolves as soon as that is durable. */
  start(input: Input, options?: RunOptions): Promise<WorkflowHandle<Result>>;
  /** Starts it and waits for its end. */
  run(input: Input, options?: RunOptions): Promise<WorkflowResult<Result>>;
};

export type WorkflowBody<Input, Result> = (
  context: WorkflowContext,
  input: Input,
) => Result | Promise<Result>;

/** Result of `hp.current()`: what the calling code runs in, within this instance. */
export type Current =
  /** The definition of a workflow, or a branch of it: `ctx` is that of the branch. */
  | {
      readonly kind: "workflow";
      readonly workflow: string;
      /** Name of the definition. */
      readonly name: string;
      readonly ctx: WorkflowContext;
    }
  /** The function of a plain step. */
  | {
      readonly kind: "step";
      readonly workflow: string;
      readonly step: string;
      readonly attempt: number;
      readonly idempotencyKey: string;
    }
  /** The function of a tool, of its undo, or of a step that is a gated action. */
  | ({ readonly kind: "effect" } & Pick<
      ToolContext,
      "tool" | "action" | "effect" | "requestId" | "idempotencyKey" | "attempt"
    >)
  /** A function that judges a call of the tool and performs nothing. */
  | { readonly kind: "check"; readonly tool: string; readonly part: CheckPart };

export type Limits = {
  readonly digest: string;
  /** Made for each review, because its limits may change in between. */
  guard(): RunGuard;
};

/** A definition as the engine keeps it. */
export type Definition = {
  readonly name: string;
  readonly options: WorkflowOptions<never>;
  readonly body: WorkflowBody<unknown, unknown>;
  /** A policy document for its calls, in addition to all other policies. */
  readonly document?: () => CompiledPolicy;
  /** The engine's own limits, checked after everything else. */
  readonly limits?: Limits;
  /** Calls held by the kill switch or a budget are refused instead of waited for. */
  readonly givesUpHeld?: boolean;
  /** Made for one run: another of the same name may have other parts. */
  readonly isOfOneRun?: true;
  /** The agent it acts for. Default: the program's own. That agent's kill switch also holds its steps. */
  readonly agent?: string;
  /** Its own tools by name; they take precedence over the instance's. */
  readonly tools?: ReadonlyMap<string, Tool>;
  /** All definitions of the same program, by name. */
  readonly beside: ReadonlyMap<string, Definition>;
};
