/** How many snapshots of a workflow were captured, checkpoints asked, and decisions made. */
export type CheckpointTally = {
  readonly snapshots: number;
  readonly questions: number;
  readonly decisions: number;
};

export const NOTHING_YET: CheckpointTally = { snapshots: 0, questions: 0, decisions: 0 };

/** After an entry of that type. */
export function counted(tally: CheckpointTally, type: string): CheckpointTally {
  const { snapshots, questions, decisions } = tally;
  switch (type) {
    case "checkpoint.reached":
    case "checkpoint.raised":
      return { ...tally, snapshots: snapshots + 1, questions: questions + 1 };
    case "checkpoint.passed":
      return { ...tally, snapshots: snapshots + 1 };
    case "checkpoint.decided":
      return { ...tally, decisions: decisions + 1 };
    default:
      return tally;
  }
}
