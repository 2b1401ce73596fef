/** `hp.supervise`: a model works on a goal through gated tools, inside its own workflow. */

import type { Policy } from "../effects/define-tool.ts";
import type { Gates } from "../effects/gate.ts";
import { digestOf } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { findWorkflows } from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { defineWorkflow } from "../workflows/define.ts";
import type { Definition, Limits, WorkflowContext, WorkflowResult } from "../workflows/definition.ts";
import type { FailureCode } from "../workflows/events.ts";
import { type Definitions, startWorkflow } from "../workflows/start.ts";
import { type SuperviseRun, type SuperviseWorker, superviseLoop } from "./loop.ts";
import type { Model } from "./models/model.ts";
import {
  checkSuperviseOptions,
  type DocumentLimits,
  isPolicyDocument,
  type ModelChoice,
  type OpenPolicyDocument,
  openPolicyDocument,
  type SuperviseInput,
  type SuperviseOptions,
  superviseInput,
  tightestLimits,
} from "./options.ts";
import { type RunRecord, readInput, readRun } from "./read-run.ts";
import { type RunLimits, runGuard } from "./rules/limits.ts";
import { proposalOfCall, type RunStep, stopAtStep, traceWithStop } from "./rules/trace.ts";
import type { RunEnd, SuperviseResult } from "./rules/turn.ts";
import { openRunTools } from "./tools.ts";

type SuperviseContext = {
  readonly definitions: Definitions;
  readonly gates: Gates;
  /** Turns the `model` option into a model that can be called. */
  readonly openModel: (given: ModelChoice) => Promise<Model>;
};

type RunPolicy = Partial<OpenPolicyDocument> & {
  readonly policy?: Policy<never>;
  /** The program set `limits.toolCalls` itself. */
  readonly setsCalls?: boolean;
};

async function openRunPolicy(
  { gates }: SuperviseContext,
  worker: SuperviseWorker,
  { policy }: SuperviseOptions,
): Promise<RunPolicy> {
  if (policy === undefined) return {};
  const { runtime, tools } = worker;
  return isPolicyDocument(policy)
    ? openPolicyDocument(gates, runtime, policy, tools.own.values())
    : { policy };
}

/** If a policy document counts the calls of a tool, the document's numbers apply. */
function limitsOf(
  { gates }: SuperviseContext,
  { document, setsCalls }: RunPolicy,
  limits: RunLimits,
): Limits {
  const { toolCalls, tools = {} } = limits;
  return {
    digest: digestOf({ toolCalls, tools: { ...tools } }),
    guard() {
      const documents = [document?.(), gates.policy?.current()];
      const isUsual = setsCalls !== true && documents.every((one) => one?.limits.toolCalls === undefined);
      return runGuard({ toolCalls, tools, isUsual }, (tool) =>
        documents.some((one) => one?.countsCalls(tool) === true),
      );
    },
  };
}

/** Applies only to its own run, in the process that requested it. It cannot be looked up by name. */
function define(
  desk: SuperviseContext,
  name: string,
  decided: RunPolicy,
  run: Pick<SuperviseRun, "worker" | "input">,
): Definition {
  const { known } = desk.definitions;
  const { worker, input } = run;
  const body = (ctx: WorkflowContext, given: unknown) =>
    superviseLoop({ worker, ctx, input: given as SuperviseInput });
  const { policy, document } = decided;
  const made = defineWorkflow(name, policy === undefined ? {} : { policy }, body, known);
  const definition: Definition = {
    ...made,
    ...(document === undefined ? {} : { document }),
    limits: limitsOf(desk, decided, input.limits),
    givesUpHeld: input.onHeld === "stop",
    isOfOneRun: true,
    tools: worker.tools.own,
    ...(worker.agent === undefined ? {} : { agent: worker.agent }),
  };
  if (known.has(definition.name))
    throw new HoldpointError("tool_conflict", `There is a workflow "${definition.name}" already.`, {
      next: "Give the supervised run a name of its own.",
    });
  return definition;
}

