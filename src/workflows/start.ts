/**
 * Declaring and starting workflows in a program: checks options, starts a workflow here, awaits its end, and notifies
 * listeners of what a workflow waits for.
 * A program that finds its workflow again is notified again: it may have crashed before it passed the notice on.
 */

import { isBudgetName } from "../budgets/stream.ts";
import { plainJson } from "../effects/arguments.ts";
import { outsideFrames, refuseUnnamed } from "../effects/call-context.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { checkFields, checkSignal, isPlainObject, rejectInput } from "../kernel/fields.ts";
import { approvalStream, workflowStream } from "../kernel/stream.ts";
import { displayValue } from "../kernel/text.ts";
import type { Notice } from "../runtime/notices.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { loadValue, readState, runCommand } from "../runtime/store-access.ts";
import {
  bindDefinition,
  buildCreation,
  checkParties,
  defineWorkflow,
  pickRunTerms,
  validInput,
} from "./define.ts";
import type {
  Definition,
  RunOptions,
  Workflow,
  WorkflowBody,
  WorkflowHandle,
  WorkflowOptions,
  WorkflowResult,
} from "./definition.ts";
import { workflowState } from "./read.ts";
import { createWorkflow } from "./rules/create.ts";
import type { LiveWorkflow } from "./state.ts";

/** Notified of what one workflow waits for, in addition to the instance's own listener. */
type WorkflowListener = (notice: Notice) => unknown;

export type Dispatcher = {
  /** Runs this workflow here unless another process runs it. If it existed before, its notices are repeated. */
  run(
    id: string,
    definition: Definition,
    told: { readonly listener: WorkflowListener | undefined; readonly isFoundAgain: boolean },
  ): void;
  /** If it runs here: resolves when this process has let go of it. */
  running(id: string): Promise<void> | undefined;
  /** Runs it if there is work to do. */
  offer(id: string): void;
  /** Looks for work until closing. */
  work(): void;
  /** Takes no new work from now on; current runs continue. */
  rest(): void;
};

/** A runtime with a dispatcher that runs workflows. */
export type WorkflowHost = { readonly runtime: Runtime; readonly dispatcher: Dispatcher };

export type Definitions = {
  readonly known: Map<string, Definition>;
  readonly open: () => Promise<WorkflowHost>;
};

async function workflowResult(
  runtime: Runtime,
  id: string,
  state: LiveWorkflow,
): Promise<WorkflowResult<unknown>> {
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
  { runtime, dispatcher }: WorkflowHost,
  id: string,
): Promise<WorkflowResult<unknown>> {
  // While it runs here, do not wake up at each of its steps.
  await dispatcher.running(id);
  const watch = await runtime.waker.watch([workflowStream(id)]);
  try {
    for (;;) {
      if (runtime.closing.aborted)
        throw new HoldpointError("closed", "Holdpoint was closed while the workflow went on.");
      const state = await workflowState(runtime, id);
      if (state.end !== null) return await workflowResult(runtime, id, state);
      await watch.moved(null);
      await dispatcher.running(id);
    }
  } finally {
    watch.close();
  }
}

const RUN_OPTIONS = ["requestId", "parties", "approvalRequired", "budget", "notify"];
const FUTURE_OPTIONS: { readonly [field: string]: string } = {
  sandbox: "run untrusted code in a process of its own for now",
  trace: "the journal has every step; `holdpoint show` prints it",
  maxCostUsd: "give tools a cost, and run it with a budget",
};

function checkRunFields(options: RunOptions): void {
  const isLater = ([field]: readonly [string, string]) => isPlainObject(options) && field in options;
  const later = Object.entries(FUTURE_OPTIONS).find(isLater);
  if (later !== undefined) rejectInput(`A workflow cannot be run with "${later[0]}" yet: ${later[1]}.`);
  checkFields("What a workflow is run with", options, RUN_OPTIONS);
}

export const SPAWN_HINT = "Give it a request id; or start it with ctx.spawn, which waits for its end.";

const isRequestId = (value: unknown): boolean =>
  typeof value === "string" && value !== "" && value.length <= 500 && value.isWellFormed();

/** A kind of endpoint, and its name. */
const ADDRESS = /^[a-z]{1,20}:\/\/[^\n\r\t]{1,100}$/u;

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
    (value) => typeof value === "function" || (typeof value === "string" && ADDRESS.test(value)),
    "notify is a function, or the address of an endpoint, such as slack://prod.",
  ],
];

function checkRunOptions(options: RunOptions): void {
  checkRunFields(options);
  for (const [field, fits, text] of RUN_CHECKS)
    if (options[field] !== undefined && !fits(options[field])) rejectInput(text);
  checkParties("this run", options.parties);
}

