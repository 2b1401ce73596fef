/**
 * Puts a tool under a policy document.
 * - If the tool has its own policy, both are evaluated, the document first, and the stricter verdict applies.
 * - Only a rule that matches a compensation blocks or escalates it. A rule or risk condition that was not written for
 *   the compensation, and that reads arguments which it lacks, does not apply.
 * - Digest, documents and verdict are read once per move of an action, so a review uses one version of each policy even
 *   if another is put in force meanwhile. Getters are kept: a plain copy would go stale when the file changes.
 */

import { checkRevision } from "../effects/define-tool.ts";
import type { Tool } from "../effects/tool.ts";

import { digestOf } from "../kernel/canonical-json.ts";
import { handlesIn } from "../runtime/secrets.ts";
import { attributeNotes, stricterVerdict, withNotesOf } from "./rules/combine-verdicts.ts";
import type { CompiledPolicy } from "./rules/compile.ts";
import type { ToolRules } from "./rules/tool-rules.ts";
import { type CallKind, UNDO_NOT_NAMED } from "./rules/tools.ts";
import type { PolicyInput, Verdict } from "./rules/verdict.ts";

export function replaceRules(rules: ToolRules, others: Partial<ToolRules>): ToolRules {
  const parts = { ...Object.getOwnPropertyDescriptors(rules), ...Object.getOwnPropertyDescriptors(others) };
  return Object.defineProperties({}, parts) as ToolRules;
}

type PolicyOverlay = {
  readonly digest: (own: string) => string;
  /** Digests of the policy documents that are evaluated. Default: the tool's own. */
  readonly documents?: (own: readonly string[]) => readonly string[];
  readonly policy: (own: ToolRules["policy"]) => ToolRules["policy"];
};

export function overlayPolicy(rules: ToolRules, over: PolicyOverlay): ToolRules {
  return replaceRules(rules, {
    get policyDigest() {
      return over.digest(rules.policyDigest);
    },
    get documents() {
      const { documents = [] } = rules;
      return over.documents?.(documents) ?? documents;
    },
    get policy() {
      return over.policy(rules.policy);
    },
  });
}

/** Evaluated in addition to the document: nothing, the tool's own policy, or the policy of an undo. */
export type OwnPolicy = "nothing" | "policy" | "undo";

/** A document cannot create handles: its revisions may contain only handles of the action. */
function judgeDocument(document: CompiledPolicy, input: PolicyInput, asked: CallKind): Verdict {
  const said = attributeNotes(document.digest, document.judge(input, asked));
  return said.verdict === "revise" ? checkRevision(said, handlesIn(input.args)) : said;
}

function judgeBoth(beside: OwnPolicy, own: ToolRules["policy"], document: CompiledPolicy) {
  return (input: PolicyInput): Verdict => {
    const said = judgeDocument(document, input, beside === "undo" ? "undo" : "call");
    if (beside === "nothing") return said;
    const other = own(input);
    return said.rule === UNDO_NOT_NAMED ? withNotesOf(other, said) : stricterVerdict(said, other);
  };
}

export function applyPolicy(tool: Tool, beside: OwnPolicy, current: () => CompiledPolicy): Tool {
  const rules = overlayPolicy(tool.rules, {
    digest: (own) => (beside === "nothing" ? current().digest : digestOf([own, current().digest])),
    documents: (own) => [...new Set([...own, current().digest])],
    policy: (own) => judgeBoth(beside, own, current()),
  });
  return { ...tool, isUndecided: false, rules };
}
