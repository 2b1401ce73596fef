/** One page of a list of approvals. */
import type { ApprovalOrder, ListedStatus } from "../core/approval/list-words.ts";

export type Page = {
  /** `pending` unless set. */
  readonly status?: ListedStatus;
  readonly limit?: number;
  readonly after?: string;
  readonly order?: ApprovalOrder;
  /** Who looks: each item says whether it waits for them, as `isMine`. */
  readonly person?: string;
  /** Only what `person` may decide now, and has not. */
  readonly mine?: boolean;
  /** In the id, name, agent, the beginning of the arguments, or the reason; in any case of letters. */
  readonly text?: string;
  readonly about?: "action" | "checkpoint" | "question" | "intent";
  /** `agent:<name>`, or the name alone. */
  readonly agent?: string;
  /** Of the tool, checkpoint or question. */
  readonly name?: string;
};
