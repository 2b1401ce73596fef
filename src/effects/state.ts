/**
 * Actions and their effects: every event that an action's stream can hold, and the state that they fold into.
 * Events are in the past tense; their bodies are what the journal stores. `Within` is the position of an action in a
 * workflow.
 */
import type { UndoRecord, UndoSeen, Versions } from "../approvals/state.ts";
import type { Json } from "../kernel/json.ts";
import type { MoneyJson } from "../kernel/money.ts";
import type { Via } from "../kernel/principal.ts";
import type { Refusal } from "../kernel/refusals.ts";
import type { EffectClass } from "../policy/rules/tool-rules.ts";
import type { LimitBehind, Risk, RunLimitOf, ShadowVerdict } from "../policy/rules/verdict.ts";

/** The place of an action in a workflow. */
export type Within = {
  readonly workflow: string;
  /** The operation: `workflow/generation/branch/name#occurrence`. */
  readonly op: string;
  /** The action that this one undoes, for a compensation. */
  readonly undoes: string | null;
  /** The workflow goes on while the effect is in doubt. */
  readonly goesOn: boolean;
  /** Of a compensation that its agent had named: whether people agreed to it. */
  readonly declared?: UndoSeen;
};

/** A call, or what an agent named to take one back: a call of its choice. What a tool declares for that is none. */
export const isOwnCall = (within: Within | undefined): boolean =>
  within !== undefined && (within.undoes === null || within.declared !== undefined);

/**
 * A call is named by its tool; a step has a name of its own, and a tool of that workflow's alone. What is registered under
 * the same name is another.
 */
export function isStep(op: string, tool: string): boolean {
  return !op.includes(`/${tool.replace(/\.undo$/, "")}#`);
}

/** Where the arguments that ran came from. */
export type ExecutedFrom = "original" | "supervisor_revised" | "human_revised";

/** What permitted an effect to start: a verdict of the policy, an approval by people, or what a person had granted before. */
export type Grant =
  | { readonly kind: "verdict"; readonly rule: string; readonly policy: string; readonly nonce: string }
  | {
      readonly kind: "approval";
      readonly approval: string;
      readonly by: readonly string[];
      readonly notes: readonly string[];
    }
  | {
      readonly kind: "standing";
      readonly grant: string;
      /** Its owner. */
      readonly by: readonly string[];
      /** What this use comes to; null where the grant has no limit. */
      readonly amount: MoneyJson | null;
      readonly nonce: string;
    };

export type ReservedCost = MoneyJson & { readonly budget: string };

/** What the policy of a digest said. */
export type ReviewFacts = Versions & {
  readonly verdict: "approve" | "block" | "escalate";
  readonly rule: string;
  readonly reason: string;
  /** It was blocked by a limit of the supervised run itself, and by no policy. */
  readonly limitOf?: RunLimitOf;
  /** A policy blocked it, and a limit of the supervised run would have. */
  readonly limitBehind?: LimitBehind;
  /** Only of older entries: one of the documents, where code was asked beside it. */
  readonly document?: string;
  /** The highest, where several policies score; absent where none does. */
  readonly risk?: Risk;
  /** All of them, where several score. */
  readonly risks?: readonly Risk[];
  /** What rules on trial would have said; absent where none matched. */
  readonly shadow?: readonly ShadowVerdict[];
  /** What the tool says that it will cost, where people are asked; absent where it costs no budget. */
  readonly costs?: readonly ReservedCost[];
};

type Fact<Type extends string, Body> = { readonly type: Type; readonly tv: 1; readonly body: Body };

export type ActionEvent =
  | Fact<
      "action.proposed",
      {
        readonly requestId: string | null;
        readonly tool: string;
        readonly effectClass: EffectClass;
        readonly schema: string;
        readonly args: Json;
        readonly argsDigest: string;
        readonly givenDigest: string;
        readonly agent: string;
        readonly requester: readonly string[];
        readonly says: string | null;
        readonly within?: Within;
        /** The agent performs it itself. */
        readonly outside?: true;
        /** How it says that it would take it back. */
        readonly undo?: UndoRecord;
      }
    >
  | Fact<
      "action.revised",
      {
        readonly by: string;
        readonly args: Json;
        readonly argsDigest: string;
        readonly reason: string;
        readonly rule: string;
      }
    >
  | Fact<"action.reviewed", ReviewFacts & { readonly approval: string | null }>
  | Fact<"action.held", Refusal>
  | Fact<"action.refused", Refusal>
  | Fact<"action.conflicted", { readonly tool: string; readonly argsDigest: string; readonly by: string }>
  | Fact<
      "effect.started",
      {
        readonly effect: string;
        /** Who holds it: the epoch of a process, or the agent that performs it itself. */
        readonly epoch: string;
        readonly binding: string;
        readonly grant: Grant;
        readonly executeBy: number | null;
        readonly costs: readonly ReservedCost[];
        /** By when the agent has to say what became of it; absent where a process performs it. */
        readonly reportBy?: number;
        /** Of a permit: the digest of the holder that it was issued to. Absent where the agent sent none: then it is begun at once. */
        readonly holder?: string;
        /** Of a permit: the request that it answers. */
        readonly ask?: string;
      }
    >
  /** The holder of a permit performs it from here on. */
  | Fact<"effect.begun", { readonly holder: string; readonly ask: string }>
  /** A permit that was begun was handed out again, for the `times`-th time. `holder`: digest of who asked, where it has one. */
  | Fact<"effect.handed_out", { readonly times: number; readonly holder?: string; readonly ask: string }>
  | Fact<"effect.retried", { readonly epoch: string; readonly reason: string }>
  | Fact<
      "effect.applied",
      {
        readonly epoch: string;
        readonly attempt: number;
        readonly result: Json;
        readonly resultDigest: string;
      }
    >
  | Fact<"effect.not_applied", { readonly epoch: string; readonly attempt: number; readonly reason: string }>
  | Fact<
      "effect.in_doubt",
      {
        readonly attempt: number;
        readonly reason: string;
        /** What put it in doubt, where that was not whoever holds it. */
        readonly by?: string;
      }
    >
  | Fact<"effect.probed", { readonly answer: "not_applied" | "unknown"; readonly evidence: Json }>
  | Fact<
      "effect.resolved",
      {
        readonly status: "applied" | "not_applied";
        readonly by: string;
        readonly reason: string;
        readonly result: Json;
        readonly resultDigest: string | null;
        readonly evidence: Json;
      } & Via
    >
  | Fact<
      "effect.reported_late",
      {
        readonly epoch: string;
        readonly attempt: number;
        readonly status: "applied" | "not_applied" | "in_doubt";
        readonly reason: string;
        /** What an agent said that it gave. */
        readonly result?: Json;
        readonly resultDigest?: string | null;
      }
    >;

