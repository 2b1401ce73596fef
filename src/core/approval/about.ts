/** The stream of what an approval is about: it is locked together with it. */
import { actionStream, intentStream, type StreamRef, workflowStream } from "../stream.ts";
import type { ApprovalQuestion } from "./events.ts";

export function aboutOf({ subject, action }: Pick<ApprovalQuestion, "subject" | "action">): StreamRef {
  if (subject === undefined) return actionStream(action);
  return subject.kind === "intent" ? intentStream(action) : workflowStream(action);
}
