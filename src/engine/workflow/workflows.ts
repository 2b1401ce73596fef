/** What a program and its operators do with workflows: define, start, look, send back, fork, cancel. */

import { isBudgetName } from "../../budgets/stream.ts";
import { createWorkflow } from "../../core/workflow/create.ts";
import type { LiveWorkflow } from "../../core/workflow/state.ts";
import { plainJson } from "../../effects/arguments.ts";
import { refuseUnnamed } from "../../effects/call-context.ts";
import { HoldpointError, WORKFLOW_ID_HINT } from "../../kernel/errors.ts";
import { checkFields, checkSignal, isPlainObject, rejectInput } from "../../kernel/fields.ts";
import { isId } from "../../kernel/ids.ts";
import { workflowStream } from "../../kernel/stream.ts";
import { displayValue } from "../../kernel/text.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { loadValue, readState, runCommand } from "../../runtime/store-access.ts";

import { creationOf, termsOf, validInput } from "./create.ts";
import { bindDefinition, checkParties, defineWorkflow } from "./define-workflow.ts";
import type {
  Definition,
  RunOptions,
  Workflow,
  WorkflowBody,
  WorkflowHandle,
  WorkflowOptions,
  WorkflowResult,
} from "./definition.ts";
import type { Dispatcher } from "./dispatcher.ts";

/** A runtime with a desk that runs workflows. */
export type Bureau = { readonly runtime: Runtime; readonly dispatcher: Dispatcher };

export type Definitions = {
  readonly known: Map<string, Definition>;
  readonly open: () => Promise<Bureau>;
};

export async function workflowState(
  place: Pick<Runtime, "store" | "tenant">,
  id: string,
): Promise<LiveWorkflow> {
  const state = isId("wf", id) ? await readState(place, workflowStream(id)) : { status: "none" as const };
  if (state.status === "none")
    throw new HoldpointError("unknown_id", `There is no workflow ${displayValue(id)}.`, {
      next: WORKFLOW_ID_HINT,
    });
  return state;
}

async function resultOf(runtime: Runtime, id: string, state: LiveWorkflow): Promise<WorkflowResult<unknown>> {
  const { end } = state;
  if (end === null) throw new TypeError("a workflow that is not over has no result");
  if (end.status === "failed") {
    const { code, reason, by, report } = end;
    return { status: "failed", workflow: id, code, reason, by, report: structuredClone(report) };
  }
  const result = structuredClone(await loadValue(runtime, end.result));
  return { status: "completed", workflow: id, result };
}

/** Waits for its end, in this process or another. */
export async function awaitEnd(
  { runtime, dispatcher }: Bureau,
  id: string,
): Promise<WorkflowResult<unknown>> {
  // While it runs here there is no need to look at every step of it.
  await dispatcher.running(id);
  const watch = await runtime.waker.watch([workflowStream(id)]);
  try {
    for (;;) {
      if (runtime.closing.aborted)
        throw new HoldpointError("closed", "Holdpoint was closed while the workflow went on.");
      const state = await workflowState(runtime, id);
      if (state.end !== null) return await resultOf(runtime, id, state);
      await watch.moved(null);
      await dispatcher.running(id);
    }
  } finally {
    watch.close();
  }
}

const RUN_OPTIONS = ["requestId", "parties", "approvalRequired", "budget", "notify"];
const LATER: { readonly [field: string]: string } = {
  sandbox: "run untrusted code in a process of its own for now",
  trace: "the journal has every step; `holdpoint show` prints it",
  maxCostUsd: "give tools a cost, and run it with a budget",
};

function checkRunFields(options: RunOptions): void {
  const isLater = ([field]: readonly [string, string]) => isPlainObject(options) && field in options;
  const later = Object.entries(LATER).find(isLater);
  if (later !== undefined) rejectInput(`A workflow cannot be run with "${later[0]}" yet: ${later[1]}.`);
  checkFields("What a workflow is run with", options, RUN_OPTIONS);
}

export const SPAWN = "Give it a request id; or start it with ctx.spawn, which waits for its end.";

const isRequestId = (value: unknown): boolean =>
  typeof value === "string" && value !== "" && value.length <= 500 && value.isWellFormed();

