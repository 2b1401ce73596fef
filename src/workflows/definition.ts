/** What a workflow's author writes, and what the definition is given to work with. */

import type { Waited } from "../agents/intents/delivery.ts";
import type { OutgoingIntent } from "../agents/intents/input.ts";
import type { CheckPart } from "../effects/call-context.ts";
import type { Policy } from "../effects/define-tool.ts";
import type { Answer } from "../effects/execute.ts";
import type { GatedTool } from "../effects/gate.ts";
import type { InputSchema } from "../effects/input-schema.ts";
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
  /** Attempts in all; 1 unless set. */
  readonly attempts?: number;
  /** Before the second attempt; doubled before each one after it. 1000 unless set. */
  readonly backOffMs?: number;
  readonly longestBackOffMs?: number;
  /** A share of the wait that is left to chance, 0 to 1; 0.2 unless set. */
  readonly jitter?: number;
};

export type StepContext<Args = unknown> = {
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly idempotencyKey: string;
  /** The step's `args` as they are in force: with what policy or a person changed, and with secrets in place. */
  readonly args: Args;
};

export type StepOptions<Result, Args = unknown> = {
  readonly retries?: Retries;
  readonly timeoutMs?: number;
  /** A person has to agree before it runs. It is then a gated action, with `args` on its card. */
  readonly approvalRequired?: boolean;
  /** Undone by itself when the workflow fails, although the workflow does not say so of everything. */
  readonly rollbackEnabled?: boolean;
  /** Undoes it when the workflow goes back past it. It is then a gated action. */
  readonly undo?: (result: Result, context: StepContext<Args>) => unknown;
  /** What an approver sees and may change: the step works with those of its context. It is then a gated action. */
  readonly args?: Args;
  /** For a step that is gated: what it promises about repeating it. `once` unless set. */
  readonly effect?: Exclude<EffectClass, "transactional" | "probed">;
};

export type WorkflowCallOptions = {
  readonly says?: string;
  /** Which of several agents makes it; the program's own unless set. */
  readonly agent?: string;
  readonly approvalRequired?: boolean;
  readonly rollbackEnabled?: boolean;
  /** Go on while the effect is in doubt; otherwise the workflow waits until somebody has found out. */
  readonly continueInDoubt?: boolean;
};

export type Passed<Outputs> = {
  readonly decision: "approved" | "modified" | "passed";
  /** As they were approved: with what a person changed. */
  readonly outputs: Outputs;
  readonly by: readonly string[];
  readonly note: string;
};

export type Asked<Value> =
  | { readonly answered: true; readonly answer: Value; readonly by: readonly string[]; readonly note: string }
  | {
      readonly answered: false;
      /** `invalid`: people answered, with something that the question's schema does not let through. */
      readonly why: "rejected" | "expired" | "cancelled" | "invalid";
      readonly reason: string;
    };

export type QuestionOptions<Value> = {
  /** What an answer has to be. */
  readonly answer?: InputSchema<Value>;
  /** Stands unless the person writes something else. */
  readonly suggestion?: Value;
  readonly approvers?: Partial<ApproverRule>;
  readonly withinMs?: number;
};

/** An intent as a workflow sends it: in the name of its agent, and named by the operation. */
export type SentFromFlow = Omit<OutgoingIntent, "from" | "requestId">;

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
  /** 1, and one more each time it was sent back. */
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
  ask<Value>(name: string, text: string, options?: QuestionOptions<Value>): Promise<Asked<Value>>;
  /** Sends an intent, once, and answers its id. It is cancelled when the workflow goes back past this, or fails. */
  send(name: string, intent: SentFromFlow): Promise<string>;
  /** Waits for an intent, hours or days; running out of time is an answer, and the intent goes on. */
  waitFor(name: string, intent: string, options?: { readonly timeoutSeconds?: number }): Promise<Waited>;
  spawn<Input, Result>(child: Workflow<Input, Result>, input: Input): Promise<Result>;
  /** Branches side by side, each with a context of its own; answers when all have ended, and throws the first error then. */
  parallel<Results extends readonly unknown[]>(
    branches: { readonly [Branch in keyof Results]: (context: WorkflowContext) => Promise<Results[Branch]> },
  ): Promise<Results>;
  now(): number;
  /** At least 0 and below 1. */
  random(): number;
  log(text: string, data?: unknown): void;
  /** 0 for a workflow that passed this place before the change was there, else `version`. */
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
  /** Recorded; nothing is locked until payments exist. */
  readonly escrow?: Money;
  /** How often it may be tried in all before a rejection is for good; 5 unless set. */
  readonly attempts?: number;
  /** When it fails, undo what was done since the last approved checkpoint. */
  readonly rollbackEnabled?: boolean;
  /** Asked for every call that it and its children make, beside the tool's own policy; the strictest holds. */
  readonly policy?: Policy<never>;
  /** What a rollback does that meets an effect without an undo: `fail` unless set. */
  readonly onIrreversible?: "fail" | "continue";
};

