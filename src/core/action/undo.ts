/** What an agent says takes back what it performs itself: a call of another tool. `keep-undo.ts` has its rules. */
import type { Json } from "../json.ts";

/** As it stands in a proposal and in a question; large arguments as a reference. */
export type Undo = { readonly tool: string; readonly args: Json; readonly argsDigest: string };

export type UndoCall = Pick<Undo, "tool" | "args">;

/** Whether people agreed to it, for the arguments that ran. */
export type UndoSeen = "seen" | "unseen";
