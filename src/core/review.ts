/**
 * Policy over one action.
 *
 * V1. A revision is validated and reviewed again, five times at most; an action that would be revised once more is blocked.
 * V2. A policy that throws, or answers something that is not a verdict, blocks. So does a verdict with an unknown field or a
 *     wrong value, wherever in it that is.
 * V3. A quorum that its eligible people cannot meet blocks.
 */
import { copyJson } from "../kernel/canonical-json.ts";
import { isJsonObject, type Json } from "../kernel/json.ts";
import { errorText } from "../kernel/text.ts";

import { readVerdict } from "./policy/check-verdict.ts";
import { remarking, remarksOf } from "./remarks.ts";
import { type ApprovalTerms, approvalTerms, unmeetable } from "./stages.ts";
import type { ToolRules } from "./tool-rules.ts";
import type { LimitBehind, PolicyInput, Risk, RunLimitOf, ShadowVerdict, Verdict } from "./verdict.ts";

const MAX_ROUNDS = 5;

/** What a review needs of a tool. */
export type Reviewer = Pick<ToolRules, "policy" | "validate">;

export type Revision = { readonly args: Json; readonly reason: string; readonly rule: string };

export type Review = {
  /** The arguments after all revisions. */
  readonly args: Json;
  readonly revisions: readonly Revision[];
  readonly rule: string;
  readonly reason: string;
  /** null where the policy does not score. */
  readonly risk: Risk | null;
  /** All of them, where several policies score; else empty. */
  readonly risks: readonly Risk[];
  readonly shadow: readonly ShadowVerdict[];
} & (
  | { readonly verdict: "approve" }
  | {
      readonly verdict: "block";
      readonly invalidRevision: boolean;
      /** A limit of the supervised run itself has blocked it. */
      readonly limitOf?: RunLimitOf;
      /** A policy has blocked it, and a limit of the run would have. */
      readonly limitBehind?: LimitBehind;
    }
  | (ApprovalTerms & { readonly verdict: "escalate" })
);

function block(reason: string, rule = "policy"): Verdict {
  return { verdict: "block", reason, rule };
}

function escalationFault(
  verdict: Extract<Verdict, { verdict: "escalate" }>,
  input: PolicyInput,
): string | undefined {
  const terms = approvalTerms(verdict);
  return typeof terms === "string" ? terms : unmeetable(terms, input.requester);
}

/** Of an answer that is not a verdict, or has a fault: it blocks, and the reason names the fault. */
export function notAVerdict(fault: string, whose = "the policy"): Verdict {
  return block(`${whose} did not answer a verdict that can be used: ${fault}`);
}

function ask(rules: Reviewer, input: PolicyInput): Verdict {
  try {
    const answer = readVerdict(rules.policy(input));
    if (typeof answer === "string") return notAVerdict(answer);
    if (answer.verdict !== "escalate") return answer;
    const fault = escalationFault(answer, input);
    if (fault === undefined) return answer;
    return remarking(block(`the policy asks for the impossible: ${fault}`), answer);
  } catch (error) {
    return block(`the policy failed: ${errorText(error)}`);
  }
}

type Limited = { readonly limitOf?: RunLimitOf; readonly limitBehind?: LimitBehind };

const limitIn = ({ limitOf, limitBehind }: Limited): Limited => ({
  ...(limitOf === undefined ? {} : { limitOf }),
  ...(limitOf !== undefined || limitBehind === undefined ? {} : { limitBehind }),
});

function conclude(
  verdict: Exclude<Verdict, { verdict: "revise" }>,
  args: Json,
  revisions: readonly Revision[],
): Review {
  const { rule = "policy", reason = "", risk = null, risks = [], shadow = [] } = verdict;
  const said = { args, revisions, rule, reason, risk, risks, shadow };
  switch (verdict.verdict) {
    case "approve":
      return { ...said, verdict: "approve" };
    case "block":
      return { ...said, verdict: "block", invalidRevision: false, ...limitIn(verdict) };
    case "escalate":
      return { ...said, ...(approvalTerms(verdict) as ApprovalTerms), verdict: "escalate" };
  }
}

/** The same call with other arguments. History is passed on unread: only a policy that looks at it has it looked up. */
function roundOf(input: PolicyInput, args: Json): PolicyInput {
  const { tool, effectClass, agent, requester, requestId, workflow, now } = input;
  return {
    ...{ tool, effectClass, agent, requestId, workflow, now, args },
    requester: [...requester],
    get history() {
      return input.history;
    },
  };
}

/** A sixth revision is not made: nobody would review what it comes to. */
function stillRevising(verdict: Verdict): Exclude<Verdict, { verdict: "revise" }> {
  const reason = `the policy was still revising after ${MAX_ROUNDS} rounds`;
  return { verdict: "block", reason, ...remarksOf(verdict) };
}

export function reviewAction(rules: Reviewer, input: PolicyInput): Review {
  const revisions: Revision[] = [];
  let args = input.args;
  for (;;) {
    // A fresh copy for each call: what a policy or a schema does to its input stays there.
    const verdict = ask(rules, roundOf(input, copyJson(args)));
    if (verdict.verdict !== "revise") return conclude(verdict, args, revisions);
    if (revisions.length === MAX_ROUNDS) return conclude(stillRevising(verdict), args, revisions);
    const revised = { ...(isJsonObject(args) ? args : {}), ...verdict.set };
    const valid = rules.validate(copyJson(revised));
    const rule = verdict.rule ?? "policy";
    if (!valid.ok) {
      const reason = `the policy's revision does not fit the tool: ${valid.issues}`;
      const blocked = conclude({ verdict: "block", rule, reason, ...remarksOf(verdict) }, args, revisions);
      return { ...blocked, verdict: "block", invalidRevision: true };
    }
    args = valid.value;
    revisions.push({ args, reason: verdict.reason ?? "", rule });
  }
}
