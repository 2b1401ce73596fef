/** What a workflow's state keeps of having been asked for by its name. */
import { HoldpointError } from "../../kernel/errors.ts";
import type { WorkflowEvent } from "./events.ts";

export type KeepsRequest = {
  /** By whom, the digest of what it was asked for with, and whether its definition has said the rest. */
  readonly requested?: { readonly by: string; readonly given: string; readonly isDefined: boolean };
};

/** undefined: the event is none of these. */
export function withRequest<State extends KeepsRequest>(
  state: State,
  event: WorkflowEvent,
): State | undefined {
  if (event.type === "workflow.requested") {
    const { by, given } = event.body;
    return { ...state, requested: { by, given, isDefined: false } };
  }
  if (event.type !== "workflow.defined") return undefined;
  const { requested } = state;
  if (requested === undefined || requested.isDefined)
    throw new HoldpointError("broken_rule", "A workflow was defined that does not wait for its definition.");
  return { ...state, ...event.body, requested: { ...requested, isDefined: true } };
}
