/** Takes back a question that nobody has answered; one whose time is over has expired instead. */
import type { Draft } from "../draft.ts";
import { approvalStream } from "../stream.ts";

/** The caller has locked the approval. */
export function withdrawApproval(
  draft: Draft,
  id: string,
  { by, reason }: { readonly by: string; readonly reason: string },
): void {
  const ref = approvalStream(id);
  const approval = draft.state(ref);
  if (approval.status !== "pending") return;
  const { decideBy } = approval;
  const event =
    decideBy !== null && draft.now >= decideBy
      ? { type: "approval.expired", tv: 1, body: { decideBy } }
      : { type: "approval.cancelled", tv: 1, body: { by, reason } };
  draft.append(ref, [event]);
}
