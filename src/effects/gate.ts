/** The callable that a program gets for a tool, and calls by name (`hp.execute`). */

import { digestOf } from "../kernel/canonical-json.ts";
import { HoldpointError, isHoldpointError } from "../kernel/errors.ts";
import { checkFields, checkRationale, rejectInput } from "../kernel/fields.ts";
import type { Json } from "../kernel/json.ts";
import { displayValue } from "../kernel/text.ts";
import { applyPolicy, type OwnPolicy } from "../policy/apply-to-tool.ts";
import type { LivePolicy } from "../policy/live-policy.ts";
import type { OpenRuntime, Runtime, RuntimeOpener } from "../runtime/runtime.ts";
import { redactText } from "../runtime/secrets.ts";
import { getAction } from "./actions.ts";
import { type Answer, unwrapAnswer } from "./answer.ts";
import { type PreparedArgs, plainJson, prepareArgs } from "./arguments.ts";
import { currentFrame, nestedCall, refuseNested, refuseUnnamed } from "./call-context.ts";
import { defineTool, type Policy, type ToolDefinition } from "./define-tool.ts";
import { execute, type GatedCall } from "./execute.ts";
import type { Tool, ToolContext } from "./tool.ts";

export type CallOptions = {
  /** Identity of this action (idempotency key). Calling again with it always returns the original answer. */
  readonly requestId?: string;
  /** The agent's explanation, shown to approvers as its own words. */
  readonly rationale?: string;
  /** Milliseconds to wait for people. Default: no limit. 0: return `pending` at once. */
  readonly waitMs?: number;
};

/** A tool whose arguments are all optional can be called without any. */
// biome-ignore lint/complexity/noBannedTypes: `{}` is what a call without arguments passes.
type CallParameters<Args> = {} extends Args
  ? [args?: Args, options?: CallOptions]
  : [args: Args, options?: CallOptions];

export type GatedTool<Args, Result> = {
  (...given: CallParameters<Args>): Promise<Answer<Result>>;
  /** Resolves to the result. Throws `Pending`, `Failed`, `Refused` or `InDoubt` for every other answer. */
  run(...given: CallParameters<Args>): Promise<Result>;
  readonly toolName: string;
};

const OPTIONS = ["requestId", "rationale", "waitMs"];

export function checkGateOptions(options: CallOptions): void {
  const { requestId, rationale, waitMs } = checkFields("What a call takes", options, OPTIONS);
  if (
    requestId !== undefined &&
    (typeof requestId !== "string" || requestId === "" || requestId.length > 500 || !requestId.isWellFormed())
  )
    rejectInput("A request id is a text of 1 to 500 characters.");
  if (requestId !== undefined && /^(act|eff|apr)_[0-9A-Z]{26}$/.test(requestId))
    rejectInput("A request id may not look like an id of Holdpoint's own.");
  checkRationale(rationale);
  if (waitMs !== undefined && !(Number.isSafeInteger(waitMs) && waitMs >= 0))
    rejectInput("waitMs is a whole number of milliseconds of at least 0.");
}

/** Warns once per `once` tool: without a request id every call is a new action, so a retry repeats it. */
function warnOnce(runtime: OpenRuntime, warned: Set<string>, tool: Tool, options: CallOptions): void {
  const { name, effectClass } = tool.rules;
  if (options.requestId !== undefined || effectClass !== "once" || warned.has(name)) return;
  warned.add(name);
  runtime.notify({ kind: "no_request_id", tool: name });
}

export type Gates = {
  readonly tools: Map<string, Tool>;
  /** Policy document of the instance. Absent if every tool has its own policy. */
  readonly policy?: LivePolicy;
  readonly warned: Set<string>;
  readonly open: RuntimeOpener;
};

type Nullable<Options> = { readonly [Field in keyof Options]?: Options[Field] | null };

