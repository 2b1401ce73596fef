/** The state of an action and of its effect, and the facts that its events share with it. */
import type { UndoRecord, UndoSeen, Versions } from "../approvals/state.ts";
import type { Json } from "../kernel/json.ts";
import type { MoneyJson } from "../kernel/money.ts";
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

/** A proposal as its stream keeps it. */
export type ProposalFacts = {
  readonly requestId: string | null;
  readonly tool: string;
  readonly effectClass: EffectClass;
  readonly schema: string;
  readonly args: Json;
  readonly argsDigest: string;
  /** Digest of the arguments as the caller gave them, before schema validation. */
  readonly givenDigest: string;
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
};

/** `args` and `argsDigest` are those that would run now. */
type ActionFacts = ProposalFacts & {
  /** Digest of the arguments as first proposed. */
  readonly proposedDigest: string;
  readonly from: ExecutedFrom;
  readonly proposedAt: number;
  readonly review: ReviewFacts | null;
};

/** The terms on which an effect starts. */
export type EffectTerms = {
  /** Owner: the epoch of a process, or the agent that performs the effect itself. */
  readonly epoch: string;
  readonly binding: string;
  readonly grant: Grant;
  readonly executeBy: number | null;
  readonly costs: readonly ReservedCost[];
  /** Deadline for the report of the agent that holds it; absent if a process holds it. */
  readonly reportBy?: number;
};

export type OutcomeStatus = "applied" | "not_applied" | "in_doubt";
/** Which attempt of which executor ended how. */
export type LateReport = {
  readonly epoch: string;
  readonly attempt: number;
  readonly status: OutcomeStatus;
  readonly reason: string;
};

export type Effect = EffectTerms & {
  readonly id: string;
  readonly attempt: number;
  readonly startedAt: number;
  /** Set if an agent performs the effect itself; absent if a process holds it. */
  readonly permit?: PermitState;
  /** First report of the agent that holds it. */
  readonly told?: Testimony;
  /** Late reports, such as those of executors that had been presumed dead. */
  readonly late: readonly (LateReport & { readonly resultDigest?: string })[];
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

export type Testimony = Pick<LateReport, "status" | "reason"> & {
  readonly resultDigest: string | null;
  /** Reported too late to count. */
  readonly isLate: boolean;
};

/** A result, and who reported it: an epoch, a probe or a person. */
export type ReportedResult = {
  readonly reason: string;
  readonly result: Json;
  readonly resultDigest: string | null;
  readonly by: string;
  readonly evidence: Json;
};
type EffectOutcome = ReportedResult & { readonly at: number; readonly seq: number };

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
