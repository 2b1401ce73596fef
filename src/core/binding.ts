/** What a grant permits, as one digest. Change any of it and the grant no longer fits. */
import { canonicalJson } from "./canonical-json.ts";
import { sha256 } from "./digest.ts";
import type { Stage } from "./stages.ts";
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
  /** Only of an approval that has several. */
  readonly stages?: readonly Stage[];
  /** Only of one that does not just expire. */
  readonly onTimeout?: string;
  readonly requester: readonly string[];
  /** Only of an approval in which separation of duties leaves somebody out. */
  readonly apart?: readonly string[];
  readonly decideBy: number | null;
  readonly executeBy: number | null;
  readonly nonce: string;
  /** The standing grant that permits it, if one does. */
  readonly grant?: string;
  /** Digest of what the tool showed of it; absent where it shows nothing. */
  readonly preview?: string;
  /** Digest of how its agent says that it would take it back; absent where it says nothing. */
  readonly undo?: string;
};

/** RFC 8785 JSON of the facts and `"v":1`, its keys in the order that asks for. */
function bindingText(facts: BindingFacts): string {
  const { action, approvers, args, decideBy, effectClass, executeBy } = facts;
  const { grant, nonce, onTimeout, policy, preview, requester, schema, stages, stream, tenant, tool } = facts;
  const text = canonicalJson;
  const apart = facts.apart === undefined ? "" : `"apart":${text(facts.apart)},`;
  const standing = grant === undefined ? "" : `"grant":${text(grant)},`;
  const late = onTimeout === undefined ? "" : `"onTimeout":${text(onTimeout)},`;
  const shown = preview === undefined ? "" : `"preview":${text(preview)},`;
  const back = facts.undo === undefined ? "" : `"undo":${text(facts.undo)},`;
  const staged = stages === undefined ? "" : `"stages":${text(stages)},`;
  return (
    `{"action":${text(action)},${apart}"approvers":${text(approvers)},"args":${text(args)},"decideBy":${text(decideBy)},` +
    `"effectClass":${text(effectClass)},"executeBy":${text(executeBy)},${standing}"nonce":${text(nonce)},` +
    `${late}"policy":${text(policy)},${shown}"requester":${text(requester)},"schema":${text(schema)},${staged}"stream":${text(stream)},` +
    `"tenant":${text(tenant)},"tool":${text(tool)},${back}"v":1}`
  );
}

export function bindingOf(facts: BindingFacts): string {
  return sha256(bindingText(facts));
}