/** An existing action keeps its answer, even if the schema has changed since. */
export async function argsFor(
  runtime: Runtime,
  tool: Tool,
  given: Json,
  requestId: string | null,
): Promise<PreparedArgs> {
  try {
    return await prepareArgs(tool, given, runtime.secrets);
  } catch (error) {
    const mayBeKnown = isHoldpointError(error, "invalid_args") || isHoldpointError(error, "secret_missing");
    if (requestId === null || !mayBeKnown) throw error;
    const before = await getAction(runtime, requestId).catch(() => undefined);
    if (before?.tool !== tool.rules.name || before.givenDigest !== digestOf(given)) throw error;
    return { args: given, known: new Map() };
  }
}

async function callTool(
  gates: Gates,
  tool: Tool,
  args: unknown,
  options: CallOptions,
): Promise<Answer<unknown>> {
  checkGateOptions(options);
  // Copied before anything is awaited: later changes by the caller must not change the proposal.
  const plain = plainJson(args);
  const runtime = await gates.open();
  warnOnce(runtime, gates.warned, tool, options);
  return proposeCall(runtime, tool, plain, options);
}

/** A call in a workflow has `ctx.call`'s options: the workflow sets the request id and waits without a process. */
function refuseOwnTerms(tool: string, workflow: string, { requestId, waitMs }: CallOptions): void {
  const option = requestId === undefined ? "waitMs" : "requestId";
  if (requestId === undefined && waitMs === undefined) return;
  throw new HoldpointError(
    "invalid_input",
    `The tool "${tool}" was called with ${option} in the definition of the workflow "${workflow}", where a call has no such option.`,
    {
      next: `Leave ${option} out: the call belongs to the workflow, and a replay gets the recorded answer. To call it apart from the workflow, use hp.execute() under a request id.`,
    },
  );
}

/** In a definition: an operation of the workflow. Inside an effect or a step: refused. Otherwise: a plain call. */
function callHere(gates: Gates, tool: Tool, args: unknown, options: CallOptions): Promise<Answer<unknown>> {
  const frame = currentFrame();
  const { name } = tool.rules;
  if (frame === undefined) return callTool(gates, tool, args, options);
  if (frame.kind !== "workflow") throw nestedCall(name, frame);
  checkGateOptions(options);
  if (frame.instance !== gates.tools) {
    refuseUnnamed(
      `The tool "${name}" of another instance was called`,
      options.requestId,
      "Give the call a request id, or define the workflow in the instance of the tool.",
    );
    return callTool(gates, tool, args, options);
  }
  refuseOwnTerms(name, frame.name, options);
  const { rationale } = options;
  return frame.call({ toolName: name }, args, rationale === undefined ? {} : { rationale }) as Promise<
    Answer<unknown>
  >;
}

/** Fields that a workflow adds to its own calls. */
type CallOrigin = Pick<GatedCall, "placement" | "agent" | "requester" | "isKnown">;

/** `plain`: a copy that no other code holds. */
export async function proposeCall(
  runtime: Runtime,
  tool: Tool,
  plain: Json,
  { requestId = null, rationale, waitMs = null, ...place }: Nullable<CallOptions> & CallOrigin,
): Promise<Answer<Json>> {
  const prepared = await argsFor(runtime, tool, plain, requestId);
  if (requestId !== null && redactText(requestId, prepared.known) !== requestId)
    throw new HoldpointError("secret_transformed", "The request id contains a secret's value.");
  const call = {
    requestId,
    args: prepared.args,
    givenDigest: digestOf(plain),
    says: rationale == null ? null : redactText(rationale, prepared.known),
    waitMs,
    ...place,
  };
  return execute(runtime, tool, call);
}

export function applyPolicyDocument({ policy }: Pick<Gates, "policy">, tool: Tool, beside: OwnPolicy): Tool {
  if (policy === undefined) return tool;
  const { undo } = tool;
  const taken =
    undo === null || undo === "nothing" ? undo : applyPolicy(undo, "undo", () => policy.current());
  return applyPolicy({ ...tool, undo: taken }, beside, () => policy.current());
}

/** A tool of this instance, not yet registered under its name. */
export function makeTool<Args, Result>(gates: Gates, definition: ToolDefinition<Args, Result>): Tool {
  const own = defineTool(definition, gates.tools);
  return applyPolicyDocument(gates, own, definition.policy === undefined ? "nothing" : "policy");
}

