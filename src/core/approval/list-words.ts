/** What a list of approvals can be asked for. */
import { APPROVAL_STATUSES } from "./state.ts";

/** `decided` is everything that is not pending. */
export const LISTED_STATUSES = [...APPROVAL_STATUSES, "decided", "any"] as const;
export type ListedStatus = (typeof LISTED_STATUSES)[number];

/** `deadline`: the soonest first, and last what has none; only of what is pending. */
export const APPROVAL_ORDERS = ["oldest", "newest", "deadline"] as const;
export type ApprovalOrder = (typeof APPROVAL_ORDERS)[number];
