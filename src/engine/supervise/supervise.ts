/** `hp.supervise`: a model works on a goal through gated tools, in a workflow of its own. */
import { HoldpointError } from "../../core/errors.ts";
import { toolCallLimit } from "../../core/supervise/limits.ts";
import type { RunEnd, SuperviseResult } from "../../core/supervise/result.ts";
import { actionOf, type Step, stopAt } from "../../core/supervise/rows.ts";
import type { FailureCode } from "../../core/workflow/events.ts";
import type { Model } from "../../models/model.ts";
import type { Policy } from "../define-tool.ts";
import type { Gates } from "../gate.ts";
import type { Runtime } from "../runtime.ts";
import { defineWorkflow } from "../workflow/define-workflow.ts";
import type { Definition, WorkflowContext, WorkflowResult } from "../workflow/definition.ts";
import { type Definitions, startWorkflow } from "../workflow/workflows.ts";
import { superviseLoop, type Worker } from "./loop.ts";
import { inputOf, type ModelChoice, type SuperviseInput, type SuperviseOptions } from "./options.ts";
import { type RunRecord, readRun } from "./read-run.ts";
import { toolsOf } from "./tools.ts";

export type Desk = {
  readonly definitions: Definitions;
  readonly gates: Gates;
  /** Makes a model of whatever was given as one. */
  readonly openModel: (given: ModelChoice) => Promise<Model>;
};

/** Definitions that came from here: a name that is a workflow's of the program's own is not taken over. */
const ours = new WeakSet<Definition>();

function define(desk: Desk, worker: Worker, options: SuperviseOptions, input: SuperviseInput): Definition {
  const { known } = desk.definitions;
  const { name = "supervise", policy } = options;
  const body = (ctx: WorkflowContext, given: unknown) =>
    superviseLoop({ worker, ctx, input: given as SuperviseInput });
  const made = defineWorkflow(name, policy === undefined ? {} : { policy }, body, known);
  const limits = toolCallLimit(input.limits.toolCalls) as unknown as Policy<never>;
  const definition: Definition = { ...made, limits, isOfOneRun: true };
  const before = known.get(definition.name);
  if (before !== undefined && !ours.has(before))
    throw new HoldpointError("tool_conflict", `There is a workflow "${definition.name}" already.`, {
      next: "Give the supervised run a name of its own.",
    });
  ours.add(definition);
  known.set(definition.name, definition);
  return definition;
}

const FAILED = {
  error: "error",
  rejected: "human_rejected",
  expired: "human_expired",
  cancelled: "cancelled",
  rollback_failed: "rolled_back",
  rolled_back: "rolled_back",
} as const satisfies Record<FailureCode, RunEnd["stop_reason"]>;

function endOf(ended: WorkflowResult<unknown>): RunEnd {
  if (ended.status === "completed") return ended.result as RunEnd;
  return { status: "stopped", stop_reason: FAILED[ended.code] };
}

/** What the last turn was about, where the run stopped at it: as it was proposed, or as it would have run. */
function lastOf(end: RunEnd, last: Step | undefined): Pick<SuperviseResult, "raw_action" | "action"> {
  if (last === undefined || end.status === "ok" || stopAt(last)?.stop_reason !== end.stop_reason) return {};
  if (last.turn.kind === "invalid") return { raw_action: last.turn.raw };
  const isLate = end.phase === "execution" && last.call !== null;
  return { action: isLate ? actionOf(last.call.tool, last.call.args) : last.turn.proposal };
}

function resultOf(id: string, end: RunEnd, record: RunRecord): SuperviseResult {
  const { status, stop_reason, phase, answer } = end;
  const { trace, history, tokens, steps } = record;
  return {
    status,
    stop_reason,
    ...(phase === undefined ? {} : { phase }),
    ...(answer === undefined ? {} : { answer }),
    ...lastOf(end, steps.at(-1)),
    trace,
    history,
    workflow: id,
    tokens,
  };
}

async function workerOf(desk: Desk, runtime: Runtime, options: SuperviseOptions): Promise<Worker> {
  const { system, finalSystem, maxOutputTokens, agent } = options;
  const model = await desk.openModel(options.model);
  const tools = toolsOf(desk.gates, options.tools, options.policy !== undefined);
  return { runtime, model, tools, system, finalSystem, maxOutputTokens, agent };
}

export async function supervise(desk: Desk, options: SuperviseOptions): Promise<SuperviseResult> {
  const input = inputOf(options);
  const { runtime } = await desk.definitions.open();
  const worker = await workerOf(desk, runtime, options);
  const definition = define(desk, worker, options, input);
  const { id: requestId, notify } = options;
  const handle = await startWorkflow(desk.definitions, definition, input, {
    ...(requestId === undefined ? {} : { requestId }),
    ...(notify === undefined ? {} : { notify }),
  });
  const ended = await handle.result();
  return resultOf(handle.id, endOf(ended), await readRun(runtime, handle.id));
}