/** An existing run continues under the limits that it was started with, except those that `options.limits` sets. */
async function inputFor(
  runtime: Runtime,
  options: SuperviseOptions,
  documents: readonly DocumentLimits[],
): Promise<SuperviseInput> {
  const input = superviseInput(options, tightestLimits(documents));
  const isNamed = options.id !== undefined && !options.id.startsWith("wf_");
  const [id] = isNamed ? await findWorkflows(runtime, options.id) : [];
  if (id === undefined) return input;
  const { limits } = await readInput(runtime, id);
  const kept = Object.entries(limits ?? {}).filter(([field]) => !Object.hasOwn(options.limits ?? {}, field));
  return { ...input, limits: { ...input.limits, ...Object.fromEntries(kept) } };
}

/** Stop reasons of the whole run. None expires: only a monitor raises checkpoints here, without a deadline. */
const FAILED = {
  error: "error",
  // Only for workflows started by name, which a supervised run never is.
  invalid_args: "error",
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

/** The action of the last turn if the run stopped at it: as proposed, or as it would have been executed. */
function lastOf(end: RunEnd, last: RunStep | undefined): Pick<SuperviseResult, "raw_action" | "action"> {
  if (last === undefined || end.status === "ok" || stopAtStep(last)?.stop_reason !== end.stop_reason)
    return {};
  if (last.turn.kind === "invalid") return { raw_action: last.turn.raw };
  const isLate = end.phase === "execution" && last.call !== null;
  return { action: isLate ? proposalOfCall(last.call.tool, last.call.args) : last.turn.proposal };
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
    trace: traceWithStop(end, trace),
    history,
    workflow: id,
    tokens,
  };
}

async function workerOf(
  desk: SuperviseContext,
  runtime: Runtime,
  options: SuperviseOptions,
): Promise<SuperviseWorker> {
  const { system, finalSystem, maxOutputTokens, agent } = options;
  const model = await desk.openModel(options.model);
  const tools = openRunTools(desk.gates, options.tools);
  return { runtime, model, tools, system, finalSystem, maxOutputTokens, agent };
}

async function superviseWith(
  desk: SuperviseContext,
  worker: SuperviseWorker,
  options: SuperviseOptions,
): Promise<SuperviseResult> {
  const { runtime } = worker;
  const setsCalls = options.limits?.toolCalls !== undefined;
  const decided = { ...(await openRunPolicy(desk, worker, options)), setsCalls };
  try {
    return await superviseUnder(desk, worker, options, decided);
  } finally {
    // The run already has its result, so a failure to record that its version is out of force is only reported.
    await decided.giveBack?.().catch((error) => runtime.notify({ kind: "maintenance_failed", error }));
  }
}

async function superviseUnder(
  desk: SuperviseContext,
  worker: SuperviseWorker,
  options: SuperviseOptions,
  decided: RunPolicy,
): Promise<SuperviseResult> {
  const { runtime } = worker;
  const documents = [decided.document?.().limits ?? {}, desk.gates.policy?.current().limits ?? {}];
  const input = await inputFor(runtime, options, documents);
  const definition = define(desk, options.name ?? "supervise", decided, { worker, input });
  const { id: requestId, notify } = options;
  const handle = await startWorkflow(desk.definitions, definition, input, {
    ...(requestId === undefined ? {} : { requestId }),
    ...(notify === undefined ? {} : { notify }),
  });
  const ended = await handle.result();
  return resultOf(handle.id, endOf(ended), await readRun(runtime, handle.id));
}

export async function supervise(desk: SuperviseContext, options: SuperviseOptions): Promise<SuperviseResult> {
  checkSuperviseOptions(options);
  const { runtime } = await desk.definitions.open();
  const worker = await workerOf(desk, runtime, options);
  try {
    return await superviseWith(desk, worker, options);
  } finally {
    worker.tools.giveBack();
  }
}
