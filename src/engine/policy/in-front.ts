/**
 * The rules of a tool with something asked in front of its policy.
 *
 * F1. Read when the rules are copied, once for each move of an action: digest, documents and verdict of a review are of one
 *     version of each policy, whatever is put in force meanwhile.
 */
import type { ToolRules } from "../../core/tool-rules.ts";
import { withRules } from "./with-rules.ts";

export type InFront = {
  readonly digest: (own: string) => string;
  /** Digests of the policy documents that are asked; the tool's own unless set. */
  readonly documents?: (own: readonly string[]) => readonly string[];
  readonly policy: (own: ToolRules["policy"]) => ToolRules["policy"];
};

export function inFront(rules: ToolRules, over: InFront): ToolRules {
  return withRules(rules, {
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
