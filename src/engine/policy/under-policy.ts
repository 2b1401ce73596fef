/**
 * A tool under a policy document.
 *
 * G1. Where the tool has a policy of its own both are asked, and the stricter answer counts. Where both ask people, so does
 *     the document first.
 * G2. A compensation is blocked or asked about only by a rule that speaks of it: what nobody thought of when the policy
 *     was written can still be taken back. A rule or a condition of risk that was not written for it and asks for arguments
 *     that it does not have does not apply to it.
 */

import type { CompiledPolicy } from "../../core/policy/compile.ts";
import { type Asked, UNDO_NOT_NAMED } from "../../core/policy/tool-pattern.ts";
import { inTheNameOf, remarking } from "../../core/remarks.ts";
import { stricter } from "../../core/stricter.ts";
import type { ToolRules } from "../../core/tool-rules.ts";
import type { PolicyInput, Verdict } from "../../core/verdict.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import { handlesIn } from "../../runtime/secrets.ts";
import { checkRevision } from "../define-tool.ts";
import type { Tool } from "../tool.ts";
import { inFront } from "./in-front.ts";

/** What is asked beside the document: nothing, the tool's own policy, or that of an undo. */
export type Beside = "nothing" | "policy" | "undo";

/** A document makes no handles: in its revisions are those of the action. */
function judged(document: CompiledPolicy, input: PolicyInput, asked: Asked): Verdict {
  const said = inTheNameOf(document.digest, document.judge(input, asked));
  return said.verdict === "revise" ? checkRevision(said, handlesIn(input.args)) : said;
}

function judgeBoth(beside: Beside, own: ToolRules["policy"], document: CompiledPolicy) {
  return (input: PolicyInput): Verdict => {
    const said = judged(document, input, beside === "undo" ? "undo" : "call");
    if (beside === "nothing") return said;
    const other = own(input);
    return said.rule === UNDO_NOT_NAMED ? remarking(other, said) : stricter(said, other);
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