/** The tool that undoes this one, if there is one. */
export const getUndoTool = ({ undo }: Tool): Tool | undefined =>
  undo === null || undo === "nothing" ? undefined : undo;

/** `before`: the tool's predecessor, whose names do not count as taken. */
export function checkToolNameFree({ tools }: Pick<Gates, "tools">, tool: Tool, before?: Tool): void {
  const { name } = tool.rules;
  const undo = getUndoTool(tool)?.rules.name;
  const ours = before === undefined ? [] : [before, getUndoTool(before)];
  const isTaken = (one: string) => {
    const there = tools.get(one);
    return there !== undefined && there.isLeftOver !== true && !ours.includes(there);
  };
  if (isTaken(name)) throw new HoldpointError("tool_conflict", `There is a tool "${name}" already.`);
  if (undo !== undefined && isTaken(undo))
    throw new HoldpointError(
      "tool_conflict",
      `The undo of "${name}" is "${undo}", and there is such a tool already.`,
    );
}

export function registerTool(gates: Pick<Gates, "tools">, tool: Tool, before?: Tool): void {
  checkToolNameFree(gates, tool, before);
  const undo = getUndoTool(tool);
  gates.tools.set(tool.rules.name, tool);
  if (undo !== undefined) gates.tools.set(undo.rules.name, undo);
}

export function gate<Args, Result>(
  gates: Gates,
  definition: ToolDefinition<Args, Result>,
): GatedTool<Args, Result> {
  const tool = makeTool(gates, definition);
  registerTool(gates, tool);
  const { name } = tool.rules;
  const call = (...[args, options = {}]: CallParameters<Args>) =>
    callHere(gates, tool, args ?? {}, options) as Promise<Answer<Result>>;
  const run = async (...given: CallParameters<Args>) => unwrapAnswer(await call(...given));
  return Object.assign(call, { run, toolName: name });
}

export type Execution<Payload, Result> = CallOptions & {
  readonly requestId: string;
  /** Name of the action. Without `run`, the registered tool of that name runs. */
  readonly action: string;
  readonly payload: Payload;
  readonly run?: (payload: Payload, context: ToolContext) => Result | Promise<Result>;
  /** Decides about `run`. Default: `approve`, because this call guards against doing it twice. */
  readonly policy?: Policy<Payload>;
};

const FIELDS = [...OPTIONS, "action", "payload", "run", "policy"];

function toolFor<Payload, Result>(gates: Gates, given: Execution<Payload, Result>): Tool {
  const found = gates.tools.get(given.action);
  const known = found?.isLeftOver === true ? undefined : found;
  if (given.run === undefined) {
    if (known === undefined)
      throw new HoldpointError(
        "unknown_tool",
        `There is no tool "${displayValue(given.action)}" and no run function was given.`,
      );
    if (given.policy !== undefined)
      rejectInput("A policy goes with a run function; a registered tool has its own.");
    return known;
  }
  if (known !== undefined)
    throw new HoldpointError(
      "tool_conflict",
      `"${given.action}" is a registered tool: call it without a run function.`,
    );
  const tool = defineTool(
    { name: given.action, policy: given.policy ?? "approve", run: given.run },
    gates.tools,
  );
  return applyPolicyDocument(gates, tool, given.policy === undefined ? "nothing" : "policy");
}

/** The request id makes it safe to repeat, also in a definition or a step. Inside an effect it is refused. */
export function executeByName<Payload, Result>(
  gates: Gates,
  given: Execution<Payload, Result>,
): Promise<Answer<Result>> {
  refuseNested(displayValue(given?.action), given?.requestId !== undefined);
  return executeApart(gates, given);
}

async function executeApart<Payload, Result>(
  gates: Gates,
  given: Execution<Payload, Result>,
): Promise<Answer<Result>> {
  checkFields("What hp.execute takes", given, FIELDS);
  if (given.requestId === undefined) rejectInput("execute needs a request id.");
  const tool = toolFor(gates, given);
  const { action: _, payload, run: _run, policy: _policy, ...options } = given;
  return callTool(gates, tool, payload, options) as Promise<Answer<Result>>;
}
