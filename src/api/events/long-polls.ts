/**
 * Long polls: requests that wait for something to happen.
 * - Each takes a slot of its principal, its tenant and the server; without one it is refused before it waits.
 * - It ends with its connection.
 * - The credential is checked at each heartbeat and again before the answer.
 * - When the server stops, each is answered with the current state, so that the caller can wait on another node.
 */

import { HoldpointError } from "../../kernel/errors.ts";
import type { WaitLimit } from "../../runtime/waker.ts";
import { createTally, overQuota } from "../guards/quotas.ts";
import type { RouteRequest } from "../route.ts";

export type LongPolls = {
  /** Number of requests that wait now. */
  size(): number;
  /** A request with no wait time takes no slot. */
  during<Answer>(
    asked: LongPollRequest,
    seconds: number,
    wait: (hold: WaitLimit) => Promise<Answer>,
  ): Promise<Answer>;
};

type LongPollRequest = Pick<RouteRequest, "tenant" | "gone" | "mayStill"> & {
  readonly who: Pick<RouteRequest["who"], "principal" | "credential">;
};

export type LongPollLimits = {
  /** Per principal, or per address without authentication. */
  readonly each: number;
  readonly all: number;
  /** Number of tenants. With more than one, none takes more than half of all slots. Default: 1. */
  readonly tenants?: () => number;
};

/** Pause between two checks of a waiting request's credential; the signal ends it early. */
type Pause = (signal: AbortSignal) => Promise<void>;

const AGAIN_SECONDS = 5;

/** Aborts `lost` once the credential is invalid. If that cannot be determined, it checks again later. */
async function watchCredential(
  { mayStill }: LongPollRequest,
  lost: AbortController,
  pause: Pause,
  over: AbortSignal,
) {
  for (;;) {
    await pause(over);
    if (over.aborted) return;
    const isLost = await mayStill().then(
      () => false,
      (error: unknown) => isRefusal(error),
    );
    if (isLost) return lost.abort();
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof HoldpointError && (error.code === "unauthenticated" || error.code === "forbidden");

async function waitingCount<Answer>(
  asked: LongPollRequest,
  hold: WaitLimit,
  { wait, pause }: { readonly wait: (hold: WaitLimit) => Promise<Answer>; readonly pause: Pause },
): Promise<Answer> {
  const [lost, ended] = [new AbortController(), new AbortController()];
  watchCredential(asked, lost, pause, AbortSignal.any([hold.signal, ended.signal])).catch(() => undefined);
  try {
    const answer = await wait({ ...hold, signal: AbortSignal.any([hold.signal, lost.signal]) });
    await asked.mayStill();
    return answer;
  } finally {
    ended.abort();
  }
}

export function createLongPolls(
  { each, all, tenants = () => 1 }: LongPollLimits,
  over: AbortSignal,
  pause: Pause,
): LongPolls {
  const places = createTally();
  const byTenant = createTally();
  let size = 0;
  const busy = (what: string) => overQuota("server_busy", what, AGAIN_SECONDS);

  function checkRoom(tenant: string, name: string): void {
    const own = places.of(name);
    const what = `There are ${own} requests of this principal that wait already.`;
    if (own >= each) throw overQuota("rate_limited", what, AGAIN_SECONDS);
    if (size >= all) throw busy("As many requests wait here as the server takes.");
    const share = tenants() > 1 ? Math.ceil(all / 2) : all;
    if (byTenant.of(tenant) >= share)
      throw busy("As many requests of this tenant wait here as the server takes of one.");
  }

  function take(tenant: string, name: string, count: 1 | -1): void {
    places.add(name, count);
    byTenant.add(tenant, count);
    size += count;
  }

  return {
    size: () => size,
    async during(asked, seconds, wait) {
      const { tenant, who, gone } = asked;
      if (seconds <= 0) return wait({ holdMs: 0, signal: over });
      const name = `${tenant} ${who.principal ?? who.credential}`;
      checkRoom(tenant, name);
      take(tenant, name, 1);
      try {
        const hold = { holdMs: seconds * 1_000, signal: AbortSignal.any([over, gone()]) };
        return await waitingCount(asked, hold, { wait, pause });
      } finally {
        take(tenant, name, -1);
      }
    },
  };
}