const RUN_CHECKS: readonly (readonly [keyof RunOptions, (value: unknown) => boolean, string])[] = [
  ["requestId", isRequestId, "A request id is a text of 1 to 500 characters."],
  ["approvalRequired", (value) => typeof value === "boolean", "approvalRequired is true or false."],
  [
    "budget",
    isBudgetName,
    "A workflow is run with the name of a budget, one that hp.budgets.limit() has opened.",
  ],
  [
    "notify",
    (value) => typeof value === "function",
    "notify is a function; addresses such as slack:// are not there yet.",
  ],
];

export function checkRunOptions(options: RunOptions): void {
  checkRunFields(options);
  for (const [field, fits, text] of RUN_CHECKS)
    if (options[field] !== undefined && !fits(options[field])) rejectInput(text);
  checkParties("this run", options.parties);
}

export async function startWorkflow(
  definitions: Definitions,
  definition: Definition,
  given: unknown,
  options: RunOptions,
): Promise<WorkflowHandle<unknown>> {
  checkRunOptions(options);
  const next = definition.isOfOneRun === true ? "Give the supervised run an `id`." : SPAWN;
  refuseUnnamed(`The workflow "${definition.name}" was started`, options.requestId, next);
  const raw = plainJson(given);
  const input = validInput(definition, raw);
  const bureau = await definitions.open();
  const { runtime, dispatcher } = bureau;
  const { id: epoch } = await runtime.epoch();
  dispatcher.work();
  const { requestId = null, parties } = options;
  const terms = termsOf(options);
  const origin = { requestId, epoch, terms, ...(parties === undefined ? {} : { parties }) };
  const creation = { ...creationOf(runtime, definition, input, origin), given: raw };
  await runtime.reach("before_propose");
  const made = await runCommand(runtime, { write: [workflowStream(creation.workflow)] }, (draft) =>
    createWorkflow(draft, creation),
  );
  await runtime.reach("after_propose");
  if (made.kind === "conflict")
    throw new HoldpointError(
      "request_conflict",
      `The request id "${requestId}" names another workflow, ${made.workflow}.`,
      {
        details: { workflow: made.workflow },
        data: "Nothing was started.",
        next: "Use a new request id for a new workflow.",
      },
    );
  const id = made.workflow;
  const isFoundAgain = made.kind === "existing";
  dispatcher.run(id, definition, { listener: options.notify, isFoundAgain });
  return { id, result: () => awaitEnd(bureau, id) };
}

/** `(name, body)` or `(name, options, body)`. */
export function workflow<Input, Result>(
  definitions: Definitions,
  name: string,
  first: WorkflowOptions<Input> | WorkflowBody<Input, Result>,
  second?: WorkflowBody<Input, Result>,
): Workflow<Input, Result> {
  const [options, body] = second === undefined ? [{}, first] : [first, second];
  const definition = defineWorkflow(name, options as WorkflowOptions<never>, body, definitions.known);
  if (definitions.known.has(definition.name))
    throw new HoldpointError("tool_conflict", `There is a workflow "${definition.name}" already.`, {
      next: "Give each workflow its own name.",
    });
  definitions.known.set(definition.name, definition);
  const start = (input: Input, runOptions: RunOptions = {}) =>
    startWorkflow(definitions, definition, input, runOptions) as Promise<WorkflowHandle<Result>>;
  const handle = {
    workflowName: definition.name,
    start,
    run: async (input: Input, runOptions: RunOptions = {}) => (await start(input, runOptions)).result(),
  };
  return bindDefinition(handle, definition);
}

const DAY_MS = 86_400_000;

/** Keeps the process alive and its workflows going. */
export async function workUntil(definitions: Definitions, signal?: AbortSignal): Promise<void> {
  if (signal !== undefined) checkSignal(signal);
  const { runtime, dispatcher } = await definitions.open();
  await runtime.epoch();
  dispatcher.work();
  const over = signal === undefined ? runtime.closing : AbortSignal.any([signal, runtime.closing]);
  while (!over.aborted) await runtime.clock.sleep(DAY_MS, over);
}
