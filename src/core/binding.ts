/** What a grant permits, as one digest. Change any of it and the grant no longer fits. */
import { digestOf } from "./digest.ts";
import type { ApproverRule } from "./verdict.ts";

export type BindingFacts = {
  readonly tenant: string;
  readonly stream: string;
  readonly action: string;
  readonly tool: string;
  readonly schema: string;
  /** SHA-256 over RFC 8785 JSON of the arguments. */
  readonly args: string;
  readonly effectClass: string;
  readonly policy: string;
  /** null for a grant that the policy gave by itself. */
  readonly approvers: ApproverRule | null;
  readonly requester: readonly string[];
  readonly decideBy: number | null;
  readonly executeBy: number | null;
  readonly nonce: string;
};

export function bindingOf(facts: BindingFacts): string {
  return digestOf({ v: 1, ...facts });
}
