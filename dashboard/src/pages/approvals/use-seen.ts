/**
 * What whoever sits here has looked at.
 *
 * V1. A decision is on what was looked at: when that has changed meanwhile, nothing is decided before it was looked at again.
 */
import { useState } from "react";
import type { Approval } from "../../api/approvals.ts";

export type Seen = {
  readonly before: Approval;
  readonly isChanged: boolean;
  readonly accept: (approval: Approval) => void;
};

export function useSeen(approval: Approval): Seen {
  const [before, accept] = useState(approval);
  const isChanged = approval.status === "pending" && before.binding !== approval.binding;
  return { before, isChanged, accept };
}