export type RunOptions = {
  /** The same id leads to the same workflow, for ever: a program that was restarted finds its own again. */
  readonly requestId?: string;
  readonly parties?: { readonly poster?: string; readonly executor?: string; readonly supervisor?: string };
  /** Asks people about every call that policy alone would let through, in its children too, for as long as it lives. */
  readonly approvalRequired?: boolean;
  /**
   * The name of a budget (`hp.budgets.limit`) that everything its tools declare to cost is counted on, beside the budgets
   * that they name. A tool that declares no cost is not counted.
   */
  readonly budget?: string;
  /** Told about what this workflow waits for, beside the instance's own listener. */
  readonly notify?: (notice: Notice) => void;
};

export type WorkflowResult<Result> =
  | { readonly status: "completed"; readonly workflow: string; readonly result: Result }
  | {
      readonly status: "failed";
      readonly workflow: string;
      readonly code: FailureCode;
      readonly reason: string;
      readonly by: string;
      /** After a rollback. */
      readonly report: RollbackReport | null;
    };

export type WorkflowHandle<Result> = {
  readonly id: string;
  /** Waits for its end, however long that takes. */
  result(): Promise<WorkflowResult<Result>>;
};

export type Workflow<Input, Result> = {
  readonly workflowName: string;
  /** Creates it and begins; answers as soon as that is durable. */
  start(input: Input, options?: RunOptions): Promise<WorkflowHandle<Result>>;
  /** Starts it and waits for its end. */
  run(input: Input, options?: RunOptions): Promise<WorkflowResult<Result>>;
};

export type WorkflowBody<Input, Result> = (
  context: WorkflowContext,
  input: Input,
) => Result | Promise<Result>;

/** What `hp.current()` answers: what the code that asks runs in, of this instance. */
export type Current =
  /** The definition of a workflow, or a branch of it: `ctx` is that of the branch. */
  | {
      readonly kind: "workflow";
      readonly workflow: string;
      /** The name of the definition. */
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
  /** The function of a tool, of its undo, or of a step that is an action. */
  | ({ readonly kind: "effect" } & Pick<
      ToolContext,
      "tool" | "action" | "effect" | "requestId" | "idempotencyKey" | "attempt"
    >)
  /** A function that judges a call of the tool, and performs nothing. */
  | { readonly kind: "check"; readonly tool: string; readonly part: CheckPart };

export type Limits = {
  readonly digest: string;
  /** Made anew for each review: what it goes by may change in between. */
  guard(): RunGuard;
};

/** A definition as the engine keeps it. */
export type Definition = {
  readonly name: string;
  readonly options: WorkflowOptions<never>;
  readonly body: WorkflowBody<unknown, unknown>;
  /** A policy document over its calls, beside whatever else decides about them. */
  readonly document?: () => CompiledPolicy;
  /** Limits of the engine's own, asked after everything else. */
  readonly limits?: Limits;
  /** What the kill switch or a budget holds up is refused, instead of waited with. */
  readonly givesUpHeld?: boolean;
  /** Made for one run: another of the same name may have other parts. */
  readonly isOfOneRun?: true;
  /** Which agent it acts for, if not the program's own: the switch of that one holds its steps up too. */
  readonly agent?: string;
  /** What it brings itself, by name: found before what the instance has under that name. */
  readonly tools?: ReadonlyMap<string, Tool>;
  /** Those that the same program has defined, by name. */
  readonly beside: ReadonlyMap<string, Definition>;
};
