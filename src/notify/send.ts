/**
 * Sending, for all channels: the delivery loop (reads the log, makes messages, sends what is due) and one attempt.
 * - Any number of processes may deliver. One at a time claims a message, for longer than an attempt can take.
 * - A slow endpoint fills its own slots and no others.
 * - A restored or copied store sends nothing until a person acknowledges it: a copy would write to the same people.
 */

import { HoldpointError } from "../kernel/errors.ts";
import { endpointStream, messageStream } from "../kernel/stream.ts";
import { errorText } from "../kernel/text.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readState, readStateAt, runCommand } from "../runtime/store-access.ts";
import { type Subscriber, subscribe } from "../runtime/subscribe.ts";
import { type DeliveryContext, type DroppedOutcome, loadMessageContent, type SendJob } from "./channel.ts";
import { channelFor } from "./channels.ts";
import { type ActiveEndpoint, createMessageMaker, OUTBOXES } from "./make-messages.ts";
import { dropMessage, reportAttempt, type SendOutcome } from "./rules/message.ts";

async function attemptSend(
  office: DeliveryContext,
  job: SendJob,
): Promise<SendOutcome | DroppedOutcome | undefined> {
  const { runtime } = office;
  const { state } = job;
  const endpoint = await readState(runtime, endpointStream(state.endpoint));
  if (endpoint.status === "none" || endpoint.status === "removed")
    return { kind: "dropped", reason: "its endpoint was removed" };
  if (endpoint.status === "off" && state.type !== "endpoint.tested") return undefined;
  const content = await loadMessageContent(runtime, state);
  if (content === undefined) return { kind: "dropped", reason: "the entry that it tells of was erased" };
  const channel = channelFor(endpoint.target);
  if (channel === undefined) return { kind: "failed", status: null, problem: "unknown_channel" };
  return channel.send(office, { job, endpoint, content });
}

/** What cannot be read or opened here may work on another node, or later. */
const RETRYABLE_CODES: readonly string[] = [
  "secret_missing",
  "store_corrupt",
  "unknown_event",
  "unknown_id",
  "key_unusable",
];

async function attemptOrFail(
  office: DeliveryContext,
  job: SendJob,
): Promise<SendOutcome | DroppedOutcome | undefined> {
  try {
    return await attemptSend(office, job);
  } catch (error) {
    if (!(error instanceof HoldpointError) || !RETRYABLE_CODES.includes(error.code)) throw error;
    return { kind: "failed", status: null, problem: error.code };
  }
}

function randomShare({ random }: Pick<Runtime, "random">): number {
  const [high = 0, low = 0] = random(2);
  return (high * 256 + low) / 65_535;
}

/** undefined if there was nothing left to send. */
export async function sendMessage(
  office: DeliveryContext,
  id: string,
): Promise<SendOutcome | DroppedOutcome | undefined> {
  const { runtime } = office;
  const { state, now } = await readStateAt(runtime, messageStream(id));
  if (state.status !== "waiting") return undefined;
  const outcome = await attemptOrFail(office, { id, state, now });
  if (outcome === undefined) return undefined;
  const report = { message: id, attempt: state.attempts + 1, chance: randomShare(runtime) };
  await runCommand(runtime, {}, (draft) =>
    outcome.kind === "dropped"
      ? dropMessage(draft, { message: id, reason: outcome.reason })
      : reportAttempt(draft, { ...report, outcome }),
  );
  return outcome;
}

const MAX_PER_ENDPOINT = 4;
const MAX_IN_ALL = 64;
/** Lease, in multiples of an attempt's timeout: time to read before the attempt, and to record it afterwards. */
const LEASE_TIMES = 2;
/** Interval for checking due messages that another process holds. */
const LOOK_AGAIN_MS = 1_000;

type MessageSender = {
  /** Claims as many as it has room for. Returns when the next message is due; null if none waits. */
  dispatch(endpoints: readonly ActiveEndpoint[]): Promise<number | null>;
  /** Resolves when all sends in progress have ended. */
  rest(): Promise<void>;
};

