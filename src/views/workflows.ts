/** Workflows as people list them, and as processes look for work. */

import { bucketOf } from "../core/workflow/runs-bucket.ts";
import type { LiveWorkflow, WorkflowState } from "../core/workflow/state.ts";
import type { JsonObject } from "../kernel/json.ts";

/** What the rows are made of, beside what never changes. Most facts of a workflow touch none of it. */
const SHOWN = ["status", "generation", "pending", "lastDecision", "passed", "end"] as const;
const RUN = ["status", "runner", "isReady", "wakeAt", "waits", "end", "closing"] as const;

function agree(
  before: WorkflowState,
  after: WorkflowState,
  fields: readonly (keyof LiveWorkflow)[],
): boolean {
  if (before.status === "none" || after.status === "none") return false;
  return fields.every((field) => before[field] === after[field]);
}

/** What it is held by: names of streams, each once. */
const heldBy = ({ waits }: LiveWorkflow): readonly string[] => [
  ...new Set(waits.flatMap(({ kind, on }) => (kind === "held" ? on : []))),
];

/** How the definitions that were tried differ from what is recorded. */
const stuckOn = ({ waits }: LiveWorkflow): string | null =>
  waits.find(({ kind }) => kind === "definition")?.on ?? null;

const isHeldAlike = (before: WorkflowState, after: WorkflowState): boolean =>
  before.status !== "none" &&
  after.status !== "none" &&
  stuckOn(before) === stuckOn(after) &&
  heldBy(before).join("\n") === heldBy(after).join("\n");

function summary(state: LiveWorkflow): JsonObject {
  const { name, status, agent, generation, pending, lastDecision, passed, end } = state;
  return {
    name,
    status,
    agent,
    attempt: generation,
    checkpoint: pending?.name ?? null,
    approval: pending?.approval ?? null,
    held: heldBy(state),
    stuck: stuckOn(state),
    passed: passed.length,
    checkpoints: state.checkpoints.length,
    lastDecision: lastDecision === null ? null : lastDecision.decision,
    createdAt: state.createdAt,
    endedAt: end?.at ?? null,
    reason: end?.status === "failed" ? end.reason : null,
  };
}

export const workflowsView = {
  view: "workflows",
  kind: "workflow",
  version: 3,
  oldest: 2,
  row(_id: string, state: WorkflowState) {
    if (state.status === "none") return undefined;
    return { bucket: state.status, at: state.createdAt, due: null, data: summary(state) };
  },
  isSame: (before: WorkflowState, after: WorkflowState) =>
    agree(before, after, SHOWN) && isHeldAlike(before, after),
} as const;

/**
 * Where a run stands: `ready` to be taken, `running` in a process, `asleep` until something moves, `held` by a switch or a
 * budget, `stuck` on a definition.
 * All but the second with the definition's name: whoever does not have it never comes across it. One that has failed is
 * `closing` until what it had begun is withdrawn, for which nobody needs its definition.
 */
function runOf(state: LiveWorkflow): {
  readonly bucket: string;
  readonly due: number | null;
  readonly data: JsonObject;
} {
  const { name, runner, isOfOneRun, version } = state;
  const own = isOfOneRun === true ? { isOfOneRun } : {};
  const data = { name, ...own, ...(version === null ? {} : { version }) };
  if (runner !== null) return { bucket: "running", due: null, data: { ...data, epoch: runner } };
  if (state.isReady) return { bucket: bucketOf("ready", state), due: null, data };
  if (state.waits.some(({ kind }) => kind === "definition"))
    return { bucket: bucketOf("stuck", state), due: null, data };
  // What ends while a checkpoint waits is looked at afterwards.
  if (state.status === "awaiting_approval") return { bucket: bucketOf("asleep", state), due: null, data };
  const held = heldBy(state);
  return held.length > 0
    ? { bucket: bucketOf("held", state), due: state.wakeAt, data: { ...data, held } }
    : { bucket: bucketOf("asleep", state), due: state.wakeAt, data };
}

/** What an agent drives is no process's work, but for the end of a rollback. */
function outsideRow({ status, name, createdAt }: LiveWorkflow) {
  if (status !== "rolling_back") return undefined;
  return { bucket: "outside", due: null, data: { name }, at: createdAt };
}

export const runsView = {
  view: "runs",
  kind: "workflow",
  version: 7,
  oldest: 6,
  row(_id: string, state: WorkflowState) {
    if (state.status === "none") return undefined;
    if (state.closing)
      return { bucket: "closing", due: null, data: { name: state.name }, at: state.createdAt };
    if (state.end !== null) return undefined;
    if (state.isOutside === true) return outsideRow(state);
    return { ...runOf(state), at: state.createdAt };
  },
  isSame: (before: WorkflowState, after: WorkflowState) => agree(before, after, RUN),
} as const;
