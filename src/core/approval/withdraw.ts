/** Takes back a question that nobody has answered; one whose time is over has expired instead. */
import type { Draft } from "../draft.ts";
import { approvalStream } from "../stream.ts";
import { passTime } from "./deadline.ts";

/** The caller has locked the approval. */
export function withdrawApproval(
  draft: Draft,
  id: string,
  { by, reason }: { readonly by: string; readonly reason: string },
): void {
  const ref = approvalStream(id);
  if (draft.state(ref).status !== "pending" || passTime(draft, id).status !== "pending") return;
  draft.append(ref, [{ type: "approval.cancelled", tv: 1, body: { by, reason } }]);
}
