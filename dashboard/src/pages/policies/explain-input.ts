/** What is asked to be explained, as it is typed and as it is sent. */
import type { ExplainInput } from "./policy-queries.ts";

export type ExplainForm = {
  readonly of: "recorded" | "imagined";
  readonly action: string;
  readonly tool: string;
  readonly args: string;
  readonly agent: string;
  /** By the policy that is being tried out instead of those in force. */
  readonly byDraft: boolean;
};

export const BLANK: ExplainForm = {
  of: "recorded",
  action: "",
  tool: "",
  args: "{\n  \n}",
  agent: "",
  byDraft: false,
};

/** Why arguments cannot be sent, or undefined. */
export function argsFault(args: string): string | undefined {
  try {
    JSON.parse(args);
    return undefined;
  } catch (error) {
    return `This is not JSON yet: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function subjectOf({ of, action, tool, args, agent }: ExplainForm): ExplainInput | null {
  if (of === "recorded") return action.trim() === "" ? null : { action_id: action.trim() };
  if (tool.trim() === "" || argsFault(args) !== undefined) return null;
  const named = agent.trim() === "" ? {} : { agent: agent.trim() };
  return { action: { tool: tool.trim(), args: JSON.parse(args), ...named } };
}

/** Null while something is missing. */
export function inputOf(form: ExplainForm, draft: string): ExplainInput | null {
  const subject = subjectOf(form);
  if (subject === null || !form.byDraft) return subject;
  return draft.trim() === "" ? null : { ...subject, text: draft };
}
