/** The place of an action in a workflow. */
export type Within = {
  readonly workflow: string;
  /** The operation: `workflow/generation/branch/name#occurrence`. */
  readonly op: string;
  /** The action that this one undoes, for a compensation. */
  readonly undoes: string | null;
  /** The workflow goes on while the effect is in doubt. */
  readonly goesOn: boolean;
};
