/** What entries mean to rules: which are calls, errors and operations, and when a workflow executes. */
import { type BadOutcome, rounded, type Sighting } from "./rules.ts";

const OPERATIONS: ReadonlySet<string> = new Set([
  "call.made",
  "step.completed",
  "step.failed",
  "operation.refused",
  "sleep.began",
  "child.spawned",
  "question.asked",
  "checkpoint.reached",
  "checkpoint.passed",
]);

export const isOperation = ({ type }: Sighting): boolean => OPERATIONS.has(type);

/** How something that was asked for ended; undefined: the entry ends nothing. A doubt that is resolved later was counted. */
export function outcomeOf({ type }: Sighting): BadOutcome | "good" | undefined {
  switch (type) {
    case "effect.applied":
    case "step.completed":
      return "good";
    case "effect.not_applied":
    case "step.failed":
      return "failed";
    case "action.refused":
      return "refused";
    case "effect.in_doubt":
      return "in_doubt";
    default:
      return undefined;
  }
}

export function isCounted(of: "calls" | "errors" | "escalations", sighting: Sighting): boolean {
  if (of === "calls") return sighting.type === "action.proposed";
  if (of === "escalations")
    return sighting.type === "action.reviewed" && sighting.body["verdict"] === "escalate";
  const outcome = outcomeOf(sighting);
  return outcome !== undefined && outcome !== "good";
}

const RESTS: ReadonlySet<string> = new Set([
  "workflow.suspended",
  "workflow.completed",
  "workflow.failed",
  "workflow.closed",
  "checkpoint.reached",
  "checkpoint.raised",
  "rollback.began",
]);
/** Said of a workflow that need not execute, by whoever looks at it. */
const ASIDE: ReadonlySet<string> = new Set([
  "workflow.created",
  "workflow.requested",
  "workflow.defined",
  "workflow.refused",
  "workflow.forked",
  "compensation.made",
  "compensation.settled",
]);

/**
 * Whether a workflow executes after an entry of its own; undefined: the entry says nothing of it. What is said of one that
 * waits or rolls back may be taken for a sign of life: whoever raises an alert looks at its state.
 */
export function executesAfter({ type, stream, body }: Sighting): boolean | undefined {
  if (!stream.startsWith("workflow/") || ASIDE.has(type)) return undefined;
  if (type === "checkpoint.decided")
    return body["decision"] === "approved" || body["decision"] === "modified";
  if (type === "rollback.ended") return body["after"] === "again";
  return !RESTS.has(type);
}

export const isOver = ({ type }: Sighting): boolean =>
  type === "workflow.completed" || type === "workflow.failed";

const UNITS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
] as const;

/** `90 s`, `2 min`: the largest unit that leaves at most two digits after the point. */
export function duration(ms: number): string {
  const [size, unit] = UNITS.find(([one]) => ms >= one && Number.isInteger((ms * 100) / one)) ?? [1, "ms"];
  return `${rounded(ms / size)} ${unit}`;
}
