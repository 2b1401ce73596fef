import type { UndoSeen } from "../../approvals/state.ts";

/** The place of an action in a workflow. */
export type Within = {
  readonly workflow: string;
  /** The operation: `workflow/generation/branch/name#occurrence`. */
  readonly op: string;
  /** The action that this one undoes, for a compensation. */
  readonly undoes: string | null;
  /** The workflow goes on while the effect is in doubt. */
  readonly goesOn: boolean;
  /** Of a compensation that its agent had named: whether people agreed to it. */
  readonly declared?: UndoSeen;
};

/** A call, or what an agent named to take one back: a call of its choice. What a tool declares for that is none. */
export const isOwnCall = (within: Within | undefined): boolean =>
  within !== undefined && (within.undoes === null || within.declared !== undefined);

/**
 * A call is named by its tool; a step has a name of its own, and a tool of that workflow's alone. What is registered under
 * the same name is another.
 */
export function isStep(op: string, tool: string): boolean {
  return !op.includes(`/${tool.replace(/\.undo$/, "")}#`);
}
