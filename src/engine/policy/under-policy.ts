/**
 * A tool under a policy document.
 *
 * G1. Where the tool has a policy of its own both are asked, and the stricter answer counts. Where both ask people, so does
 *     the document first.
 * G2. A compensation is blocked or asked about only by a rule that speaks of it: what nobody thought of when the policy
 *     was written can still be taken back.
 */
import { digestOf } from "../../core/digest.ts";
import type { CompiledPolicy } from "../../core/policy/compile.ts";
import { inTheNameOf, remarking } from "../../core/remarks.ts";
import { stricter } from "../../core/stricter.ts";
import type { ToolRules } from "../../core/tool-rules.ts";
import type { PolicyInput, Verdict } from "../../core/verdict.ts";
import { checkRevision } from "../define-tool.ts";
import { handlesIn } from "../secrets.ts";
import type { Tool } from "../tool.ts";
import { inFront } from "./in-front.ts";

/** What is asked beside the document: nothing, the tool's own policy, or that of an undo. */
export type Beside = "nothing" | "policy" | "undo";

const isGeneral = ({ rule = "" }: Verdict): boolean =>
  rule === "default" || rule.startsWith("limit:") || rule.startsWith("tools:");

/** A document makes no handles: in its revisions are those of the action. */
function judged(document: CompiledPolicy, input: PolicyInput): Verdict {
  const said = inTheNameOf(document.digest, document.judge(input));
  return said.verdict === "revise" ? checkRevision(said, handlesIn(input.args)) : said;
}

function judgeBoth(beside: Beside, own: ToolRules["policy"], document: CompiledPolicy) {
  return (input: PolicyInput): Verdict => {
    const said = judged(document, input);
    if (beside === "nothing") return said;
    const other = own(input);
    return beside === "undo" && isGeneral(said) ? remarking(other, said) : stricter(said, other);
  };
}

export function underPolicy(tool: Tool, beside: Beside, current: () => CompiledPolicy): Tool {
  const rules = inFront(tool.rules, {
    digest: (own) => (beside === "nothing" ? current().digest : digestOf([own, current().digest])),
    documents: (own) => [...new Set([...own, current().digest])],
    policy: (own) => judgeBoth(beside, own, current()),
  });
  return { ...tool, isUndecided: false, rules };
}
