/**
 * Waiting for something to be over, by its id alone.
 *
 * V1. Nothing of a wait is kept at either end. Whoever has the id goes on waiting: after a restart of the server, of this
 *     program, or of both, and whether it was over before or not.
 * V2. No connection is held longer than the caller likes. A server that is away is asked again until it is back.
 */
import type { AnswerOf, CallOptions, Resources } from "./calls.ts";
import { type ClientError, isClientError } from "./client-error.ts";
import { backOffMs, type Connection, mayRepeat } from "./connection.ts";

export type WaitOptions = {
  /** How long one connection may be held, from 0 to 25; 25 unless set. With 0 it is asked every two seconds. */
  readonly holdSeconds?: number;
  /** How long to wait in all; for ever unless set. */
  readonly timeoutSeconds?: number;
  readonly signal?: AbortSignal;
};

export type WaitedApproval = AnswerOf<"GET /api/approvals/{id}/wait">;
export type WaitedAction = AnswerOf<"GET /api/actions/{id}/wait">;
export type WaitedWorkflow = AnswerOf<"GET /api/workflows/{id}/wait">;
export type WaitedIntent = AnswerOf<"GET /api/intents/{id}/wait">;

/** Time that runs out is an answer: `is_over` is false (of an intent: `timed_out_waiting`), and it goes on. */
export type Waits = {
  /** Until people have decided, or their time is over. */
  waitForApproval(id: string, options?: WaitOptions): Promise<WaitedApproval>;
  /** Until it has an outcome, or was refused; by its own id, its effect's, or the caller's request id. */
  waitForAction(id: string, options?: WaitOptions): Promise<WaitedAction>;
  /** Until it has ended. */
  waitForWorkflow(id: string, options?: WaitOptions): Promise<WaitedWorkflow>;
  /** Until it is answered, or its time is over. */
  waitForIntent(id: string, options?: WaitOptions): Promise<WaitedIntent>;
};

type Hold = { readonly hold_seconds: number };
type Asks<Answer> = (id: string, hold: Hold, options: CallOptions) => Promise<Answer>;
type Waiting<Answer> = {
  readonly ask: Asks<Answer>;
  readonly isOver: (answer: Answer) => boolean;
  /** What time that runs out is answered with while the server is away. */
  readonly whenAway?: (id: string) => Answer;
};

const HOLD_SECONDS = 25;
const POLL_MS = 2_000;
/** Beyond the hold, for the way there and back. */
const WAY_SECONDS = 15;

function holdOf({ holdSeconds = HOLD_SECONDS }: WaitOptions, leftMs: number): number {
  const most = Math.min(Math.max(holdSeconds, 0), HOLD_SECONDS);
  return Math.min(most, Math.max(0, leftMs / 1_000));
}

/** Asked too fast is a server that is closing: it answers at once, and is gone a moment later. */
function pauseMs(connection: Connection, hold: number, tookMs: number): number {
  if (hold === 0) return POLL_MS;
  return tookMs < Math.min(1_000, hold * 500) ? backOffMs(connection, 2) : 0;
}

/** A failure that does not pass is thrown, and so is one after which there is no time left and nothing to answer. */
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

/** `resources` asks once a turn: how often and how long is decided here. */
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
