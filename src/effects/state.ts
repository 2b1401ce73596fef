/**
 * Actions and their effects: every event that an action's stream can hold, and the state that they fold into.
 * Events are in the past tense; their bodies are what the journal stores.
 */
import type { UndoRecord, UndoSeen, Versions } from "../approvals/state.ts";
import type { Json } from "../kernel/json.ts";
import type { MoneyJson } from "../kernel/money.ts";
import type { Via } from "../kernel/principal.ts";
import type { Refusal } from "../kernel/refusals.ts";
import type { EffectClass } from "../policy/rules/tool-rules.ts";
import type { LimitBehind, Risk, RunLimitOf, ShadowVerdict } from "../policy/rules/verdict.ts";

/** Position of an action in a workflow. */
export type Within = {
  readonly workflow: string;
  /** Operation id: `workflow/generation/branch/name#occurrence`. */
  readonly op: string;
  /** For a compensation: the action that it undoes. */
  readonly undoes: string | null;
  /** The workflow continues while the effect is in doubt. */
  readonly goesOn: boolean;
  /** For a compensation that the agent declared: whether people approved it. */
  readonly declared?: UndoSeen;
};

/** A call, or an undo that the agent declared, which is a call of its choice. An undo that the tool declares is not. */
export const isOwnCall = (within: Within | undefined): boolean =>
  within !== undefined && (within.undoes === null || within.declared !== undefined);

/**
 * A call is named by its tool. A step has its own name, and a tool that only its workflow knows. A registered tool of
 * the same name is a different one.
 */
export function isStep(op: string, tool: string): boolean {
  return !op.includes(`/${tool.replace(/\.undo$/, "")}#`);
}

/** Origin of the arguments that ran. */
export type ExecutedFrom = "original" | "supervisor_revised" | "human_revised";

/** What permitted an effect to start: a policy verdict, an approval by people, or a standing grant. */
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
      /** The grant's owner. */
      readonly by: readonly string[];
      /** Amount of this use. null: the grant has no limit. */
      readonly amount: MoneyJson | null;
      readonly nonce: string;
    };

export type ReservedCost = MoneyJson & { readonly budget: string };

/** Verdict of a policy, with the digests of its versions. */
export type ReviewFacts = Versions & {
  readonly verdict: "approve" | "block" | "escalate";
  readonly rule: string;
  readonly reason: string;
  /** A limit of the supervised run blocked it, not a policy. */
  readonly limitOf?: RunLimitOf;
  /** A policy blocked it, and a limit of the supervised run would also have blocked it. */
  readonly limitBehind?: LimitBehind;
  /** Only in older entries: one of the documents, if code was consulted too. */
  readonly document?: string;
  /** The highest risk if several policies score; absent if none does. */
  readonly risk?: Risk;
  /** All risks, if several policies score. */
  readonly risks?: readonly Risk[];
  /** Verdicts of rules on trial; absent if none matched. */
  readonly shadow?: readonly ShadowVerdict[];
  /** The tool's cost estimate, if people have to approve; absent if it uses no budget. */
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
        /** Of the tool's title; absent if it has none. */
        readonly titleTemplate?: string;
        readonly within?: Within;
        /** The agent performs the effect itself. */
        readonly outside?: true;
        /** The undo call that the agent declares. */
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
        /** Owner: the epoch of a process, or the agent that performs the effect itself. */
        readonly epoch: string;
        readonly binding: string;
        readonly grant: Grant;
        readonly executeBy: number | null;
        readonly costs: readonly ReservedCost[];
        /** Deadline for the agent's report; absent if a process performs the effect. */
        readonly reportBy?: number;
        /** Permit: digest of its holder. Absent if the agent sent none: the permit then counts as begun. */
        readonly holder?: string;
        /** Permit: the request that it answers. */
        readonly ask?: string;
      }
    >
  /** The holder of a permit begins to perform the effect. */
  | Fact<"effect.begun", { readonly holder: string; readonly ask: string }>
  /** A begun permit was handed out for the `times`-th time. `holder`: digest of the requesting holder, if any. */
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
        /** What put it in doubt, if that was not the owner. */
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
        /** The result that an agent reported. */
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
  /** The agent's explanation: untrusted text. */
  readonly says: string | null;
  /** Of the tool's title; absent if it has none. `approvals/rules/title.ts` fills it. */
  readonly titleTemplate?: string;
  /** Position in a workflow, if any. */
  readonly within?: Within;
  /** The agent performs the effect itself and reports its outcome. */
  readonly outside?: true;
  /** The undo call that the agent declares. */
  readonly undo?: UndoRecord;
  /** Digest of the arguments as first proposed. `argsDigest` is that of the arguments that would run now. */
  readonly proposedDigest: string;
  /** Digest of the arguments as the caller gave them, before schema validation. */
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
  /** Owner: the epoch of a process, or the agent that performs the effect itself. */
  readonly epoch: string;
  readonly binding: string;
  readonly grant: Grant;
  readonly executeBy: number | null;
  readonly costs: readonly ReservedCost[];
  readonly startedAt: number;
  /** Deadline for the report of the agent that holds it; absent if a process holds it. */
  readonly reportBy?: number;
  /** Set if an agent performs the effect itself; absent if a process holds it. */
  readonly permit?: PermitState;
  /** First report of the agent that holds it. */
  readonly told?: Testimony;
  /** Late reports, such as those of executors that had been presumed dead. */
  readonly late: readonly {
    readonly epoch: string;
    readonly attempt: number;
    readonly status: string;
    readonly reason: string;
    readonly resultDigest?: string;
  }[];
  /** The latest probe answer that did not resolve the doubt. */
  readonly probe: { readonly answer: string; readonly evidence: Json } | null;
};

/** Holder of the permit, and whether the effect may have been performed. */
export type PermitState = {
  /** Digest of the holder that the permit was issued to. null: the agent sent none. */
  readonly holder: string | null;
  readonly isBegun: boolean;
  readonly handedOut: number;
  /** Request for which it was last handed out or begun. null in older entries. */
  readonly ask: string | null;
};

export type Testimony = {
  readonly status: "applied" | "not_applied" | "in_doubt";
  readonly reason: string;
  readonly resultDigest: string | null;
  /** Reported too late to count. */
  readonly isLate: boolean;
};

type EffectOutcome = {
  readonly at: number;
  readonly seq: number;
  readonly reason: string;
  readonly result: Json;
  readonly resultDigest: string | null;
  /** The epoch, probe or person that reported it. */
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
}: Pick<ReviewFacts, "document" | "policy"> & {
  readonly documents?: readonly string[] | undefined;
}): readonly string[] {
  return documents ?? [document ?? policy];
}
