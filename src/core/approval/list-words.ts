/** What a list of approvals can be asked for. */
import { APPROVAL_STATUSES } from "./state.ts";

/** `decided` is everything that is not pending. */
export const LISTED_STATUSES = [...APPROVAL_STATUSES, "decided", "any"] as const;
export type ListedStatus = (typeof LISTED_STATUSES)[number];

/**
 * By when it was asked, or: `deadline`, the soonest first, and last what has none; only of what is pending. `decided`, what was
 * decided last first; only of what is not.
 */
export const APPROVAL_ORDERS = ["oldest", "newest", "deadline", "decided"] as const;
export type ApprovalOrder = (typeof APPROVAL_ORDERS)[number];
