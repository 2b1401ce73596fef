/** Takes back what people are still asked on behalf of a workflow, where nobody waits for the answer any more. */
import { cancelAction } from "../../core/action/cancel.ts";
import { cancel as cancelApproval } from "../../core/approval/end.ts";
import { actionStream, approvalStream } from "../../core/stream.ts";
import { runCommand } from "../run-command.ts";
import type { Runtime } from "../runtime.ts";
import type { RecordedOp, RecordedUndo } from "./recorded.ts";

type Said = { readonly by: string; readonly reason: string };

/** Compensations that people have not agreed to yet. */
export async function withdrawUndos(
  runtime: Runtime,
  undos: readonly RecordedUndo[],
  { by, reason }: Said,
): Promise<void> {
  for (const { action, status } of undos)
    if (status === "open")
      await runCommand(runtime, { write: [actionStream(action)] }, (draft) =>
        cancelAction(draft, { action, by, reason }),
      );
}

export async function withdrawQuestions(
  runtime: Runtime,
  records: Iterable<RecordedOp>,
  { by, reason }: Said,
): Promise<void> {
  for (const { kind, body, settled } of records) {
    if (settled !== null) continue;
    const action = String(body["action"]);
    const approval = String(body["approval"]);
    if (kind === "call")
      await runCommand(runtime, { write: [actionStream(action)] }, (draft) =>
        cancelAction(draft, { action, by, reason }),
      );
    if (kind === "question")
      await runCommand(runtime, { write: [approvalStream(approval)] }, (draft) =>
        cancelApproval(draft, { approval, by, reason }),
      );
  }
}
