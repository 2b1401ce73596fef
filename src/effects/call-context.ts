/**
 * The ambient context: whether code runs in a workflow's definition, in a step, in an effect, in a function that a tool is
 * judged by, or in none of these. Node carries it through promises, timers and callbacks.
 *
 * A1. A frame belongs to one instance. An instance is identified by its map of tools, which its gates and its runtime share.
 * A2. The frame of a step, an effect or a check ends when its function has ended. Code that the function left running is then
 *     outside of it.
 * A3. The frame of a definition stays. A run that has ended or was let go of answers nothing, so a call by code that the
 *     definition left running never returns, and writes nothing.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { HoldpointError } from "../kernel/errors.ts";
import type { ToolContext } from "./tool.ts";

export type InstanceKey = ReadonlyMap<string, unknown>;

/** A function of a tool that judges a call and performs nothing. */
export type CheckPart = "policy" | "cost" | "dedupe" | "preview" | "verify" | "isDefinite";

type DefinitionFrame = {
  readonly kind: "workflow";
  readonly instance: InstanceKey;
  readonly workflow: string;
  /** The name of the workflow's definition. */
  readonly name: string;
  /** The context of the branch that runs. */
  readonly ctx: object;
  /** `ctx.call` of that context. */
  readonly call: (
    tool: { readonly toolName: string },
    args: unknown,
    options: { readonly says?: string },
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
  /** The workflow that the effect belongs to; absent where it belongs to none. */
  readonly workflow?: string | undefined;
  /** The step that the effect is the function of. */
  readonly step?: string;
  isOver: boolean;
};

export type CheckFrame = {
  readonly kind: "check";
  /** Null in the policy of a workflow and in a tool that was defined apart from an instance: `hp.current()` is undefined there. */
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

/** Runs the function of a step, an effect or a check; `work` is an async function around it. */
export function insideFunction<Value>(frame: FunctionFrame, work: () => Promise<Value>): Promise<Value> {
  const done = frames.run(frame, work);
  const end = () => {
    frame.isOver = true;
  };
  done.then(end, end);
  return done;
}

/** The same for a function that has to answer at once. */
export function insideSync<Value>(frame: FunctionFrame, work: () => Value): Value {
  try {
    return frames.run(frame, work);
  } finally {
    frame.isOver = true;
  }
}

/** The async context in which the program loaded this module: it has no frame, and no request or trace of a caller. */
const inLoader = AsyncLocalStorage.snapshot();

/**
 * Runs Holdpoint's own loops. They outlive the call that happened to start them, and work for every caller: what they recover
 * must not see the request of that call.
 */
export function outsideCallers<Value>(work: () => Value): Value {
  return inLoader(work);
}

/** Runs a program's listeners, and workflows that it starts: they belong to no frame of the code that caused them. */
export function outsideFrames<Value>(work: () => Value): Value {
  return frames.run(undefined, work);
}

/**
 * Captures the async context of the caller, so that what a program keeps in an `AsyncLocalStorage` of its own (a trace, a
 * request) is there when the work runs later. Holdpoint's own frame is that of the work.
 */
export function captureContext(): <Value>(work: () => Value) => Value {
  const inContext = AsyncLocalStorage.snapshot();
  return (work) => {
    const frame = frames.getStore();
    return inContext(() => frames.run(frame, work));
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
 * Refuses an operation of a workflow inside one of its steps or effects. The function of these does not run in a replay, so
 * its operations would be missing there.
 */
export function refuseInside(workflow: string, operation: string): void {
  const frame = frames.getStore();
  if (frame === undefined || frame.kind === "workflow" || frame.kind === "check") return;
  // Another workflow that the function starts has operations of its own.
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

/** An effect inside another one: killed while the inner one waits, the outer one would be in doubt and the inner one lost. */
export function nestedCall(tool: string, frame: FunctionFrame): HoldpointError {
  return new HoldpointError("nested_call", `The tool "${tool}" was called inside ${describeFrame(frame)}.`, {
    data: `Nothing was written for "${tool}".`,
    next: adviceFor(tool, frame),
  });
}

/** `isNamed`: the call has a request id of its own, so a step that runs again finds the same action. */
export function refuseNested(tool: string, isNamed: boolean): void {
  const frame = currentFrame();
  if (frame === undefined || frame.kind === "workflow") return;
  if (frame.kind === "step" && isNamed) return;
  throw nestedCall(tool, frame);
}

/**
 * What a definition does without an operation is done again in every replay, and what a step does when the step runs again,
 * unless a request id identifies it.
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
