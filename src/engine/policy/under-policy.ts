/**
 * A tool under the policy of its instance.
 *
 * G1. Where the tool has a policy of its own both are asked, and the stricter answer counts. Where both ask people, so does
 *     the document first.
 * G2. A compensation is blocked or asked about only by a rule that speaks of it: what nobody thought of when the policy
 *     was written can still be taken back.
 */
import { digestOf } from "../../core/digest.ts";
import type { CompiledPolicy } from "../../core/policy/compile.ts";
import { stricter } from "../../core/stricter.ts";
import type { ToolRules } from "../../core/tool-rules.ts";
import type { PolicyInput, Verdict } from "../../core/verdict.ts";
import { checkRevision } from "../define-tool.ts";
import { handlesIn } from "../secrets.ts";
import type { Tool } from "../tool.ts";

/** What is asked beside the document: nothing, the tool's own policy, or that of an undo. */
export type Beside = "nothing" | "policy" | "undo";

const isGeneral = ({ rule = "" }: Verdict): boolean =>
  rule === "default" || rule.startsWith("limit:") || rule.startsWith("tools:");

/** Risk and rules on trial are the document's, whoever is the stricter. */
function remarksOf({ risk, shadow }: Verdict): Pick<Verdict, "risk" | "shadow"> {
  return { ...(risk === undefined ? {} : { risk }), ...(shadow === undefined ? {} : { shadow }) };
}

/** A document makes no handles: in its revisions are those of the action. */
function judged(document: CompiledPolicy, input: PolicyInput): Verdict {
  const said = document.judge(input);
  return said.verdict === "revise" ? checkRevision(said, handlesIn(input.args)) : said;
}

function judgeBoth(beside: Beside, own: ToolRules, document: CompiledPolicy) {
  return (input: PolicyInput): Verdict => {
    const said = judged(document, input);
    if (beside === "undo" && isGeneral(said)) return own.policy(input);
    return { ...stricter(said, own.policy(input)), ...remarksOf(said) };
  };
}

/** Read when the rules are copied, once for each move of an action: a review uses one version from beginning to end. */
export function underPolicy(tool: Tool, beside: Beside, current: () => CompiledPolicy): Tool {
  const { rules } = tool;
  const alone: ToolRules = {
    ...rules,
    get policyDigest() {
      return current().digest;
    },
    get policy() {
      const document = current();
      return (input: PolicyInput) => judged(document, input);
    },
  };
  const together: ToolRules = {
    ...rules,
    get policyDigest() {
      return digestOf([rules.policyDigest, current().digest]);
    },
    get documentDigest() {
      return current().digest;
    },
    get policy() {
      return judgeBoth(beside, rules, current());
    },
  };
  return { ...tool, isUndecided: false, rules: beside === "nothing" ? alone : together };
}
