import { isJsonObject, type Json, type JsonObject } from "./json.ts";

/** Who has to agree. `from: null` means any person; the requester never counts. */
export type ApproverRule = {
  readonly quorum: number;
  readonly from: readonly string[] | null;
  /** One rejection ends it (the default). */
  readonly veto: boolean;
};

export const ANY_ONE_PERSON: ApproverRule = { quorum: 1, from: null, veto: true };

export const RISK_LEVELS = ["low", "medium", "high", "critical"] as const;
export type RiskLevel = (typeof RISK_LEVELS)[number];

/** How dangerous a policy thinks an action is: the sum of the weights of the conditions that hold. */
export type Risk = {
  readonly score: number;
  readonly level: RiskLevel;
  readonly conditions: readonly string[];
  /** Digest of the document that thinks so; absent where a policy in code does. */
  readonly document?: string;
};

/** What a rule on trial would have said. */
export type ShadowVerdict = {
  readonly rule: string;
  readonly verdict: string;
  readonly reason: string;
  /** Digest of the document that it stands in. */
  readonly document?: string;
};

/** What a policy adds to whatever it says. */
export type Remarks = {
  readonly rule?: string;
  /** Of several policies that score, the highest. */
  readonly risk?: Risk;
  /** All of them, where several score. */
  readonly risks?: readonly Risk[];
  readonly shadow?: readonly ShadowVerdict[];
};

/** What happens to a stage that nobody decided in time. */
export type OnTimeout = "expire" | "escalate" | "extend";

/** One of several stages, as a policy writes it. */
export type StageRule = Partial<ApproverRule> & { readonly decideWithinMs?: number };

/** What a policy says of an action. */
export type Verdict =
  | (Remarks & { readonly verdict: "approve"; readonly reason?: string })
  | (Remarks & { readonly verdict: "block"; readonly reason: string })
  | (Remarks & { readonly verdict: "revise"; readonly set: JsonObject; readonly reason: string })
  | (Remarks & {
      readonly verdict: "escalate";
      readonly reason?: string;
      readonly approvers?: Partial<ApproverRule>;
      /** Instead of `approvers`: each is asked once the one before has agreed. */
      readonly stages?: readonly StageRule[];
      /** Milliseconds people have to decide; absent: it never expires. */
      readonly decideWithinMs?: number;
      /** At a deadline: it expires unless set; or the next stage is asked; or there is as much time again, once. */
      readonly onTimeout?: OnTimeout;
      /** Milliseconds after that in which it may still start. */
      readonly executeWithinMs?: number;
    });

/** A call that the same workflow made before, as a policy sees it. */
export type PastCall = {
  readonly action: string;
  readonly tool: string;
  /** As they ran, or would run. */
  readonly args: Json;
  /** `running` and `in_doubt` may have happened: whoever counts has to count them. */
  readonly status: "waiting" | "running" | "applied" | "in_doubt" | "not_applied" | "refused";
  /** What the tool returned; null unless it was applied. */
  readonly result: Json;
  /** The attempt of the workflow that made it; a rollback begins another. */
  readonly generation: number;
  /** Its effect was taken back. */
  readonly undone: boolean;
  readonly at: number;
};

export type PolicyInput = {
  readonly tool: string;
  readonly effectClass: string;
  readonly args: Json;
  readonly agent: string;
  readonly requester: readonly string[];
  readonly requestId: string | null;
  /** The workflow that makes the call; null outside of one. */
  readonly workflow: {
    readonly id: string;
    readonly name: string;
    readonly generation: number;
  } | null;
  /** Oldest first; empty outside of a workflow. It is read only for a policy that looks at it. */
  readonly history: readonly PastCall[];
  readonly now: number;
};

/** The rule in full, whatever else was written beside it; or why it is none. */
export function approverRule(given: unknown): ApproverRule | string {
  if (given !== undefined && !isJsonObject(given)) return "approvers is not an object";
  const { quorum, from, veto } = { ...ANY_ONE_PERSON, ...given };
  const isNames = (list: unknown) => Array.isArray(list) && list.every((name) => typeof name === "string");
  if (from !== null && !isNames(from)) return "approvers.from is not a list of people";
  if (typeof veto !== "boolean") return "approvers.veto is not true or false";
  return { quorum, from, veto };
}

/** Why an approver rule can never be met, or undefined when it can. */
export function unsatisfiable(rule: ApproverRule, requester: readonly string[]): string | undefined {
  if (!Number.isInteger(rule.quorum) || rule.quorum < 1) return "a quorum is a whole number of at least 1";
  if (rule.from === null) return undefined;
  const eligible = new Set(rule.from.filter((who) => who.startsWith("person:") && !requester.includes(who)));
  if (eligible.size >= rule.quorum) return undefined;
  return `${rule.quorum} people are asked for and ${eligible.size} of those named may vote`;
}
