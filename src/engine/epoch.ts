/**
 * This process's epoch: opened before its first effect, ended when it closes or by others when it died.
 *
 * H1. The hold is taken before the epoch is opened, so an open epoch that nobody holds is dead.
 * H2. Nothing is sent once the end has begun. With a lease, nothing is sent in its last third: a frozen process that wakes up finds that it may not run.
 */
import { endEpoch, openEpoch } from "../core/epoch.ts";
import { HoldpointError } from "../core/errors.ts";
import { epochStream } from "../core/stream.ts";
import type { EpochHold } from "../stores/store.ts";
import { runCommand } from "./run-command.ts";
import { type Epoch, freshId, type Runtime } from "./runtime.ts";

type Place = Pick<Runtime, "store" | "tenant" | "clock" | "random" | "agent">;

export type OwnEpoch = Epoch & {
  /** Renews a lease; answers false when it was lost. */
  renew(): Promise<boolean>;
  readonly leaseMs: number | null;
  end(): Promise<void>;
};

function leaseOf(hold: EpochHold, place: Place): Pick<OwnEpoch, "mayRun" | "renew" | "leaseMs"> {
  const { leaseMs } = hold;
  if (leaseMs === undefined) return { mayRun: () => true, renew: async () => true, leaseMs: null };
  let safeUntil = place.clock.now() + (leaseMs * 2) / 3;
  let lost = false;
  const renew = async () => {
    // The lease counts from before the call: the answer may have taken long.
    const asked = place.clock.now();
    try {
      await hold.renew?.();
      safeUntil = asked + (leaseMs * 2) / 3;
    } catch (error) {
      if (error instanceof HoldpointError && error.code === "epoch_ended") lost = true;
    }
    return !lost;
  };
  return { mayRun: () => !lost && place.clock.now() < safeUntil, renew, leaseMs };
}

export async function beginEpoch(place: Place, process: string): Promise<OwnEpoch> {
  const id = freshId(place, "epo");
  const hold = await place.store.holdEpoch(id);
  const ref = epochStream(id);
  await runCommand(place, { write: [ref] }, (draft) => {
    if (draft.state(ref).life === "none") draft.append(ref, openEpoch(place.agent, process));
  });
  const lease = leaseOf(hold, place);
  let isEnding = false;
  return {
    id,
    ...lease,
    mayRun: () => !isEnding && lease.mayRun(),
    async end() {
      isEnding = true;
      await runCommand(place, { write: [ref] }, (draft) =>
        draft.append(ref, endEpoch(draft.state(ref), "closed", id)),
      );
      await hold.release();
    },
  };
}

/** Ends an epoch that nobody holds any more. Answers whether it is over. */
export async function endIfDead(place: Place, id: string, by: string): Promise<boolean> {
  if (await place.store.epochHeld(id)) return false;
  const ref = epochStream(id);
  await runCommand(place, { write: [ref] }, (draft) =>
    draft.append(ref, endEpoch(draft.state(ref), "died", by)),
  );
  return true;
}
