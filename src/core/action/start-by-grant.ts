/** Starts an effect that people would be asked about, by what a person had granted before. */

import type { Fitting } from "../../grants/rules.ts";
import type { EscalateReview } from "../approval/request.ts";
import { bindingOf } from "../binding.ts";
import { digestOf } from "../digest.ts";
import type { Draft, Need } from "../draft.ts";
import type { Json } from "../json.ts";
import { actionStream, streamName } from "../stream.ts";
import { undoBinding } from "./keep-undo.ts";
import type { Held, Refused } from "./refuse.ts";
import { type Executor, type Load, type Started, startEffect } from "./start.ts";
import type { LiveAction } from "./state.ts";

type Granted = { readonly review: EscalateReview; readonly fitting: Fitting };

/** The same facts as of an approval, with the grant in place of the time to decide. */
export function standingBinding(
  tenant: string,
  id: string,
  state: LiveAction,
  terms: {
    readonly policy: string;
    readonly approvers: EscalateReview["approvers"];
    readonly executeBy: number | null;
    readonly nonce: string;
    readonly grant: string;
  },
): string {
  const { tool, schema, effectClass, requester, argsDigest: args } = state;
  const stream = streamName(actionStream(id));
  const fixed = { tenant, stream, action: id, tool, schema, args, effectClass, requester, decideBy: null };
  return bindingOf({ ...fixed, ...undoBinding(state), ...terms });
}

/** The review has been recorded. */
export function startByGrant(
  draft: Draft,
  id: string,
  { review, fitting }: Granted,
  executor: Executor & { readonly args: Json },
): Need | Load | Started | Held | Refused {
  const state = draft.state(actionStream(id)) as LiveAction;
  if (digestOf(review.args) !== state.argsDigest)
    throw new TypeError("a grant was fitted to other arguments");
  const { nonce } = executor.ids;
  const { id: grant, owner, amount } = fitting;
  const executeBy = review.executeWithinMs === null ? null : draft.now + review.executeWithinMs;
  const binding = standingBinding(draft.tenant, id, state, {
    policy: executor.rules.policyDigest,
    approvers: review.approvers,
    executeBy,
    nonce,
    grant,
  });
  const permit = { kind: "standing", grant, by: [owner], amount, nonce } as const;
  return startEffect(draft, id, { ...executor, args: review.args }, { grant: permit, binding, executeBy });
}
