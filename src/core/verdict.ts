import { isJsonObject, type Json, type JsonObject } from "./json.ts";

/** Who has to agree. `from: null` means any person; the requester never counts. */
export type ApproverRule = {
  readonly quorum: number;
  readonly from: readonly string[] | null;
  /** One rejection ends it (the default). */
  readonly veto: boolean;
};

export const ANY_ONE_PERSON: ApproverRule = { quorum: 1, from: null, veto: true };

/** What a policy says of an action. */
export type Verdict =
  | { readonly verdict: "approve"; readonly reason?: string; readonly rule?: string }
  | { readonly verdict: "block"; readonly reason: string; readonly rule?: string }
  | { readonly verdict: "revise"; readonly set: JsonObject; readonly reason: string; readonly rule?: string }
  | {
      readonly verdict: "escalate";
      readonly reason?: string;
      readonly rule?: string;
      readonly approvers?: Partial<ApproverRule>;
      /** Milliseconds people have to decide; absent: it never expires. */
      readonly decideWithinMs?: number;
      /** Milliseconds after that in which it may still start. */
      readonly executeWithinMs?: number;
    };

export type PolicyInput = {
  readonly tool: string;
  readonly args: Json;
  readonly agent: string;
  readonly requester: readonly string[];
  readonly requestId: string | null;
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
