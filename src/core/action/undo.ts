/** What an agent says takes back what it performs itself: a call of another tool. `keep-undo.ts` has its rules. */
import type { Undo } from "../../approvals/state.ts";

export type UndoCall = Pick<Undo, "tool" | "args">;

/** Whether people agreed to it, for the arguments that ran. */
export type UndoSeen = "seen" | "unseen";
