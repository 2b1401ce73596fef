/** The seven states of a workflow, in the order of its life, and what each means to whoever looks. */
import type { WorkflowStatus } from "../../api/workflows.ts";

export const STATES: readonly WorkflowStatus[] = [
  "initialized",
  "executing",
  "awaiting_approval",
  "rolling_back",
  "settling",
  "completed",
  "failed",
];

export const MEANINGS: { readonly [status in WorkflowStatus]: string } = {
  initialized: "It was created and nothing has begun yet.",
  executing: "It is at work, or waits for something that holds only part of it.",
  awaiting_approval: "It stands at a checkpoint, and nothing new begins until people have decided.",
  rolling_back: "What was done since a checkpoint is being taken back, newest first.",
  settling: "Everything is done; what is left is to write down how it ended.",
  completed: "It has ended as it was meant to.",
  failed: "It has ended before it was done.",
};

export const isOver = (status: WorkflowStatus): boolean => status === "completed" || status === "failed";
