/** Asking for more before an approval is decided, and answering that. */
import { type CommentAnswer, comment } from "../core/approval/comment.ts";
import { shown } from "../core/error-text.ts";
import { HoldpointError } from "../core/errors.ts";
import { isPrincipal } from "../core/principal.ts";
import { refusalData } from "../core/refusals.ts";
import { approvalStream, ROSTER } from "../core/stream.ts";
import { checkVia, wordingOf } from "./approvals.ts";
import { runCommand } from "./run-command.ts";
import type { Runtime } from "./runtime.ts";
import { keptText } from "./secret-guesses.ts";

export type Remark = {
  /** Somebody who may decide it, or the agent that asked. */
  readonly by: string;
  readonly text: string;
  readonly via?: string;
};

function checkAnswer(id: string, answer: CommentAnswer): void {
  switch (answer.kind) {
    case "commented":
      return;
    case "comment_refused":
      throw new HoldpointError("not_eligible", `The comment on ${id} was refused: ${answer.reason}.`, {
        details: { approval: id, status: answer.status },
        data: refusalData("comment", answer.isRecorded, "the approval did not change"),
        next: "Have somebody comment who may decide it, or the agent that asked.",
      });
    case "not_possible":
      throw new HoldpointError("wrong_state", `The comment on ${id} was not taken: ${answer.reason}.`, {
        details: { status: answer.status },
      });
    case "unknown":
      throw new HoldpointError("unknown_id", `There is no approval ${shown(id)}.`);
  }
}

/** Kept with the approval and told to the others. It decides nothing. */
export async function commentApproval(runtime: Runtime, id: string, remark: Remark): Promise<void> {
  const { by, via } = remark;
  if (!isPrincipal(by))
    throw new HoldpointError("invalid_input", `"${shown(by)}" is not a principal: write person:<name>.`);
  const text = keptText(runtime, await wordingOf(runtime, id, { field: "comment", text: remark.text, by }));
  const command = { approval: id, by, text, via: checkVia(via) };
  const needs = { write: [approvalStream(id)], read: [ROSTER] };
  checkAnswer(id, await runCommand(runtime, needs, (draft) => comment(draft, command)));
}
