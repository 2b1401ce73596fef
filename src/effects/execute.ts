/**
 * A gated call from proposal to answer. All its state is in the store, so it can be
 * called again after any crash. Only misuse and store failures throw.
 */

import { digestOf } from "../kernel/canonical-json.ts";
import { stopwatch } from "../kernel/clock.ts";
import { HoldpointError, isHoldpointError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { actionStream, approvalStream, type StreamRef, streamName } from "../kernel/stream.ts";
import { freshId, type Runtime } from "../runtime/runtime.ts";
import { readState } from "../runtime/store-access.ts";
import type { Placement } from "../workflows/rules/calls.ts";
import { advanceCall, type CallSource } from "./advance-call.ts";
import { type Answer, buildAnswer, heldAnswer, pendingApproval } from "./answer.ts";
import { perform } from "./perform.ts";
import { closedDuringCall, performInTransaction, performRead } from "./perform-in-one-commit.ts";
import { recoverAction } from "./recover.ts";
import type { Advanced } from "./rules/advance.ts";
import type { ProposeAnswer } from "./rules/propose.ts";
import type { ActionIn, LiveAction } from "./state.ts";
import type { Tool } from "./tool.ts";

export type GatedCall = {
  readonly requestId: string | null;
  /** Validated arguments, secrets as handles. */
  readonly args: Json;
  /** Digest of the caller's original arguments. Default: the digest of `args`. */
  readonly givenDigest?: string;
  readonly says: string | null;
  /** How long to wait for people. null: no limit. 0: return `pending` at once. */
  readonly waitMs: number | null;
  /** Position in a workflow, and which of its agents makes the call. */
  readonly placement?: Placement;
  readonly agent?: string;
  /** Principals that the workflow acts for, in addition to this process's own. None of them may decide. */
  readonly requester?: readonly string[];
  /** Suppress the `waiting` notice (already sent). */
  readonly isKnown?: boolean;
};

/** The workflow that made the call has moved on meanwhile; nothing was started. */
export class TurnedAway extends Error {
  override readonly name = "TurnedAway";
}

/** Poll interval next to the follower, in case the owner of a running effect died silently. */
const LOOK_AGAIN_MS = 2_000;

/** The store's clock decides. While ours is ahead of it we check again, but not in a tight loop. */
const SHORTEST_WAIT_MS = 20;

type Wait = {
  readonly kind: "wait";
  readonly on: readonly StreamRef[];
  readonly untilMs: number | null;
  readonly approval: string | null;
};
type Step = { readonly kind: "done"; readonly answer: Answer<Json> } | Wait;

/** A proposed action. `next` is null if the action already existed. */
type Begun = { readonly action: string; readonly next: Wait | null };

function moveByClass(
  runtime: Runtime,
  tool: Tool,
  source: CallSource,
  digest: string | null,
): Promise<ProposeAnswer> {
  if (tool.rules.effectClass === "read") return performRead(runtime, tool, source, digest);
  if (tool.rules.effectClass === "transactional") return performInTransaction(runtime, tool, source, digest);
  return advanceCall(runtime, tool, source, digest);
}

/** Distinguishes the calls of this process. */
let calls = 0;

/** Marks work between a decision and its outcome. Closing waits for it, and then no new work begins. */
export async function underWay<Value>(
  runtime: Runtime,
  work: () => Promise<Value>,
  action?: string,
): Promise<Value> {
  if (runtime.closing.aborted) throw closedDuringCall(action);
  const name = `call ${++calls}`;
  runtime.performing.add(name);
  try {
    return await work();
  } finally {
    runtime.performing.delete(name);
  }
}

/** For our own running effect: if this process lost its epoch, it may never be able to send it. */
async function confirmOwn(runtime: Runtime, { effect }: ActionIn<"running">): Promise<void> {
  const own = await runtime.epoch();
  if (effect.epoch !== own.id || own.mayRun()) return;
  await own.confirm().catch((error: unknown) => {
    if (!isHoldpointError(error, "epoch_ended")) throw error;
    const data = `The effect ${effect.id} was started; the next process finds out its outcome.`;
    throw new HoldpointError(error.code, error.what, { data, cause: error });
  });
}

async function finish(runtime: Runtime, tool: Tool, action: string, state: LiveAction): Promise<Step> {
  const answer = await buildAnswer(runtime, action, state);
  if (answer !== undefined) return { kind: "done", answer };
  if (state.phase === "running") {
    await confirmOwn(runtime, state);
    await recoverAction(runtime, action, tool);
  }
  return { kind: "wait", on: [actionStream(action)], untilMs: LOOK_AGAIN_MS, approval: null };
}

type Took = { readonly answer: Advanced; readonly age: () => number };

async function step(runtime: Runtime, tool: Tool, action: string, { answer, age }: Took): Promise<Step> {
  switch (answer.kind) {
    case "started": {
      const fresh = { state: answer.state, now: answer.now, age };
      return finish(runtime, tool, action, await perform(runtime, tool, action, fresh));
    }
    case "settled":
      return finish(runtime, tool, action, answer.state);
    case "refused":
      return finish(runtime, tool, action, (await readState(runtime, actionStream(action))) as LiveAction);
    case "held":
      return { kind: "done", answer: heldAnswer(action, answer.refusal) };
    case "moved":
      return { kind: "wait", on: [actionStream(action)], untilMs: 0, approval: null };
    case "waiting": {
      const untilMs =
        answer.decideBy === null ? null : Math.max(SHORTEST_WAIT_MS, answer.decideBy - runtime.clock.now());
      return {
        kind: "wait",
        on: [actionStream(action), approvalStream(answer.approval)],
        untilMs,
        approval: answer.approval,
      };
    }
    case "turned":
      throw new TurnedAway("the workflow has moved on");
    case "epoch_ended":
      throw new HoldpointError("epoch_ended", "This process was taken for dead and another one took over.");
  }
}

/** Waits for people until the caller's timeout, and for anything else until it has ended. */
function waitOf(next: Wait, left: number | null): number | null {
  return next.approval === null ? next.untilMs : shorter(next.untilMs, left);
}

/** null: no limit. */
function shorter(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : Math.min(a, b);
}

/** Sends one notice per approval that a call waits for, and another when an edit has changed its binding. */
function teller(runtime: Runtime, tool: Tool, action: string): (waiting: Advanced) => void {
  let told: string | null = null;
  return (waiting) => {
    if (waiting.kind !== "waiting" || waiting.binding === told) return;
    told = waiting.binding;
    runtime.notify({
      kind: "waiting",
      action,
      approval: waiting.approval,
      tool: tool.rules.name,
      decideBy: waiting.decideBy,
    });
  };
}

/** What was committed before the first watch wakes no one. That is rare, so a look without locks comes first. */
const firstSource = ({ action, next }: Begun): CallSource =>
  next === null || next.approval === null
    ? { action, approval: null }
    : { action, approval: next.approval, isLook: true };

/** Returns to an action until it has an answer. Sleeps while nothing changes. */
async function comeBack(
  runtime: Runtime,
  tool: Tool,
  begun: Begun,
  { giveUpAt, isKnown }: { readonly giveUpAt: number | null; readonly isKnown: boolean },
): Promise<Answer<Json>> {
  const { action } = begun;
  const tell = isKnown ? () => undefined : teller(runtime, tool, action);
  let on = begun.next?.on ?? [actionStream(action)];
  let source = firstSource(begun);
  for (;;) {
    if (runtime.closing.aborted) throw closedDuringCall(action);
    const watch = await runtime.waker.watch(on);
    try {
      const next = await underWay(
        runtime,
        async () => {
          const age = stopwatch(runtime.clock);
          const proposed = await moveByClass(runtime, tool, source, null);
          const answer = answerTo(proposed);
          tell(answer);
          return step(runtime, tool, action, { answer, age });
        },
        action,
      );
      if (next.kind === "done") return next.answer;
      const left = giveUpAt === null ? null : giveUpAt - runtime.clock.now();
      if (left !== null && left <= 0 && next.approval !== null) return pendingApproval(action, next.approval);
      const names = new Set(on.map(streamName));
      if (next.on.every((ref) => names.has(streamName(ref)))) await watch.moved(waitOf(next, left));
      on = next.on;
      source = { action, approval: next.approval };
    } finally {
      watch.close();
    }
  }
}

/** Continues an existing action if it may go on. Does not wait for people. */
export function takeUpAction(runtime: Runtime, tool: Tool, action: string): Promise<Answer<Json>> {
  refuseOutside(tool);
  return comeBack(runtime, tool, { action, next: null }, { giveUpAt: runtime.clock.now(), isKnown: true });
}

function answerTo(proposed: ProposeAnswer): Advanced {
  if (proposed.kind === "new") return proposed.answer;
  return { kind: proposed.kind === "turned" ? "turned" : "moved" };
}

export function requestConflict(requestId: string | null, action: string): HoldpointError {
  const what = `The request id "${requestId}" names another action, ${action}.`;
  return new HoldpointError("request_conflict", what, { details: { action } });
}

function refuseOutside({ outside, rules }: Tool): void {
  if (outside === undefined) return;
  const what = `"${rules.name}" is declared and not performed here: agents propose it with hp.remote.propose().`;
  throw new HoldpointError("wrong_state", what, { data: "Nothing was written." });
}

export async function execute(runtime: Runtime, tool: Tool, call: GatedCall): Promise<Answer<Json>> {
  refuseOutside(tool);
  const requester = [...new Set([...runtime.requester, ...(call.requester ?? [])])];
  const { requestId, args, says, agent = runtime.agent, placement } = call;
  const digest = digestOf(args);
  const givenDigest = call.givenDigest ?? digest;
  const giveUpAt = call.waitMs === null ? null : runtime.clock.now() + call.waitMs;
  const place = placement === undefined ? {} : { placement };
  const named = requester.includes(agent) ? requester : [agent, ...requester];
  const action = freshId(runtime, "act");
  const proposal = { action, requestId, args, givenDigest, agent, requester: named, says, ...place };
  const first = await underWay(runtime, async () => {
    const age = stopwatch(runtime.clock);
    const proposed = await moveByClass(runtime, tool, { proposal }, digest);
    if (proposed.kind === "conflict") throw requestConflict(requestId, proposed.action);
    if (proposed.kind === "turned") throw new TurnedAway("the workflow has moved on");
    const next =
      proposed.kind === "new"
        ? await step(runtime, tool, proposed.action, { answer: proposed.answer, age })
        : null;
    return { action: proposed.action, next };
  });
  const { action: begun, next } = first;
  if (next?.kind === "done") return next.answer;
  return comeBack(runtime, tool, { action: begun, next }, { giveUpAt, isKnown: call.isKnown === true });
}