/** The endpoint may be removed later: then its messages are dropped, and the run goes on. */
async function checkEndpoint({ store, tenant }: Runtime, { notify }: RunOptions): Promise<void> {
  if (typeof notify !== "string") return;
  const [found] = await store.query(tenant, { view: "endpoint_names", bucket: notify, limit: 1 });
  if (found !== undefined) return;
  throw new HoldpointError("unknown_id", `There is no endpoint ${displayValue(notify)}.`, {
    data: "Nothing was started.",
    next: "Add it with this name: `holdpoint endpoints add --url <address> --name <name>`.",
  });
}

export async function startWorkflow(
  definitions: Definitions,
  definition: Definition,
  given: unknown,
  options: RunOptions,
): Promise<WorkflowHandle<unknown>> {
  checkRunOptions(options);
  const next = definition.isOfOneRun === true ? "Give the supervised run an `id`." : SPAWN_HINT;
  refuseUnnamed(`The workflow "${definition.name}" was started`, options.requestId, next);
  const raw = plainJson(given);
  const input = validInput(definition, raw);
  const bureau = await definitions.open();
  const { runtime, dispatcher } = bureau;
  await checkEndpoint(runtime, options);
  const { id: epoch } = await runtime.epoch();
  dispatcher.work();
  const { requestId = null, parties } = options;
  const terms = pickRunTerms(options);
  const origin = { requestId, epoch, terms, ...(parties === undefined ? {} : { parties }) };
  const creation = { ...buildCreation(runtime, definition, input, origin), given: raw };
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
  const listener = typeof options.notify === "function" ? options.notify : undefined;
  dispatcher.run(id, definition, { listener, isFoundAgain });
  return { id, result: () => awaitEnd(bureau, id) };
}

/** `(name, body)` or `(name, options, body)`. */
export function declareWorkflow<Input, Result>(
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

/** Keeps the process alive and its workflows running. */
export async function workUntil(definitions: Definitions, signal?: AbortSignal): Promise<void> {
  if (signal !== undefined) checkSignal(signal);
  const { runtime, dispatcher } = await definitions.open();
  await runtime.epoch();
  dispatcher.work();
  const over = signal === undefined ? runtime.closing : AbortSignal.any([signal, runtime.closing]);
  while (!over.aborted) await runtime.clock.sleep(DAY_MS, over);
}

export type Listeners = {
  readonly own: Map<string, WorkflowListener>;
  /** Workflows that were found again, with the approvals already announced since then. */
  readonly again: Map<string, Set<string>>;
};

export const createListeners = (): Listeners => ({ own: new Map(), again: new Map() });

/** An error in a listener is ignored: it is the author's own responsibility. */
function callListener(listener: WorkflowListener, notice: Notice): void {
  Promise.resolve()
    .then(() => outsideFrames(() => listener(notice)))
    .catch(() => undefined);
}

/** Notifies the listeners of its ancestors, if those were started here. */
async function notifyAncestors(
  runtime: Runtime,
  { own }: Listeners,
  id: string,
  notice: Notice,
): Promise<void> {
  let state = await readState(runtime, workflowStream(id));
  while (state.status !== "none" && state.parent !== null) {
    const { workflow } = state.parent;
    const listener = own.get(workflow);
    if (listener !== undefined) callListener(listener, notice);
    state = await readState(runtime, workflowStream(workflow));
  }
}

/** The runtime for a run of this workflow. */
export function withListeners(runtime: Runtime, listeners: Listeners, id: string): Runtime {
  const notify = (notice: Notice) => {
    if (notice.kind === "waiting") listeners.again.get(id)?.add(notice.approval);
    runtime.notify(notice);
    const listener = listeners.own.get(id);
    if (listener !== undefined) callListener(listener, notice);
    if (listeners.own.size > 0) notifyAncestors(runtime, listeners, id, notice).catch(() => undefined);
  };
  return { ...runtime, notify };
}

function waitedApprovals({ pending, waits }: LiveWorkflow): ReadonlySet<string> {
  const asked = waits.flatMap(({ kind, on }) => (kind === "approval" || kind === "question" ? on : []));
  return new Set(pending === null ? asked : [pending.approval, ...asked]);
}

async function notifyWaiting(runtime: Runtime, id: string, approval: string): Promise<void> {
  const state = await readState(runtime, approvalStream(approval));
  if (state.status !== "pending") return;
  const { tool, decideBy } = state;
  const action = state.subject === undefined ? state.action : id;
  runtime.notify({ kind: "waiting", action, approval, tool, decideBy });
}

/** Runs once no process runs the workflow: only then is it known what it waits for. */
export async function repeatNotices(runtime: Runtime, listeners: Listeners, id: string): Promise<void> {
  const told = listeners.again.get(id);
  if (told === undefined) return;
  const state = await readState(runtime, workflowStream(id));
  if (state.status === "none" || state.runner !== null || state.isReady) return;
  listeners.again.delete(id);
  for (const approval of waitedApprovals(state))
    if (!told.has(approval)) await notifyWaiting(withListeners(runtime, listeners, id), id, approval);
}