/** Sends in progress, by endpoint. `freed`: called whenever one has ended. */
function createSlots(office: DeliveryContext, freed: (error?: unknown) => void) {
  const { clock } = office.runtime;
  const underWay = new Map<string, number>();
  /** Endpoints that said when to try again. */
  const paused = new Map<string, number>();
  const jobs = new Set<Promise<void>>();

  async function send(endpoint: string, message: string): Promise<unknown> {
    try {
      const outcome = await sendMessage(office, message);
      const waitMs = outcome?.kind === "failed" ? outcome.waitMs : undefined;
      if (waitMs !== undefined) paused.set(endpoint, clock.now() + waitMs);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  return {
    begin(endpoint: string, message: string): void {
      underWay.set(endpoint, (underWay.get(endpoint) ?? 0) + 1);
      const job = send(endpoint, message).then((error) => {
        underWay.set(endpoint, (underWay.get(endpoint) ?? 1) - 1);
        jobs.delete(job);
        freed(error);
      });
      jobs.add(job);
    },
    room: (endpoint: string): number =>
      Math.min(MAX_PER_ENDPOINT - (underWay.get(endpoint) ?? 0), MAX_IN_ALL - jobs.size),
    /** Until then nothing is sent there; null if it may be sent now. */
    pausedUntil(endpoint: string, now: number): number | null {
      const until = paused.get(endpoint) ?? 0;
      if (until > now) return until;
      paused.delete(endpoint);
      return null;
    },
    async rest(): Promise<void> {
      await Promise.all(jobs);
    },
  };
}

function createMessageSender(office: DeliveryContext, freed: (error?: unknown) => void): MessageSender {
  const { runtime, settings } = office;
  const { store, tenant, clock } = runtime;
  const slots = createSlots(office, freed);

  function canSend({ target }: ActiveEndpoint): boolean {
    const channel = channelFor(target);
    return channel !== undefined && (channel.canSend?.(settings) ?? true);
  }

  async function nextOf(id: string, now: number): Promise<number | null> {
    const first = await Promise.all(
      OUTBOXES.map(async (view) => store.query(tenant, { view, bucket: id, limit: 1 })),
    );
    const times = first.flat().map(({ at }) => Math.max(at, now + LOOK_AGAIN_MS));
    return times.length === 0 ? null : Math.min(...times);
  }

  async function take({ id }: ActiveEndpoint): Promise<number | null> {
    const now = clock.now();
    const pausedUntil = slots.pausedUntil(id, now);
    if (pausedUntil !== null) return pausedUntil;
    const due = { bucket: id, dueBy: now, leaseMs: LEASE_TIMES * settings.timeoutMs };
    for (const view of OUTBOXES) {
      const room = slots.room(id);
      // A send in progress frees its slot, and dispatches again.
      if (room <= 0) return null;
      for (const { stream } of await store.claim(tenant, { view, limit: room, ...due }))
        slots.begin(id, stream.id);
    }
    return nextOf(id, now);
  }

  return {
    async dispatch(endpoints) {
      let next: number | null = null;
      for (const endpoint of endpoints.filter(canSend)) {
        const at = await take(endpoint);
        if (at !== null && (next === null || at < next)) next = at;
      }
      return next;
    },
    rest: slots.rest,
  };
}

/** Whether an error differs from the one before. */
function filterRepeated(): (error: unknown) => boolean {
  let last = "";
  return (error) => {
    const isNew = errorText(error) !== last;
    last = errorText(error);
    return isNew;
  };
}

/** Makes messages of what is committed, and sends what is due, until the signal aborts. */
export async function runDelivery(office: DeliveryContext, signal: AbortSignal): Promise<void> {
  const { runtime } = office;
  const { clock, history, notify } = runtime;
  const maker = createMessageMaker(runtime);
  let isFreed = false;
  let due: number | null = null;
  const failed = (error: unknown) => notify({ kind: "maintenance_failed", error });
  const isNew = filterRepeated();
  const sender = createMessageSender(office, (error) => {
    isFreed = true;
    if (error !== undefined && !signal.aborted && isNew(error)) failed(error);
    subscription.ring();
  });
  await history.confirm();
  const subscriber: Subscriber = {
    ...maker,
    async caughtUp() {
      history.broken.throwIfAborted();
      const isDue = due !== null && due <= clock.now();
      if (!maker.takeNews() && !isFreed && !isDue) return due;
      isFreed = false;
      due = await sender.dispatch(maker.endpoints());
      return due;
    },
    failed: (error, isNewError) => isNewError && failed(error),
  };
  const subscription = subscribe(runtime, subscriber, signal);
  try {
    await subscription.done;
  } finally {
    await sender.rest();
  }
}
