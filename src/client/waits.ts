/**
 * Waiting for an approval, an action, a workflow or an intent to end, by its id alone.
 *
 * - Neither side keeps state of a wait. A caller with the id can wait again after a restart of the server, of this
 *   program, or of both, and even if it has ended.
 * - No connection is held longer than the caller allows. A server that is away is polled until it is back.
 */
import type { AnswerOf, CallOptions, Resources } from "./calls.ts";
import { backOffMs, type ClientError, type Connection, isClientError, mayRepeat } from "./connection.ts";

export type WaitOptions = {
  /** How long one connection may be held, from 0 to 25. Default: 25. With 0 it polls every two seconds. */
  readonly holdSeconds?: number;
  /** Total time to wait. Default: no limit. */
  readonly timeoutSeconds?: number;
  readonly signal?: AbortSignal;
};

export type WaitedApproval = AnswerOf<"GET /api/approvals/{id}/wait">;
export type WaitedAction = AnswerOf<"GET /api/actions/{id}/wait">;
export type WaitedWorkflow = AnswerOf<"GET /api/workflows/{id}/wait">;
export type WaitedIntent = AnswerOf<"GET /api/intents/{id}/wait">;

/** A timeout is an answer: `is_over` is false (for an intent: `timed_out_waiting`), and the work continues. */
export type Waits = {
  /** Waits until people have decided, or the deadline has passed. */
  waitForApproval(id: string, options?: WaitOptions): Promise<WaitedApproval>;
  /** Waits for an outcome or a refusal. Takes its own id, its effect's, or the caller's request id. */
  waitForAction(id: string, options?: WaitOptions): Promise<WaitedAction>;
  /** Waits until it has ended. */
  waitForWorkflow(id: string, options?: WaitOptions): Promise<WaitedWorkflow>;
  /** Waits until it is answered, or its deadline has passed. */
  waitForIntent(id: string, options?: WaitOptions): Promise<WaitedIntent>;
};

type Hold = { readonly hold_seconds: number };
type Asks<Answer> = (id: string, hold: Hold, options: CallOptions) => Promise<Answer>;
type Waiting<Answer> = {
  readonly ask: Asks<Answer>;
  readonly isOver: (answer: Answer) => boolean;
  /** Answer for a timeout while the server is away. */
  readonly whenAway?: (id: string) => Answer;
};

const HOLD_SECONDS = 25;
const POLL_MS = 2_000;
/** Added to the hold, for the network round trip. */
const WAY_SECONDS = 15;

function holdOf({ holdSeconds = HOLD_SECONDS }: WaitOptions, leftMs: number): number {
  const most = Math.min(Math.max(holdSeconds, 0), HOLD_SECONDS);
  return Math.min(most, Math.max(0, leftMs / 1_000));
}

/** An early answer means that the server is closing: back off, since it will be gone shortly. */
function pauseMs(connection: Connection, hold: number, tookMs: number): number {
  if (hold === 0) return POLL_MS;
  return tookMs < Math.min(1_000, hold * 500) ? backOffMs(connection, 2) : 0;
}

/** Throws a permanent failure, and also a temporary one if no time is left and there is no answer to return. */
function passing<Answer>(error: unknown, leftMs: number, answer: Answer | undefined): ClientError {
  const passes = isClientError(error) && mayRepeat(error, true);
  if (passes && (leftMs > 0 || answer !== undefined)) return error;
  throw error;
}

async function wait<Answer>(
  connection: Connection,
  { ask, isOver, whenAway }: Waiting<Answer>,
  id: string,
  options: WaitOptions,
): Promise<Answer> {
  const { timeoutSeconds, signal } = options;
  const begun = Date.now();
  const left = () =>
    timeoutSeconds === undefined ? Number.POSITIVE_INFINITY : timeoutSeconds * 1_000 - (Date.now() - begun);
  const pause = (ms: number) => connection.pause(Math.max(0, Math.min(ms, left())), signal);
  let failures = 0;
  let last: Answer | undefined;
  for (;;) {
    signal?.throwIfAborted();
    const hold = holdOf(options, left());
    const asked = Date.now();
    try {
      const more = { timeoutSeconds: hold + WAY_SECONDS, ...(signal === undefined ? {} : { signal }) };
      const answer = await ask(id, { hold_seconds: hold }, more);
      failures = 0;
      last = answer;
      if (isOver(answer) || left() <= 0) return answer;
      await pause(pauseMs(connection, hold, Date.now() - asked));
    } catch (error) {
      const most = last ?? whenAway?.(id);
      const leftMs = left();
      const failure = passing(error, leftMs, most);
      if (leftMs <= 0 && most !== undefined) return most;
      await pause(backOffMs(connection, failures++, failure));
    }
  }
}

const goesOn = (id: string): WaitedIntent => ({
  intent_id: id,
  status: "timed_out_waiting",
  data: null,
  reason: null,
});

const over = ({ is_over }: { readonly is_over: boolean }): boolean => is_over;

/** `resources` sends each request once: retries and timing are decided here. */
export function makeWaits(
  connection: Connection,
  { approvals, actions, workflows, intents }: Resources,
): Waits {
  const ended = ({ status }: WaitedIntent) => status !== "timed_out_waiting";
  return {
    waitForApproval: (id, options = {}) =>
      wait(connection, { ask: approvals.wait, isOver: over }, id, options),
    waitForAction: (id, options = {}) => wait(connection, { ask: actions.wait, isOver: over }, id, options),
    waitForWorkflow: (id, options = {}) =>
      wait(connection, { ask: workflows.wait, isOver: over }, id, options),
    waitForIntent: (id, options = {}) =>
      wait(connection, { ask: intents.wait, isOver: ended, whenAway: goesOn }, id, options),
  };
}
