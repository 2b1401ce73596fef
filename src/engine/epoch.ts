/**
 * This process's epoch: opened before its first effect, ended when it closes or by others when it died.
 *
 * H1. The hold is taken before the epoch is opened, so an open epoch that nobody holds is dead.
 * H2. Nothing is started in the name of an epoch that was lost, although nobody may have ended it. Nothing is sent once the end has begun. With a lease, nothing is sent in its last third: a frozen process that wakes up finds that it may not run.
 *     It then begins another epoch; what it had begun in the old one is not its own any more.
 * H3. None begins in a tenant that was closed.
 * H4. A process that closes while something of its own still runs leaves its epoch: open, and held for as long as that runs,
 *     or until its lease lapses. Nobody else looks into what may still happen.
 */
import { endEpoch, type NodeFacts, openEpoch } from "../core/epoch.ts";
import { takePolicy } from "../core/policy-use.ts";
import { ownStanding } from "../core/tenant/state.ts";
import { type Clock, stopwatch } from "../kernel/clock.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { epochStream, policyStream } from "../kernel/stream.ts";
import type { EpochHold } from "../stores/store.ts";

import { runCommand } from "./run-command.ts";
import { type Epoch, freshId, type InForce, type Runtime } from "./runtime.ts";

type Place = Pick<Runtime, "store" | "tenant" | "clock" | "random" | "agent">;
/** What it says of its process. */
export type Process = {
  readonly process: string;
  readonly node?: Pick<NodeFacts, "kind" | "version">;
  /** Names of the workflows that are defined here by now. */
  readonly definitions?: () => readonly string[];
};

export const lapsed = (): HoldpointError =>
  new HoldpointError("epoch_ended", "This process has lost the lease on its epoch.");

export type OwnEpoch = Epoch & {
  /** Renews a lease; answers false when it was lost. */
  renew(): Promise<boolean>;
  /** Its lease was lost: for good, and whatever was started in its name is for others to take over. */
  isLost(): boolean;
  readonly leaseMs: number | null;
  end(): Promise<void>;
  /** Instead of ending it. What still runs is told; `rest` comes when nothing does any more, if it does. */
  leave(rest: Promise<unknown>): void;
};

type Lapse = { giveUp(): void };

/** The lease counts from before it was asked for: the answer may have taken long. */
function leaseOf(
  hold: EpochHold,
  clock: Clock,
  asked: () => number,
): Pick<OwnEpoch, "mayRun" | "leaseLeftMs" | "renew" | "confirm" | "isLost" | "lost" | "leaseMs"> & Lapse {
  const { leaseMs } = hold;
  const over = new AbortController();
  const { signal: lost } = over;
  const giveUp = () => over.abort();
  if (leaseMs === undefined)
    return {
      ...{ mayRun: () => true, renew: async () => true, confirm: async () => undefined },
      ...{ isLost: () => false, lost, giveUp, leaseMs: null, leaseLeftMs: () => null },
    };
  let age = asked;
  const renew = async () => {
    if (lost.aborted) return false;
    const askedAgain = stopwatch(clock);
    try {
      await hold.renew?.();
      age = askedAgain;
    } catch (error) {
      if (error instanceof HoldpointError && error.code === "epoch_ended") over.abort();
    }
    return !lost.aborted;
  };
  const mayRun = () => !lost.aborted && age() < (leaseMs * 2) / 3;
  const confirm = async () => {
    if (!mayRun() && !(await renew())) throw lapsed();
  };
  const leaseLeftMs = () => (lost.aborted ? 0 : Math.max(0, leaseMs - age()));
  return { mayRun, leaseLeftMs, renew, confirm, isLost: () => lost.aborted, lost, giveUp, leaseMs };
}

/** Says in the same commit which versions of policies it judges by. */
export async function beginEpoch(
  place: Place,
  { process, node = { kind: "program", version: null }, definitions }: Process,
  inForce: InForce = new Map(),
): Promise<OwnEpoch> {
  const id = freshId(place, "epo");
  const asked = stopwatch(place.clock);
  const hold = await place.store.holdEpoch(id);
  const ref = epochStream(id);
  const uses = [...inForce.values()];
  const known = definitions?.() ?? null;
  const streams = new Set(uses.map(({ version: { name } }) => name));
  const needs = { write: [ref, ...[...streams].map(policyStream)], read: [ownStanding(place)] };
  const isShut = await runCommand(place, needs, (draft) => {
    if (draft.state(ref).life !== "none") return false;
    if (draft.state(ownStanding(place)).status === "closed") return true;
    draft.append(ref, openEpoch({ agent: place.agent, process, ...node, definitions: known }));
    for (const { version } of uses) takePolicy(draft, version, { epoch: id, by: place.agent });
    return false;
  });
  if (isShut) {
    await hold.release();
    throw new HoldpointError("tenant_closed", `The tenant ${place.tenant} was closed: nothing starts in it.`);
  }
  for (const use of uses) use.epoch = id;
  const { giveUp, ...lease } = leaseOf(hold, place.clock, asked);
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
    leave(rest) {
      isEnding = true;
      hold.leave();
      giveUp();
      rest.then(() => hold.release()).catch(() => undefined);
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