export type ActionEventOf<Type extends ActionEvent["type"]> = Extract<ActionEvent, { type: Type }>;

type ActionFacts = {
  readonly requestId: string | null;
  readonly tool: string;
  readonly effectClass: EffectClass;
  readonly schema: string;
  readonly agent: string;
  readonly requester: readonly string[];
  /** What the agent says about it: untrusted text. */
  readonly says: string | null;
  /** Its place in a workflow, if it has one. */
  readonly within?: Within;
  /** The agent performs it itself, and says what became of it. */
  readonly outside?: true;
  /** How the agent says that it would take it back. */
  readonly undo?: UndoRecord;
  /** Digest of the arguments as first proposed; `argsDigest` is of those that would run now. */
  readonly proposedDigest: string;
  /** Digest of the arguments as the caller gave them, before the schema. */
  readonly givenDigest: string;
  readonly args: Json;
  readonly argsDigest: string;
  readonly from: ExecutedFrom;
  readonly proposedAt: number;
  readonly review: ReviewFacts | null;
};

export type Effect = {
  readonly id: string;
  readonly attempt: number;
  /** Who holds it: the epoch of a process, or the agent that performs it itself. */
  readonly epoch: string;
  readonly binding: string;
  readonly grant: Grant;
  readonly executeBy: number | null;
  readonly costs: readonly ReservedCost[];
  readonly startedAt: number;
  /** Until then the agent that holds it may say what became of it; absent where a process holds it. */
  readonly reportBy?: number;
  /** Of what an agent performs itself; absent where a process holds it. */
  readonly permit?: PermitState;
  /** What the agent that holds it said first. */
  readonly told?: Testimony;
  /** What executors that had been given up for dead said afterwards. */
  readonly late: readonly {
    readonly epoch: string;
    readonly attempt: number;
    readonly status: string;
    readonly reason: string;
    readonly resultDigest?: string;
  }[];
  /** What the latest probe said that did not end the doubt. */
  readonly probe: { readonly answer: string; readonly evidence: Json } | null;
};

/** Who was handed the permit, and whether it may have been performed. */
export type PermitState = {
  /** The digest of the holder that it was issued to; null where the agent sent none. */
  readonly holder: string | null;
  readonly isBegun: boolean;
  readonly handedOut: number;
  /** The request that it was handed out or begun for last; null in older entries. */
  readonly ask: string | null;
};

export type Testimony = {
  readonly status: "applied" | "not_applied" | "in_doubt";
  readonly reason: string;
  readonly resultDigest: string | null;
  /** Too late to count. */
  readonly isLate: boolean;
};

type EffectOutcome = {
  readonly at: number;
  readonly seq: number;
  readonly reason: string;
  readonly result: Json;
  readonly resultDigest: string | null;
  /** The epoch, probe or person that said so. */
  readonly by: string;
  readonly evidence: Json;
};

type ActionPhase =
  | { readonly phase: "open"; readonly held: Refusal | null }
  | { readonly phase: "waiting"; readonly held: Refusal | null; readonly approval: string }
  | { readonly phase: "running"; readonly effect: Effect }
  | { readonly phase: "applied"; readonly effect: Effect; readonly outcome: EffectOutcome }
  | { readonly phase: "not_applied"; readonly effect: Effect; readonly outcome: EffectOutcome }
  | { readonly phase: "in_doubt"; readonly effect: Effect; readonly outcome: EffectOutcome }
  | {
      readonly phase: "refused";
      readonly refusal: Refusal;
      readonly at: number;
      readonly approval: string | null;
    };

export type LiveAction = ActionFacts & ActionPhase;
export type ActionState = { readonly phase: "none" } | LiveAction;
export type ActionIn<Phase extends ActionPhase["phase"]> = ActionFacts &
  Extract<ActionPhase, { phase: Phase }>;

/**
 * Digests under which the documents of a recorded verdict are kept. Older entries name one, or have it as their policy; there,
 * and where only code was asked, it may be that none is kept.
 */
export function documentsNamed({
  documents,
  document,
  policy,
}: Pick<ReviewFacts, "documents" | "document" | "policy">): readonly string[] {
  return documents ?? [document ?? policy];
}
