import { HoldpointError } from "../../core/errors.ts";
import type { MemoryDatabase, MemoryHold } from "./database.ts";

export type EpochHold = {
  release(): Promise<void>;
  readonly leaseMs?: number;
  /** With leases: holds on for another `leaseMs`. A hold that lapsed stays lost, since others may have seen it free. */
  renew(): Promise<void>;
};

export function holdEpoch(database: MemoryDatabase, holder: object, id: string): EpochHold {
  if (epochHeld(database, id)) throw new HoldpointError("broken_rule", `The epoch ${id} is held already.`);
  const hold: MemoryHold = { holder, until: leaseEnd(database) };
  database.holds.set(id, hold);
  return {
    ...(database.leaseMs === undefined ? {} : { leaseMs: database.leaseMs }),
    async release() {
      if (database.holds.get(id) === hold) database.holds.delete(id);
    },
    async renew() {
      if (database.holds.get(id) !== hold || !epochHeld(database, id)) {
        throw new HoldpointError("epoch_ended", `The hold on epoch ${id} lapsed.`);
      }
      hold.until = leaseEnd(database);
    },
  };
}

export function epochHeld({ holds, clock }: MemoryDatabase, id: string): boolean {
  const hold = holds.get(id);
  return hold !== undefined && clock.now() < hold.until;
}

export function dropHolds({ holds }: MemoryDatabase, holder: object): void {
  for (const [id, hold] of holds) if (hold.holder === holder) holds.delete(id);
}

function leaseEnd({ clock, leaseMs }: MemoryDatabase): number {
  return leaseMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + leaseMs;
}
