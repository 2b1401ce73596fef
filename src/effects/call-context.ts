/**
 * The ambient context: whether code runs in a workflow definition, in a step, in an effect, in a function that checks a
 * call, or in none of these. Node carries it through promises, timers and callbacks.
 *
 * - A frame belongs to one instance, identified by its map of tools. Its gates and its runtime share that map.
 * - The frame of a step, an effect or a check ends with its function. Code that the function left running is outside
 *   it.
 * - The frame of a definition does not end. A run that has ended or was released answers nothing. A call by code that
 *   the definition left running therefore never returns, and writes nothing.
 */
import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import { HoldpointError } from "../kernel/errors.ts";
import type { ToolContext } from "./tool.ts";

export type InstanceKey = ReadonlyMap<string, unknown>;

/** A function of a tool that evaluates a call and performs nothing. */
export type CheckPart = "policy" | "cost" | "dedupe" | "preview" | "verify" | "isDefinite";

type DefinitionFrame = {
  readonly kind: "workflow";
  readonly instance: InstanceKey;
  readonly workflow: string;
  /** Name of the workflow's definition. */
  readonly name: string;
  /** Context of the branch that runs. */
  readonly ctx: object;
  /** `ctx.call` of that context. */
  readonly call: (
    tool: { readonly toolName: string },
    args: unknown,
    options: { readonly rationale?: string },
  ) => Promise<unknown>;
};

export type StepFrame = {
  readonly kind: "step";
  readonly instance: InstanceKey;
  readonly workflow: string;
  readonly step: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  isOver: boolean;
};

type EffectFrame = {
  readonly kind: "effect";
  readonly instance: InstanceKey;
  readonly context: ToolContext;
  /** The workflow that the effect belongs to; absent if it has none. */
  readonly workflow?: string | undefined;
  /** The step whose function is the effect. */
  readonly step?: string;
  isOver: boolean;
};

export type CheckFrame = {
  readonly kind: "check";
  /** null in a workflow's policy and in a tool defined without an instance: `hp.current()` is undefined there. */
  readonly instance: InstanceKey | null;
  readonly tool: string;
  readonly part: CheckPart;
  isOver: boolean;
};

type FunctionFrame = StepFrame | EffectFrame | CheckFrame;
type Frame = DefinitionFrame | FunctionFrame;

const frames = new AsyncLocalStorage<Frame | undefined>();

/** The innermost frame that has not ended. */
export function currentFrame(): Frame | undefined {
  const frame = frames.getStore();
  return frame === undefined || (frame.kind !== "workflow" && frame.isOver) ? undefined : frame;
}

/** Runs a definition, or one of its branches. */
export function insideDefinition<Value>(frame: DefinitionFrame, body: () => Value): Value {
  return frames.run(frame, body);
}

/** Runs the function of a step, an effect or a check. `work` is an async function around it. */
export function insideFunction<Value>(frame: FunctionFrame, work: () => Promise<Value>): Promise<Value> {
  const done = frames.run(frame, work);
  const end = () => {
    frame.isOver = true;
  };
  done.then(end, end);
  return done;
}

/** The same for a synchronous function. */
export function insideSync<Value>(frame: FunctionFrame, work: () => Value): Value {
  try {
    return frames.run(frame, work);
  } finally {
    frame.isOver = true;
  }
}

/** Async context in which the program loaded this module. It has no frame, and no request or trace of a caller. */
const inLoader = AsyncLocalStorage.snapshot();

/**
 * Runs Holdpoint's background loops. They outlive the call that started them and serve every caller, so the work that
 * they recover must not see that call's request.
 */
export function outsideCallers<Value>(work: () => Value): Value {
  return inLoader(work);
}

/** Runs a program's listeners, and workflows that it starts, outside the frame of the code that caused them. */
export function outsideFrames<Value>(work: () => Value): Value {
  return frames.run(undefined, work);
}

/**
 * Captures the caller's async context, so that a program's own `AsyncLocalStorage` (a trace, a request) is available
 * when the work runs later. Holdpoint's own frame is that of the work.
 */
export function captureContext(): <Value>(work: () => Value) => Value {
  const context = new AsyncResource("holdpoint.call");
  return (work) => {
    const frame = frames.getStore();
    return context.runInAsyncScope(() => frames.run(frame, work));
  };
}

export const checkFrame = (instance: InstanceKey | null, tool: string, part: CheckPart): CheckFrame => ({
  kind: "check",
  instance,
  tool,
  part,
  isOver: false,
});

export const effectFrame = (
  instance: InstanceKey,
  context: ToolContext,
  workflow: string | undefined,
): EffectFrame => ({ kind: "effect", instance, context, workflow, isOver: false });

/**
 * Refuses an operation of a workflow inside one of its steps or effects. Their functions do not run in a replay, so the
 * operation would be missing there.
 */
export function refuseInside(workflow: string, operation: string): void {
  const frame = frames.getStore();
  if (frame === undefined || frame.kind === "workflow" || frame.kind === "check") return;
  // Another workflow that the function starts has its own operations.
  if (frame.workflow !== workflow) return;
  const place = frame.kind === "effect" && frame.step === undefined ? "call" : "step";
  throw new HoldpointError("invalid_input", `${operation} was asked for inside ${describeFrame(frame)}.`, {
    next: `Ask for it before or after the ${place}, and hand its answer to the function.`,
  });
}

function describeFrame(frame: FunctionFrame): string {
  if (frame.kind === "check") return `the ${frame.part} of the tool "${frame.tool}"`;
  if (frame.step !== undefined) return `the function of the step "${frame.step}"`;
  return `the function of the tool "${(frame as EffectFrame).context.tool}"`;
}

function adviceFor(tool: string, frame: FunctionFrame): string {
  if (frame.kind === "step")
    return `Call "${tool}" in the definition, before or after the step, and hand its answer to the function; or use hp.execute() under a request id.`;
  if (frame.kind === "check") return `Decide by the arguments alone, and call "${tool}" elsewhere.`;
  const outer = frame.step === undefined ? `tool "${frame.context.tool}"` : `step "${frame.step}"`;
  return `Call "${tool}" in the definition of a workflow, before or after the ${outer}; or make a workflow of the ${outer} and start it with ctx.spawn or under a request id.`;
}

/** An effect inside another one. A crash while the inner one waits leaves the outer in doubt and the inner lost. */
export function nestedCall(tool: string, frame: FunctionFrame): HoldpointError {
  return new HoldpointError("nested_call", `The tool "${tool}" was called inside ${describeFrame(frame)}.`, {
    data: `Nothing was written for "${tool}".`,
    next: adviceFor(tool, frame),
  });
}

/** `isNamed`: the call has its own request id, so a step that runs again finds the same action. */
export function refuseNested(tool: string, isNamed: boolean): void {
  const frame = currentFrame();
  if (frame === undefined || frame.kind === "workflow") return;
  if (frame.kind === "step" && isNamed) return;
  throw nestedCall(tool, frame);
}

/**
 * Refuses work without a request id that would be repeated. A definition repeats it in every replay, a step whenever
 * the step runs again.
 */
export function refuseUnnamed(what: string, requestId: unknown, next: string): void {
  const frame = currentFrame();
  if ((frame?.kind !== "workflow" && frame?.kind !== "step") || requestId != null) return;
  const where =
    frame.kind === "workflow"
      ? `in the definition of the workflow "${frame.name}": each replay would do it again`
      : `in the step "${frame.step}": a step that runs again would do it again`;
  throw new HoldpointError("invalid_input", `${what} without a request id ${where}.`, { next });
}
